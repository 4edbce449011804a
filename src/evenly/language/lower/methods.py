"""The fields, properties and methods of layouts and schedules, as a kernel or an engine uses them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evenly.errors import is_pythons

from .. import ir, reads
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..func import parsed
from ..members import accessor_takes, accessors, for_host, growing, is_default
from ..types import POS, WEAK_INT
from . import functions, hints, items, tasks
from .arithmetic import cast, constant
from .context import Context
from .values import (
    Forbidden,
    Iterable,
    LayoutValue,
    Method,
    ScheduleValue,
    Value,
    counted,
    describe,
)

OF_POSITIONS = ("begin", "end", "valid")  # methods of the contract that take the position of a tile


def has_default(layout: LayoutValue, name: str) -> bool:
    """Whether the layout does not override an optional method of the contract."""
    return is_default(name, reads.member_of(layout.cls, name))


# ---- attributes --------------------------------------------------------------------------------
def layout_attribute(cx: Context, layout: LayoutValue, name: str, at: Location) -> Value:
    if tasks.are_tasks(layout) and not (cx.positions or cx.schedule):
        return tasks.attribute(cx, layout, name, at)
    grows = growing(layout.cls)
    if grows and not cx.positions and (name in grows.hidden or name.startswith("_")):
        refuse(
            at,
            f"{layout.cls.__name__}.{name} is for the frontier itself",
            "kernels have push, len(F), tiles, atoms and what its base has",
        )
    if grows and name in grows.waiting and not cx.positions:
        refuse_meanwhile(cx, f"{layout.name}.{name}", at)
        return property_of(cx, layout, name, at)
    if getattr(layout.cls, "appends", False) and not (cx.positions or cx.schedule):
        if name == "append":
            return Method(layout, name)
        refuse(
            at,
            f"{layout.name}.{name} in a kernel: {layout.name} is an output",
            f"kernels have {layout.name}.append; another kernel may take {layout.name}.columns",
        )
    emitted = bool(getattr(layout.cls, "emits", "")) and cx.emits and not cx.positions
    if emitted and name != "emit":
        refuse(
            at,
            f"{layout.name}.{name} in a kernel that emits to {layout.name}",
            "kernels have emit; another kernel may read the lists",
        )
    if name in layout.fields:
        return layout.fields[name]
    if name in for_host(layout.cls) or is_pythons(name):
        refuse(
            at,
            f"{layout.cls.__name__}.{name} is for the host, not for kernels",
            f"kernels have {_public(layout.cls)}",
        )
    member = reads.member_of(layout.cls, name)
    if isinstance(member, property) and member.fget is not None:
        return run(cx, layout, member.fget, (), at)
    if inspect.isfunction(member) or name in ("tiles", "atoms", "items"):
        return Method(layout, name)
    base = _delegate(layout)
    if base is not None:
        found = layout_attribute(cx, base, name, at)
        return Method(layout, name) if isinstance(found, Method) else found
    near = hints.nearest_of_layout(name, _names(layout.cls))
    refuse(
        at, f"{layout.cls.__name__} has no {name}", near or f"kernels have {_public(layout.cls)}"
    )


def _names(cls: type[Any]) -> list[str]:
    """Return the names that kernels may use of a layout."""
    return ["tiles", "atoms", "num_tiles", "num_atoms", *cls.__fields__, *accessors(cls)]  # type: ignore[arg-type]


def _public(cls: type) -> str:
    return ", ".join(dict.fromkeys(_names(cls)))


def schedule_attribute(cx: Context, base: ScheduleValue, schedule: Any, node: s.Attribute) -> Value:
    member = reads.member_of(type(schedule), node.name)
    if inspect.isfunction(member):
        return Method(base, node.name)
    v = reads.value_of(schedule, node.name)
    if isinstance(v, bool | int | float):
        return constant(v)
    refuse(
        node.at,
        f"{type(schedule).__name__} has no parameter {node.name}",
        "parameters of a schedule are numbers",
    )


# ---- calls ---------------------------------------------------------------------------------------
def call_method(cx: Context, method: Method, arguments: tuple[Value, ...], at: Location) -> Value:
    owner = method.owner
    if isinstance(owner, ScheduleValue):
        return run(cx, owner, reads.member_of(type(owner.schedule), method.name), arguments, at)
    assert isinstance(owner, LayoutValue)  # those of groups are lowered in `exchanges`
    if method.name == "items":
        return items.over_items(cx, owner, arguments, at)
    if method.name == "tiles":
        return items.over_tiles(cx, owner, arguments, at)
    if method.name == "atoms":
        return _atoms(cx, owner, arguments, at)
    if tasks.are_tasks(owner) and not cx.positions:
        return tasks.field(cx, owner, method.name, arguments, at)
    grows = growing(owner.cls)
    if grows and method.name == grows.push and not cx.positions:
        if cx.pure:
            refuse(at, f"a push {cx.pure}", "push in a statement of the kernel itself")
        for v in arguments:
            if not isinstance(v, ir.Expr) or not v.type.is_integer:
                refuse(at, f"a push of {describe(v)}", "it takes a tile of the base: an integer")
        return changing(cx, owner, grows.push, arguments, at)
    if method.name in OF_POSITIONS and not cx.positions:
        _check_position(cx, owner, method.name, arguments, at)
    return accessor(cx, owner, method.name, arguments, at)


def _check_position(
    cx: Context, layout: LayoutValue, name: str, arguments: tuple[Value, ...], at: Location
) -> None:
    """Refuse the loop's tile where a position is needed, if the layout numbers its tiles otherwise."""
    own = cx.tiles is not None and layout is cx.tiles.layout and arguments
    if own and _same(arguments[0], cx.tiles.id) and not has_default(layout, "tile_id"):  # type: ignore[union-attr]
        refuse(
            at,
            f"{name}() of the loop's tile: {layout.cls.__name__} renames its tiles",
            "walk its atoms: for k in A.atoms(tile)",
        )


def _atoms(
    cx: Context, layout: LayoutValue, arguments: tuple[Value, ...], at: Location
) -> Iterable:
    given: Value = arguments[0] if len(arguments) == 1 else arguments
    items.check_tile(cx, layout, given, at)
    if cx.tiles is not None and layout is cx.tiles.layout and _same(given, cx.tiles.id):
        return Iterable("atoms", layout, (cx.tiles.position,), at)
    if not isinstance(given, ir.Expr) or not given.type.is_integer:
        refuse(
            at,
            f"atoms() of {describe(given)}",
            "give it the tile of the loop: for tile in A.tiles(): ... A.atoms(tile)",
        )
    if not has_default(layout, "tile_id"):
        refuse(
            at,
            f"atoms() of a tile that is not the loop's: {layout.cls.__name__} renames its tiles",
            "walk the base layout's atoms",
        )
    held = (
        given
        if isinstance(given, ir.Const | ir.Var) and given.type is POS
        else cx.assign("tile", cast(given, POS))
    )
    return Iterable("atoms", layout, (held,), at)


def _same(a: Value, b: Value) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
    return a is b


def accessor(
    cx: Context, layout: LayoutValue, name: str, arguments: tuple[Value, ...], at: Location
) -> Value:
    """Lower `A.column(k)`. Accessors that take the tile get the enclosing one."""
    function = reads.member_of(layout.cls, name)
    if not inspect.isfunction(function):
        return _delegated(cx, layout, name, arguments, at)
    takes_tile, _ = accessor_takes(function)
    wanted = len(inspect.signature(function).parameters) - 1
    if takes_tile and len(arguments) == wanted - 1:
        arguments = (_enclosing_tile(cx, layout, name, at), *arguments)
    if len(arguments) != wanted:
        refuse(
            at,
            f"{layout.cls.__name__}.{name} takes {counted(wanted, 'argument')}, got {len(arguments)}",
        )
    result = run(cx, layout, function, arguments, at)
    bound = getattr(layout.cls, "id_bounds", {}).get(name)
    return result if bound is None else cx.below(result, layout, bound)


def changing(
    cx: Context, layout: LayoutValue, name: str, arguments: tuple[Value, ...], at: Location
) -> Value:
    """Inline a method of a layout that changes the layout's own arrays."""
    if cx.emits:
        refuse(
            at,
            f"the {'tasks' if tasks.are_tasks(layout) else 'frontier'} {layout.name} in a kernel that emits",
            "emit in a kernel of its own, over a layout that does not grow",
        )
    outer, cx.changing = cx.changing, layout.path
    try:
        return accessor(cx, layout, name, arguments, at)
    finally:
        cx.changing = outer


def property_of(cx: Context, layout: LayoutValue, name: str, at: Location) -> Value:
    """Return a property of a layout, as an integer that is weak, as lengths are."""
    v = run(cx, layout, reads.member_of(layout.cls, name).fget, (), at)
    assert isinstance(v, ir.Expr)
    return cast(v, WEAK_INT)


def refuse_meanwhile(cx: Context, what: str, at: Location) -> None:
    """Refuse to ask what waits in a frontier while tiles are walked."""
    if cx.tiles is not None:
        refuse(
            at,
            f"{what} in a loop over tiles: others push meanwhile",
            "ask between the loops over tiles",
        )


def _enclosing_tile(cx: Context, layout: LayoutValue, name: str, at: Location) -> Value:
    if cx.tiles is None or not _covers(cx.tiles.layout, layout):
        refuse(
            at,
            f"{layout.cls.__name__}.{name} needs the tile, and this is not in a loop over {layout.name}.tiles()",
            f"pass it: {layout.name}.{name}(tile, k)",
        )
    if any(_covers(foreign, layout) for foreign in cx.foreign):
        refuse(
            at,
            f"{layout.cls.__name__}.{name} needs the tile, and this loop walks the atoms of another",
            f"pass it: {layout.name}.{name}(tile, k)",
        )
    return cx.tiles.id


def _covers(outer: LayoutValue, layout: LayoutValue) -> bool:
    """Whether the loop over `outer` runs over the tiles of `layout`: it is that layout, or delegates to it."""
    if outer is layout:
        return True
    base = _delegate(outer)
    return base is not None and _covers(base, layout)


def _delegate(layout: LayoutValue) -> LayoutValue | None:
    """Return the layout that has the members which this one lacks."""
    field = getattr(layout.cls, "delegate", None)
    if field is None:
        return None
    base = layout.fields[field]
    assert isinstance(base, LayoutValue)
    return base


def _delegated(
    cx: Context, layout: LayoutValue, name: str, arguments: tuple[Value, ...], at: Location
) -> Value:
    base = _delegate(layout)
    assert base is not None
    owner = getattr(layout.cls, "delegate_tile", None)
    function = reads.member_of(base.cls, name)
    if owner is not None and inspect.isfunction(function) and accessor_takes(function)[0]:
        wanted = len(inspect.signature(function).parameters) - 1
        if len(arguments) == wanted - 1:
            arguments = (
                run(cx, layout, reads.member_of(layout.cls, owner), arguments[-1:], at),
                *arguments,
            )
    return accessor(cx, base, name, arguments, at)


def run(
    cx: Context,
    owner: LayoutValue | ScheduleValue,
    function: Any,
    arguments: tuple[Value, ...],
    at: Location,
) -> Value:
    """Inline a method. Inside it, integer arithmetic is as wide as positions."""
    source, tree = parsed(function)
    with positions(cx, isinstance(owner, ScheduleValue)):
        return functions.inline(cx, source, tree, (owner, *arguments), {}, at)


@contextmanager
def positions(cx: Context, schedule: bool) -> Iterator[None]:
    saved = cx.positions, cx.schedule
    cx.positions, cx.schedule = True, schedule or cx.schedule
    try:
        yield
    finally:
        cx.positions, cx.schedule = saved


# ---- what engines and loops need of a layout -------------------------------------------------------
def position(cx: Context, layout: LayoutValue, name: str, arguments: tuple[Value, ...]) -> ir.Expr:
    """Return begin, end, num_tiles or num_atoms, as a position."""
    if (of_task := tasks.position(cx, layout, name)) is not None:
        return cast(of_task, POS)
    member = reads.member_of(layout.cls, name)
    if name in layout.fields:
        v: Value = layout.fields[name]
    else:
        function = member.fget if isinstance(member, property) else member
        v = run(cx, layout, function, arguments, parsed(function)[1].at)
    if not isinstance(v, ir.Expr) or not v.type.is_integer:
        where = parsed(member.fget if isinstance(member, property) else member)[1].at
        refuse(
            where,
            f"{layout.cls.__name__}.{name} gives {describe(v)}",
            "it gives a position: an integer",
        )
    return cast(v, POS)


def code(cx: Context, layout: LayoutValue, name: str, takes_tile: bool) -> ir.Inline:
    """Return begin, end, num_tiles or num_atoms as code that an engine can place where it needs it."""
    params = (cx.variable("t", POS),) if takes_tile else ()
    outer_tiles, outer_walk, outer_loop = cx.tiles, cx.walk, cx.loop
    cx.tiles = cx.walk = cx.loop = None
    with cx.writing() as body:
        result = position(cx, layout, name, params)
    cx.tiles, cx.walk, cx.loop = outer_tiles, outer_walk, outer_loop
    return ir.Inline(params, tuple(body), (result,))


def tile_id(cx: Context, layout: LayoutValue, tile: ir.Var) -> Value:
    if has_default(layout, "tile_id"):
        return _bounded(cx, tile, layout, "tile_id")
    own = _held(cx, "tile", _own(cx, layout, "tile_id", (tile,)))
    return _bounded(cx, own, layout, "tile_id")


def atom_id(cx: Context, layout: LayoutValue, tile: Value, atom: ir.Var) -> Value:
    if has_default(layout, "atom_id"):
        return _bounded(cx, atom, layout, "atom_id")
    own = _held(cx, "atom", _own(cx, layout, "atom_id", (tile, atom)))
    return _bounded(cx, own, layout, "atom_id")


def _bounded(cx: Context, given: Value, layout: LayoutValue, name: str) -> Value:
    """Note below which number the ids of a layout's tiles or atoms stay, if the layout says so."""
    if has_default(layout, name):
        tiles = "num_items" if items.are_items(layout) else "max_tiles"
        return cx.below(given, layout, tiles if name == "tile_id" else "max_atoms")
    bound = getattr(layout.cls, "id_bounds", {}).get(name)
    base = None if bound is None else layout.fields.get(bound)
    if isinstance(base, LayoutValue):
        return _bounded(cx, given, base, name)
    return given if bound is None else cx.below(given, layout, bound)


def valid(cx: Context, layout: LayoutValue, tile: Value, atom: ir.Var) -> ir.Expr | None:
    """Return the mask's condition for an atom, or None if the layout has no mask."""
    _note_masks(layout)
    if not layout.masked:
        return None
    v = _own(cx, layout, "valid", (tile, atom))
    if not isinstance(v, ir.Expr):
        refuse(
            parsed(layout.cls.valid)[1].at,
            f"{layout.cls.__name__}.valid gives {describe(v)}",
            "it gives a truth value",
        )
    return v


def _note_masks(layout: LayoutValue) -> None:
    """Record the members that `masks` reads of the layout."""
    reads.member_of(layout.cls, "valid")
    base = getattr(layout.cls, "valid_of", None)
    if base is not None:
        held = layout.fields[base]
        assert isinstance(held, LayoutValue)
        _note_masks(held)


def _own(cx: Context, layout: LayoutValue, name: str, arguments: tuple[Value, ...]) -> Value:
    """Return the result of one of the contract's methods."""
    function = reads.member_of(layout.cls, name)
    return run(cx, layout, function, arguments, parsed(function)[1].at)


def _held(cx: Context, name: str, v: Value) -> Value:
    """Put ids into variables of their own, so that a loop's tile can be told from any other number."""
    if isinstance(v, tuple):
        return tuple(_held(cx, name, x) for x in v)
    if isinstance(v, Forbidden) or not isinstance(v, ir.Expr):
        return v
    var = cx.assign(name, cast(v, POS) if v.type.is_integer and not v.type.weak else v)
    cx.owned.discard(id(var))
    return var
