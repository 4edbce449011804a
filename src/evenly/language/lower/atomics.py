"""Atomics: `ev.atomic_add(array, index, value)` and others, on arguments and scratch arrays."""

from __future__ import annotations

from collections.abc import Callable

from .. import ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import read_as
from . import expressions, functions, statements, subscripts
from .context import Context
from .values import Forbidden, Value, describe, spoken


def lower(op: ir.AtomicOperation) -> Callable[[Context, s.Call], Value]:
    """Return what lowers the calls of `ev.atomic_{op}`."""
    operands = 2 if op == "cas" else 1

    def lowered(cx: Context, node: s.Call) -> Value:
        functions.no_keywords(node)
        if len(node.arguments) != 2 + operands:
            refuse(
                node.at,
                f"ev.atomic_{op} takes an array, an index and {'a value' if operands == 1 else 'two values'}",
            )
        if cx.pure:
            refuse(node.at, f"an atomic {cx.pure}", "use it in a statement of the kernel itself")
        array_node, index_node, *value_nodes = node.arguments
        target = s.Subscript(node.at, array_node, (index_node,))
        array = expressions.value(cx, array_node)
        own = isinstance(array, ir.Array) and (array.own or array.path[:-1] in ((), cx.changing))
        if not isinstance(array, ir.Array) or not own:
            refuse(
                array_node.at,
                f"an atomic on {describe(array)}",
                "it takes an array argument of the kernel",
            )
        _check_atomic(op, array, array_node.at)
        indices = tuple(_simple(cx, i) for i in subscripts.array_indices(cx, array, target))
        values = tuple(
            statements.convert(array, v, node.at)
            for v in expressions.numbers(cx, tuple(value_nodes), large=True)
        )
        if array.dtype.is_complex:
            cx.emit(ir.Atomic(op, array, indices, values, None, node.at))
            return Forbidden(
                f"the old value of an atomic on an array of {array.dtype}",
                "its two parts change one after the other: use atomics on arrays of reals",
            )
        result = cx.variable("old", array.dtype)
        cx.emit(ir.Atomic(op, array, indices, values, result, node.at))
        return result

    return lowered


def _check_atomic(op: str, array: ir.Array, at: Location) -> None:
    """Refuse an atomic that no target supports."""
    t = array.dtype
    if t.is_bool:
        refuse(at, "an atomic on an array of bool", "use int32 flags")
    if read_as(t) != t:
        refuse(at, f"an atomic on an array of {t}", "accumulate into an array of float32")
    if t.is_integer and t.bits < 32:
        hint = (
            f"atomics have 32 or 64 bits: use an array of {'uint32' if t.is_unsigned else 'int32'}"
        )
        refuse(at, f"an atomic on an array of {t}", hint)
    if op in ("and", "or", "xor") and not t.is_integer:
        hint = "it takes an array of int32, int64, uint32 or uint64"
        refuse(at, f"ev.atomic_{op} on {spoken(array)} of {t}", hint)
    if t.is_complex and op != "add":
        hint = "ev.atomic_add is the one that complex numbers have"
        refuse(at, f"ev.atomic_{op} on {spoken(array)} of {t}", hint)


def _simple(cx: Context, e: ir.Expr) -> ir.Expr:
    return e if isinstance(e, ir.Const | ir.Var | ir.Param) else cx.assign("operand", e)
