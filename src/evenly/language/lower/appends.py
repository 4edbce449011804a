"""Appended elements: `out.append(...)`. A counter gives each its place; what has no room is counted, and not stored."""

from __future__ import annotations

from .. import ir
from .. import syntax as s
from ..diagnostics import refuse
from ..types import POS
from . import expressions, statements
from .arithmetic import cast
from .context import Context
from .values import LayoutValue, Static, Value, counted


def is_output(layout: LayoutValue) -> bool:
    return bool(getattr(layout.cls, "appends", False))


def append(cx: Context, out: LayoutValue, node: s.Call) -> Value:
    """Lower `out.append(value, ...)`."""
    call = f"{out.name}.append"
    if node.keywords:
        name, value_node = node.keywords[0]
        refuse(value_node.at, f"{call} takes no argument {name}", "values by place, one a column")
    if cx.pure:
        refuse(node.at, f"{call} {cx.pure}", "append in a statement of the kernel itself")
    counter, *columns = (v for v in out.fields.values() if isinstance(v, ir.Array))
    values = expressions.numbers(cx, node.arguments, large=True)
    if len(values) != len(columns):
        refuse(
            node.at,
            f"{call} takes {counted(len(columns), 'value')}, got {len(values)}",
            "one for each type of ev.output(types, ...)",
        )
    one, place = ir.Const(1, counter.dtype), cx.variable("place", counter.dtype)
    cx.emit(ir.Atomic("add", counter, (ir.Const(0, POS),), (one,), place, node.at))
    capacity = out.fields["capacity"]
    assert isinstance(capacity, ir.Expr)
    with cx.writing() as block:
        at = cx.assign("at", cast(place, POS))
        for column, value in zip(columns, values, strict=True):
            stored = statements.convert(column, value, node.at)
            cx.emit(ir.Store(column, (at,), stored, node.at, alone=True))
    there = ir.Compare("<", place, cast(capacity, counter.dtype))
    cx.emit(ir.If(there, tuple(block), (), node.at))
    return Static(None)
