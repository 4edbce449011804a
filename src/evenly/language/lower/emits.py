"""Outputs of unknown size: `out.emit(...)`. A kernel that emits is lowered twice, to count and to fill.

Both programs count alike. A tile's elements are in the order of the program: those of an atom after those of earlier
atoms. The program that counts has no effects but the counts. The one that fills stores each element at

    where the tile's list begins + what the tile has emitted before this pass, or this statement (`Emitting.at`)
    + what earlier atoms of the pass emit (a scan) + what the atom has emitted before (`Counting.own`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .. import combine, ir, walk
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import POS, WEAK_INT
from . import columns, items
from .arithmetic import cast
from .context import Context
from .values import LayoutValue, Static, Value

ZERO, ONE = ir.Const(0, POS), ir.Const(1, POS)


@dataclass(frozen=True)
class Emitting:
    """A loop over tiles that emits. at: where the tile's next element goes; its number, if the program counts."""

    out: LayoutValue
    at: ir.Var


@dataclass(frozen=True)
class Counting:
    """A pass that emits. own: what the atom has emitted. earlier: what earlier atoms emit. total: what all emit."""

    own: ir.Var
    earlier: ir.Accumulator
    total: ir.Accumulator


def mode(layout: LayoutValue) -> str:
    """Return "count" or "fill" for what a kernel emits to; "" for other layouts."""
    return str(getattr(layout.cls, "emits", ""))


def emit(cx: Context, out: LayoutValue, node: s.Call) -> Value:
    """Lower `out.emit(value, ...)`."""
    _check_place(cx, out, node)
    assert cx.tiles is not None
    kind = POS if mode(out) == "fill" else WEAK_INT  # a count may be greater than any position
    emitting = cx.tiles.emitting = cx.tiles.emitting or Emitting(out, cx.variable("at", kind))
    if emitting.out is not out:
        refuse(node.at, f"emits to {emitting.out.name} and {out.name} in one loop over tiles")
    counting = None if cx.walk is None else _of_pass(cx)
    if mode(out) == "fill":
        place: ir.Expr = emitting.at
        if counting is not None:
            place = _plus(_plus(place, counting.earlier.fields[0]), counting.own)
        place = cx.assign("place", place)
        call, made_by = f"{out.name}.emit", f"collect(..., {out.name}=...)"
        columns.store(cx, columns.row(cx, call, out, node, made_by), place, node)
    next_ = emitting.at if counting is None else counting.own
    cx.emit(ir.Assign(next_, _plus(next_, ONE)))
    return Static(None)


def _plus(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return ir.Binary("+", a, cast(b, a.type), a.type)


def _check_place(cx: Context, out: LayoutValue, node: s.Call) -> None:
    call = f"{out.name}.emit"
    columns.check_call(cx, call, node, "emit in the kernel itself")
    if cx.tiles is None:
        refuse(node.at, f"{call} outside the loops over tiles", "each tile has a list of its own")
    items.check_no_items(cx, call, "emit in a loop over all tiles: for tile in B.tiles()", node.at)
    if cx.in_lanes:
        refuse(node.at, f"{call} in a loop over lanes: lanes have no order", "use range()")


# ---- passes --------------------------------------------------------------------------------------
def _of_pass(cx: Context) -> Counting:
    assert cx.walk is not None
    if cx.walk.counting is None:
        own, earlier = cx.variable("emitted", POS), cx.variable("earlier", POS)
        total = cx.variable("total", WEAK_INT)
        cx.walk.counting = Counting(own, *(_sum(cx, v) for v in (earlier, total)))
    return cx.walk.counting


def _sum(cx: Context, v: ir.Var) -> ir.Accumulator:
    return ir.Accumulator("sum", (v,), (combine.identity("sum", v.type),), at=cx.at)


def close_atom(cx: Context, mark: int) -> None:
    """Complete the code of an atom, which begins at number `mark` of the block, if it emits."""
    assert cx.walk is not None
    assert cx.tiles is not None
    counting = cx.walk.counting
    if counting is None:
        return
    assert cx.tiles.emitting is not None
    cx.block.insert(mark, ir.Assign(counting.own, ZERO, cx.at))
    if mode(cx.tiles.emitting.out) == "fill":
        unused = (cx.variable("earlier", POS),)
        cx.emit(ir.Scan(counting.earlier, (counting.own,), unused, True, counting.earlier.at))
    cx.emit(ir.Accumulate(counting.total, (cast(counting.own, WEAK_INT),)))


def close_pass(cx: Context, counting: Counting | None) -> None:
    """After a pass, add what it has emitted."""
    if counting is not None:
        assert cx.tiles is not None
        assert cx.tiles.emitting is not None
        at = cx.tiles.emitting.at
        cx.emit(ir.Assign(at, _plus(at, counting.total.fields[0])))


# ---- tiles ---------------------------------------------------------------------------------------
def close_tile(
    emitting: Emitting | None, tile: ir.Var, block: list[ir.Stmt], at: Location
) -> ir.Block:
    """Return the code of a tile with the beginning and the end of its list."""
    if emitting is None:
        return tuple(block)
    offsets = emitting.out.fields["offsets"]
    assert isinstance(offsets, ir.Array)
    if mode(emitting.out) == "count":
        begun = ir.Assign(emitting.at, ir.Const(0, WEAK_INT), at)
        return begun, *block, _count(emitting, offsets, tile, at)
    begin = cast(ir.Element(offsets, (tile,), offsets.dtype), POS)
    return (ir.Assign(emitting.at, begin, at), *_without_last_total(block, emitting.at))


def _count(emitting: Emitting, offsets: ir.Array, tile: ir.Var, at: Location) -> ir.Stmt:
    """Store how many elements a tile has, at offsets[tile + 1]. If there is a first list, count from there."""
    first, value = emitting.out.fields.get("first"), cast(emitting.at, offsets.dtype)
    if first is None:
        return ir.Store(offsets, (ir.Binary("+", tile, ONE, POS),), value, at)
    assert isinstance(first, ir.Expr)
    nth = ir.Binary("-", tile, first, POS)
    store = ir.Store(offsets, (ir.Binary("+", nth, ONE, POS),), value, at, alone=True)
    last = ir.Binary("-", cast(ir.Extent(offsets, 0), POS), ONE, POS)
    inner = ir.If(ir.Compare("<", nth, last), (store,), (), at)
    return ir.If(ir.Compare(">=", nth, ZERO), (inner,), (), at)


def _without_last_total(block: list[ir.Stmt], at: ir.Var) -> list[ir.Stmt]:
    """Leave out the sum of what the tile's last pass emits, which nothing reads."""
    sums = [i for i, x in enumerate(block) if isinstance(x, ir.Assign) and x.var is at]
    if not sums or at in walk.variables_read(tuple(block[sums[-1] + 1 :])):
        return block
    last = sums[-1]
    pass_, change = block[last - 1], block[last]
    if not (isinstance(pass_, ir.Pass) and isinstance(change, ir.Assign)):
        return block
    total = next(a for a in pass_.accumulators if a.fields[0] in walk.variables((change.value,)))
    kept = tuple(a for a in pass_.accumulators if a is not total)

    def unless_summed(s: ir.Stmt) -> ir.Block | None:
        return () if isinstance(s, ir.Accumulate) and s.accumulator is total else None

    bare = replace(pass_, accumulators=kept, body=walk.rewritten(pass_.body, unless_summed))
    return [*block[: last - 1], bare, *block[last + 1 :]]
