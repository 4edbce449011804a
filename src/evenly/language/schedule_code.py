"""A schedule's methods as typed code for one layout, which engines place around a phase."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from . import ir, reads, walk
from . import syntax as s
from .diagnostics import Location, refuse
from .func import Func, parsed
from .items import Items, TilesOfItem, WorkOfItems
from .lower import call_schedule, exchanges, functions, lower_layout, methods
from .lower.arithmetic import cast
from .lower.context import Context, leaves, rebuild
from .lower.loops import bounds
from .lower.tiles import layout_code
from .lower.values import Iterable, LayoutValue, Static, Value, describe
from .specs import LayoutSpec
from .types import POS


@dataclass(frozen=True, slots=True)
class ScheduleCode:
    """`setup` computes the variables in `state`; `tiles` and `atoms` read them.

    tiles, atoms: code whose three results are a range's start, stop and step, or code without results
    that has an `ir.Yield` for each range that it gives. `atoms` has the tile as its parameter.
    """

    setup: ir.Block
    state: tuple[ir.Var, ...]
    tiles: ir.Inline
    atoms: ir.Inline

    @property
    def groups(self) -> set[int]:
        """Return the sizes of the groups that the code uses; 1 for threads."""
        asked = {e.size for e in self.expressions() if isinstance(e, ir.Processor)}
        return asked | {s.size for s in self.exchanges}

    @property
    def exchanges(self) -> tuple[ir.Exchange, ...]:
        """What the members of groups tell each other in `setup`, in order."""
        return tuple(s for s in self.setup if isinstance(s, ir.Exchange))

    @property
    def exchanging(self) -> tuple[set[int], int]:
        """Return the sizes of groups that exchange numbers, and how many arrays of these they gather."""
        return {s.size for s in self.exchanges}, len(self.gathered)

    @property
    def gathered(self) -> tuple[ir.Var, ...]:
        """The results of exchanges that stand for the numbers of all members."""
        return tuple(s.result for s in self.exchanges if s.op == "gather")

    def expressions(self) -> list[ir.Expr]:
        inlines = (*walk.inline_expressions(self.tiles), *walk.inline_expressions(self.atoms))
        return [*walk.expressions(self.setup), *inlines]


def schedule_code(
    schedule: Any, layout: LayoutSpec, path: ir.Path, items: bool = False
) -> ScheduleCode:
    """Lower `schedule` for a layout, or for its items. Raises LanguageError that points into the schedule's source."""
    cx, value = lower_layout(layout, path)
    if items:
        value = LayoutValue(Items, path, {"base": value}, False)
    return _code(cx, schedule, value)


def inner_code(
    schedule: Any, layout: LayoutSpec, path: ir.Path, item: tuple[ir.Var, ir.Var, ir.Var]
) -> ScheduleCode:
    """Lower the inner of two nested schedules, for the tiles of an item. item: the fields of `TilesOfItem`."""
    cx, base = lower_layout(layout, path)
    cx.namer.used |= {v.name for v in item}
    first, last, before = item
    fields: dict[str, Value] = {"base": base, "first": first, "last": last, "before": before}
    return _code(cx, schedule, LayoutValue(TilesOfItem, path, fields, False))


def work_code(layout: LayoutSpec, path: ir.Path) -> ir.LayoutCode:
    """Lower the items of a layout as tiles whose atoms are their work."""
    cx, base = lower_layout(layout, path)
    return layout_code(cx, LayoutValue(WorkOfItems, path, {"base": base}, False))


def function_code(f: Func, layout: LayoutSpec, path: ir.Path, item: ir.Var) -> ir.Inline:
    """Lower `f(layout, item)`, whose result is an integer, for an item of a layout."""
    cx, value = lower_layout(layout, path)
    with cx.writing() as body, methods.positions(cx, True):
        found = functions.inline(cx, f.source, f.tree, (value, item), {}, f.tree.at)
    if not isinstance(found, ir.Expr) or not found.type.is_integer:
        refuse(f.tree.at, f"{f.tree.name} gives {describe(found)}", "it gives a number of threads")
    return ir.Inline((), tuple(body), (cast(found, POS),))


def _code(cx: Context, schedule: Any, value: LayoutValue) -> ScheduleCode:
    with cx.writing() as setup:
        state, variables = _state(cx, schedule, value)
    tiles = _range(cx, schedule, "tiles", (state,), ())
    tile = cx.variable("tile", POS)
    cx.owned.discard(id(tile))
    atoms = _range(cx, schedule, "atoms", (state, tile), (tile,))
    return ScheduleCode(tuple(setup), variables, tiles, atoms)


def whole_tile(layout: ir.LayoutCode, step: ir.Expr) -> ir.Inline:
    """Return the range of all atoms of a tile, in steps, in the form of `ScheduleCode.atoms`."""
    tile = ir.Var("tile", POS)
    before, (begin,) = walk.substitute(layout.begin, (tile,))
    after, (end,) = walk.substitute(layout.end, (tile,))
    return ir.Inline((tile,), (*before, *after), (begin, end, step))


def _state(cx: Context, schedule: Any, layout: LayoutValue) -> tuple[Value, tuple[ir.Var, ...]]:
    """Return the state, and the variables that hold its numbers."""
    if not inspect.isfunction(reads.member_of(type(schedule), "setup")):
        return layout, ()
    at = parsed(type(schedule).setup)[1].at
    cx.setup = True
    state = call_schedule(cx, schedule, "setup", (layout,))
    cx.setup = False
    exchanges.check_place(tuple(cx.block), at)
    with cx.standing(at):
        held = [
            x
            if isinstance(x, ir.Const | ir.Param)
            else cx.assign("state", cast(x, POS) if x.type.is_integer else x)
            for x in leaves(state)
        ]
    return rebuild(state, iter(held)), tuple(x for x in held if isinstance(x, ir.Var))


def _range(
    cx: Context, schedule: Any, name: str, arguments: tuple[Value, ...], params: tuple[ir.Var, ...]
) -> ir.Inline:
    tree = parsed(getattr(type(schedule), name))[1]
    if s.yields(tree.body):
        return _generator(cx, schedule, name, arguments, params)
    with cx.writing() as body:
        made = call_schedule(cx, schedule, name, arguments)
        at = tree.at
        if not (isinstance(made, Iterable) and made.kind == "range"):
            refuse(
                at,
                f"{type(schedule).__name__}.{name} gives {describe(made)}",
                "it returns range(start, stop, step)",
            )
        cx.positions = True
        with cx.standing(at):
            results = tuple(cast(x, POS) for x in bounds(cx, made))
        cx.positions = False
    _check_shared(schedule, name, results, at)
    return ir.Inline(params, tuple(body), results)


def _generator(
    cx: Context, schedule: Any, name: str, arguments: tuple[Value, ...], params: tuple[ir.Var, ...]
) -> ir.Inline:
    """Lower a method that yields. Its code has no results, and one `ir.Yield` (none if it never yields)."""
    method = f"{type(schedule).__name__}.{name}"
    at = parsed(getattr(type(schedule), name))[1].at
    if schedule.owner == "share" and name == "atoms":
        hint = "where tiles are shared, a thread's atoms of a tile are one range: return it"
        refuse(at, f"{method} yields its atoms", hint)
    cx.generator = True
    with cx.writing() as body:
        made = call_schedule(cx, schedule, name, arguments)
    cx.generator = False
    if made != Static(None):
        refuse(at, f"{method} yields, and returns {describe(made)}", "leave loops with break")
    given = [x for x in walk.statements(tuple(body)) if isinstance(x, ir.Yield)]
    for x in given:
        assert x.at is not None
        _check_shared(schedule, name, x.over, x.at)
    if len(given) > 1:
        hint = "what happens to a tile is written there once: yield in one place, in a loop"
        refuse(given[1].at or at, f"a second yield in {method}", hint)
    return ir.Inline(params, tuple(body), ())


def _check_shared(schedule: Any, name: str, over: tuple[ir.Expr, ...], at: Location) -> None:
    """Refuse a range with a step other than 1 where tiles are shared."""
    step = over[-1] if len(over) == 3 else ir.Const(1, POS)
    if schedule.owner == "share" and not (isinstance(step, ir.Const) and step.value == 1):
        refuse(
            at,
            f"{type(schedule).__name__}.{name} gives a range with a step",
            "where tiles are shared, a thread's tiles and atoms ascend one by one",
        )
