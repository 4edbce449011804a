"""Lower subscripts: elements of arrays, of tuples and of what a kernel keeps for itself."""

from __future__ import annotations

from .. import ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import INT32, POS, WEAK_INT, read_as
from . import exchanges, expressions, local_arrays, scratch
from .arithmetic import cast
from .context import Context
from .values import Gathered, LocalArray, Value, describe, spoken


def subscript(cx: Context, node: s.Subscript) -> Value:
    base = expressions.value(cx, node.base)
    if isinstance(base, tuple):
        return _tuple_item(cx, base, node)
    if isinstance(base, Gathered):
        return exchanges.element(cx, base, node)
    if isinstance(base, LocalArray):
        return local_arrays.read(cx, base, node)
    if not isinstance(base, ir.Array):
        refuse(node.at, f"{describe(base)} cannot be indexed", "arrays and tuples can")
    indices = array_indices(cx, base, node)
    element = read(base, indices, _is_the_atom(cx, indices), node.at)
    # An id is weak, regardless of its bits in the layout.
    if not base.ids:
        return element
    return ir.Cast(element, POS if base.dtype == INT32 else WEAK_INT)


def read(array: ir.Array, indices: tuple[ir.Expr, ...], once: bool, at: Location | None) -> ir.Expr:
    """Read an element as a value: an element of 16 bits becomes a float32."""
    return cast(ir.Element(array, indices, array.dtype, once, at), read_as(array.dtype))


def _is_the_atom(cx: Context, indices: tuple[ir.Expr, ...]) -> bool:
    return cx.walk is not None and len(indices) == 1 and indices[0] is cx.walk.atom


def _tuple_item(cx: Context, items: tuple[Value, ...], node: s.Subscript) -> Value:
    index = expressions.value(cx, node.indices[0]) if len(node.indices) == 1 else None
    if not isinstance(index, ir.Const) or not index.type.is_integer:
        refuse(node.at, "a tuple is indexed by one literal integer")
    if not 0 <= index.value < len(items):
        refuse(node.at, f"index {index.value} of a tuple of {len(items)}")
    return items[int(index.value)]


def array_indices(cx: Context, array: ir.Array, node: s.Subscript) -> tuple[ir.Expr, ...]:
    """Return the indices of a subscript, after checks: one for each axis, integers, no negative literals."""
    values = expressions.sequence(cx, node.indices)
    flat = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
    if len(flat) != array.ndim:
        refuse(
            node.at,
            f"{spoken(array)} has {array.ndim} {'axis' if array.ndim == 1 else 'axes'}, "
            f"got {len(flat)} {'index' if len(flat) == 1 else 'indices'}",
        )
    out: list[ir.Expr] = []
    for v, at in zip(
        flat, [n.at for n in node.indices] * (len(flat) if len(values) == 1 else 1), strict=False
    ):
        i = expressions.as_number(v, at)
        if not i.type.is_integer:
            refuse(at, f"{i.type.spoken} as an index", "indices are integers: int(x) truncates")
        if isinstance(i, ir.Const) and i.value < 0:
            refuse(
                at,
                "a negative index",
                f"count from the start: len({spoken(array)}) - {-int(i.value)}",
            )
        cx.require(array, len(out), i)
        out.append(scratch.within(cx, array, i, at))
    return tuple(out)
