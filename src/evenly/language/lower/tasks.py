"""Tasks: `for t in T.tiles()` runs those that are there and those that it makes, `T.push(...)` makes one.

A loop over tasks is a while around a loop over the tiles of one list (layouts/tasks.py): the rounds of a static task
list. A schedule that hands out tasks while they are made runs all of them in the first round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from .. import ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import POS
from . import columns, expressions, methods, rounds, statements, subscripts
from .arithmetic import cast
from .context import Context
from .values import LayoutValue, Method, Static, Task, Value, counted, describe


def are_tasks(layout: object) -> TypeGuard[LayoutValue]:
    """Whether this is a set of tasks."""
    return isinstance(layout, LayoutValue) and bool(getattr(layout.cls, "tasks", False))


def attribute(cx: Context, layout: LayoutValue, name: str, at: Location) -> Value:
    """Return what kernels may use of a task set."""
    if name in (*layout.cls.names, "tiles", "push") or (name == "atoms" and layout.cls.ranged):
        return Method(layout, name)
    what = [*layout.cls.names, "push", "tiles", *(("atoms",) if layout.cls.ranged else ())]
    if name == "atoms":
        hint = "ev.tasks(..., atoms=(begin, end)) names the fields that are a task's range of atoms"
        refuse(at, f"the atoms of {layout.name}, whose tasks have none", hint)
    refuse(
        at,
        f"{layout.name}.{name} in a kernel: {layout.name} is a set of tasks",
        f"kernels have {', '.join(what)}",
    )


def field(
    cx: Context, layout: LayoutValue, name: str, given: tuple[Value, ...], at: Location
) -> Value:
    """Lower `T.name(t)`, a field of the loop's task."""
    if len(given) != 1:
        refuse(at, f"{layout.name}.{name} takes 1 argument, got {len(given)}", "the loop's task")
    task = given[0]
    if not isinstance(task, Task) or task.of is not layout:
        hint = f"for t in {layout.name}.tiles(): ... {layout.name}.{name}(t)"
        refuse(at, f"{layout.name}.{name} of {describe(task)}", hint)
    return task.fields[name]


def begin(cx: Context, layout: LayoutValue, tile: ir.Var, at: Location) -> tuple[Task, ir.TaskCode]:
    """At the beginning of the loop's body, load the fields of the task."""
    place = methods.accessor(cx, layout, "_held", (tile,), at)
    assert isinstance(place, ir.Expr)
    where = cast(place, POS)
    loads = []
    for name in _by_column(layout):
        value = subscripts.read(_column(layout, name), (where,), False, at)
        var = cx.variable(name, value.type)
        cx.owned.discard(id(var))  # it never changes
        loads.append(ir.Assign(var, value, at))
    cx.block.extend(loads)
    fields = dict(zip(_by_column(layout), (load.var for load in loads), strict=True))
    types = tuple(_column(layout, name).dtype for name in fields)
    return Task(layout, fields), ir.TaskCode(tuple(loads), types, bool(layout.cls.ranged))


def position(cx: Context, layout: LayoutValue, name: str) -> ir.Expr | None:
    """Return where the atoms of the loop's task begin or end; None for a layout that is not the loop's task set."""
    if not (are_tasks(layout) and cx.tiles and isinstance(cx.tiles.id, Task)):
        return None
    if cx.tiles.layout is not layout or name not in ("begin", "end") or not layout.cls.ranged:
        return None
    return cx.tiles.id.fields[layout.cls.ranged[name == "end"]]


def _by_column(layout: LayoutValue) -> list[str]:
    """Return the names of the fields in the order of the columns."""
    names: tuple[str, ...] = layout.cls.names
    return sorted(names, key=lambda n: int(_column_name(layout, n).rpartition("_")[2]))


def _column_name(layout: LayoutValue, name: str) -> str:
    return str(layout.cls.placed[layout.cls.names.index(name)])


def _column(layout: LayoutValue, name: str) -> ir.Array:
    found = layout.fields[_column_name(layout, name)]
    assert isinstance(found, ir.Array)
    return found


def push(cx: Context, layout: LayoutValue, node: s.Call) -> Value:
    """Lower `T.push(value, ...)`: a place in the other list, and a store into each column there."""
    call = f"{layout.name}.push"
    columns.check_call(cx, call, node, "push in a statement of the kernel itself")
    if cx.tiles is None or cx.tiles.layout is not layout:
        refuse(
            node.at,
            f"{call} outside the loop over the tasks of {layout.name}",
            "the tasks that a call begins with are first=[...] of ev.tasks",
        )
    given = expressions.numbers(cx, node.arguments, large=True)
    names = layout.cls.names
    if len(given) != len(names):
        refuse(
            node.at,
            f"{call} takes {counted(len(names), 'value')}, got {len(given)}",
            f"one for each field: {call}({', '.join(names)})",
        )
    by_name = dict(zip(names, given, strict=True))
    row = {_column(layout, name): by_name[name] for name in _by_column(layout)}
    values = tuple(
        cx.assign(name, statements.converted(v, column.dtype, f"{layout.name}.{name}", node.at))
        for name, (column, v) in zip(_by_column(layout), row.items(), strict=True)
    )
    with cx.writing() as body:
        _append(cx, layout, tuple(row), values, node.at)
    cx.emit(ir.Push(values, tuple(body), node.at))
    return Static(None)


def _append(
    cx: Context,
    layout: LayoutValue,
    row: tuple[ir.Array, ...],
    values: tuple[ir.Var, ...],
    at: Location,
) -> None:
    counter = layout.fields["pushed"]
    capacity, spill = layout.fields["capacity"], layout.fields["spill"]
    assert isinstance(counter, ir.Array)
    assert isinstance(capacity, ir.Expr) and isinstance(spill, ir.Expr)
    t = counter.dtype
    place, one = cx.variable("place", t), ir.Const(1, t)
    cx.emit(ir.Atomic("add", counter, (ir.Const(0, POS),), (one,), place, at))
    with cx.writing() as block:
        spot = methods.accessor(cx, layout, "_spot", (place,), at)
        assert isinstance(spot, ir.Expr)
        where = cx.assign("at", cast(spot, POS))
        for column, value in zip(row, values, strict=True):
            cx.emit(ir.Store(column, (where,), value, at, alone=True))
    room = ir.Binary("+", cast(capacity, t), cast(spill, t), t)
    cx.emit(ir.If(ir.Compare("<", place, room), tuple(block), (), at))


def lower_loop(
    cx: Context, node: s.For, layout: LayoutValue, walk_list: Callable[[], None]
) -> None:
    """Lower a loop over tasks. walk_list: lowers the loop over the tiles of the list that is walked."""
    at = node.iterable.at
    methods.changing(cx, layout, "_begin", (), at)

    def another() -> ir.Expr:
        waiting = methods.property_of(cx, layout, "_waiting", at)
        assert isinstance(waiting, ir.Expr)
        return ir.Compare(">", waiting, ir.Const(0, waiting.type))

    def once() -> None:
        cx.top_level = True
        walk_list()
        cx.top_level = False
        methods.changing(cx, layout, "_swap", (), at)

    rounds.repeat(cx, s.assigned(node.body), another, once, node.at)


def check_total(total: ir.Accumulator, layout: LayoutValue, at: Location) -> None:
    """Refuse a sum of floats over tasks, whose order is not the same in two runs."""
    if total.op in ("sum", "product") and total.fields[0].type.is_inexact:
        refuse(
            at,
            f"a {total.op} of floats over the tasks of {layout.name}, whose order differs from run to run",
            "append a key and the value to an ev.output, sort by the key (ev.sort_by_key), and reduce that",
        )
