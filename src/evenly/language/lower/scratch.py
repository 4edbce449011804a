"""Scratch arrays: `h = ev.scratch(n, type)` makes an array of the tile's own, whose length is known when the tile runs.

In a loop over items, it is the item's own, and an item's tiles share it. It is an array like those that a kernel is
given: loops over atoms may change it by atomics, and later code reads it.
"""

from __future__ import annotations

from .. import ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import WEAK_INT
from . import expressions
from .arithmetic import cast
from .context import Context
from .items import check_not_of_item
from .local_arrays import check_before_atoms, check_tile, type_of
from .values import ScratchArray, Task, counted, describe


def make(cx: Context, node: s.Call) -> ScratchArray:
    """Lower `ev.scratch(n, type, zeros=)`. It gets its memory when it is bound to a name."""
    zeros = dict(node.keywords).get("zeros")
    if len(node.keywords) != (zeros is not None) or len(node.arguments) != 2:
        refuse(
            node.at,
            "ev.scratch takes a length and a type",
            "ev.scratch(2 * n, np.int32), or with zeros=False too",
        )
    check_tile(cx, node, "ev.scratch", "a scratch array")
    if cx.tiles is not None and isinstance(cx.tiles.id, Task):
        refuse(
            node.at,
            "ev.scratch in a loop over tasks, whose number is not known",
            "ev.local(n, type) makes an array of a length that the kernel knows",
        )
    check_not_of_item(cx, node.at)
    check_before_atoms(cx, node, "ev.scratch", "a scratch array")
    if cx.pure or cx.calls:
        refuse(
            node.at,
            f"ev.scratch {cx.pure or 'in a function'}",
            "make it in the kernel itself, and pass it",
        )
    n = expressions.number(cx, node.arguments[0])
    at = node.arguments[0].at
    if not n.type.is_integer:
        refuse(at, f"{n.type.spoken} as the length of ev.scratch", "int(x) truncates")
    if isinstance(n, ir.Const) and n.value < 0:
        refuse(at, f"a scratch array of {counted(int(n.value), 'element')}", "0 or more")
    length = cast(n, WEAK_INT)
    if not isinstance(length, ir.Const):
        length = cx.assign("length", length)
        cx.owned.discard(id(length))  # it stays as it is, whatever name is assigned
    made = type_of(cx, node.arguments[1], "ev.scratch")
    return ScratchArray(made, length, zeros is None or _known(cx, zeros))


def _known(cx: Context, given: s.Expr) -> bool:
    """Return `zeros=`."""
    e = expressions.number(cx, given)
    if not (isinstance(e, ir.Const) and e.type.is_bool):
        refuse(given.at, "zeros= is True or False, known when the kernel is compiled")
    return bool(e.value)


def named(cx: Context, made: ScratchArray, name: str, at: Location) -> None:
    """Bind `name = ev.scratch(...)`."""
    if made.name:
        refuse(at, f"{name} would be a second name of {describe(made)}", f"use {made.name}")
    old = cx.env.get(name)
    if cx.loop is not None and isinstance(old, ir.Array) and old.own:
        refuse(at, f"{name} becomes another scratch array in the loop", "give it another name")
    made.name = name
    array = ir.Array(name, made.type, 1, ("$", cx.namer.fresh(name)), own=True)
    cx.lengths[array.path] = made.length
    cx.emit(ir.Scratch(array, made.length, made.zeros, at))
    cx.env[name] = array


def extent(cx: Context, array: ir.Array, axis: int) -> ir.Expr:
    """Return the length of an axis of an array."""
    return cx.lengths[array.path] if array.own else ir.Extent(array, axis)


def within(cx: Context, array: ir.Array, index: ir.Expr, at: Location) -> ir.Expr:
    """Return an index of an array, with what targets that check need to know of a scratch array."""
    if not array.own:
        return index
    return ir.Within(index, cx.lengths[array.path], array.name, index.type, at)
