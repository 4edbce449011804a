"""Appended elements: `out.append(...)`. A counter gives each its place; what has no room is counted, and not stored."""

from __future__ import annotations

from .. import ir
from .. import syntax as s
from ..types import POS
from . import columns
from .arithmetic import cast
from .context import Context
from .values import LayoutValue, Static, Value


def is_output(layout: LayoutValue) -> bool:
    return bool(getattr(layout.cls, "appends", False))


def append(cx: Context, out: LayoutValue, node: s.Call) -> Value:
    """Lower `out.append(value, ...)`."""
    call = f"{out.name}.append"
    columns.check_call(cx, call, node, "append in a statement of the kernel itself")
    values = columns.row(cx, call, out, node, "ev.output(types, ...)")
    counter, capacity = out.fields["appended"], out.fields["capacity"]
    assert isinstance(counter, ir.Array)
    assert isinstance(capacity, ir.Expr)
    one, place = ir.Const(1, counter.dtype), cx.variable("place", counter.dtype)
    cx.emit(ir.Atomic("add", counter, (ir.Const(0, POS),), (one,), place, node.at))
    with cx.writing() as block:
        columns.store(cx, values, cx.assign("at", cast(place, POS)), node)
    there = ir.Compare("<", place, cast(capacity, counter.dtype))
    cx.emit(ir.If(there, tuple(block), (), node.at))
    return Static(None)
