"""Loops over lanes around passes: the atoms of a tile are walked once for several lanes, whose results are an array.

There are blocks of 32 lanes, then of fewer. LLVM writes the steps of such a block one after the other, keeps the
array in registers, and packs adjacent steps into vectors ("superword-level parallelism": Larsen, Amarasinghe, PLDI
2000). Walked lane by lane, each of them reads the matrix again, and gathers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.dense import around_passes, by_columns, has_lanes_inside, lane_parts
from evenly.language.types import POS

if TYPE_CHECKING:
    from .statements import Writer

# Lanes, then one. Each takes time to compile, and 64 sums are too many for most registers.
AT_ONCE = (32, 8, 4)


def may_take_columns(w: Writer, s: ir.For) -> bool:
    """Whether a loop's lanes may be taken several at a time by one worker that has the whole tile."""
    passes = [x for x in s.body if isinstance(x, ir.Pass)]
    return (
        w.ranks is None
        and w.text.checks is None
        and s in around_passes((s,))
        and (
            has_lanes_inside(s)
            or (by_columns(s) and all(len(a.fields) == 1 for p in passes for a in p.accumulators))
        )
    )


def emit_columns(w: Writer, s: ir.For) -> None:
    """Write the loop over lanes."""
    w.packs = True
    first, stop = (ir.Var(n, s.var.type) for n in ("first_lane", "lanes"))
    start, end = w.text.var(first), w.text.var(stop)
    w.assign(stop, w.text.expr(ir.Cast(s.stop, POS)))
    w.assign(first, "0")
    for count in AT_ONCE:
        with w.compound(f"while {start} + {count} <= {end}"):
            w.inner(_together(s, first, count, ir.Const(count, POS)))
            w.line(f"{start} += {count}")
    with w.compound(f"for {w.text.var(s.var)} in range({start}, {end})"):
        w.inner(s.body)


def _together(s: ir.For, first: ir.Var, most: int, count: ir.Expr) -> ir.Block:
    """Return the body of the loop for `count` lanes from `first` on, at most `most`; each part is for all of them."""
    lane, arrays = ir.Var("lane", s.var.type), _arrays(s, most)
    taken = ir.Binary("+", first, lane, s.var.type)

    def read(e: ir.Expr) -> ir.Expr | None:
        if e is s.var:
            return taken
        return ir.Item(arrays[e], lane, e.type) if isinstance(e, ir.Var) and e in arrays else None

    def each(block: ir.Block) -> ir.For:
        zero, one = (ir.Const(n, POS) for n in (0, 1))
        return ir.For(lane, zero, count, one, _stored(walk.map_block(block, read), arrays, lane))

    found: list[ir.Stmt] = [ir.Assign(a, ir.Const(0, a.type)) for a in arrays.values()]
    for x in s.body:
        if isinstance(x, ir.Pass) and has_lanes_inside(s):
            found += _with_lanes_inside(x, s.var, each)
        elif isinstance(x, ir.Pass):
            made = tuple(_of_array(a, arrays) for a in x.accumulators)
            found.append(replace(x, accumulators=made, body=(each(x.body),)))
        else:
            found.append(each((x,)))
    return tuple(found)


def _with_lanes_inside(
    s: ir.Pass, lane: ir.Var, each: Callable[[ir.Block], ir.For]
) -> Iterator[ir.Stmt]:
    """Yield a pass whose atoms have something in common for all lanes, which is computed once."""
    parts = lane_parts(s, lane)
    assert parts is not None
    for a in s.accumulators:
        for v, identity in zip(a.fields, a.identity, strict=True):
            start = ir.Assign(v, identity)
            yield start if v in parts.uniform else each((start,))
    body = (*parts.alike, *parts.before, each(parts.each), *parts.after)
    yield replace(s, accumulators=(), body=body)


def _uniform(s: ir.For) -> frozenset[ir.Var]:
    """Return the results of a loop's passes that all lanes have in common."""
    if not has_lanes_inside(s):
        return frozenset()
    parts = [lane_parts(x, s.var) for x in s.body if isinstance(x, ir.Pass)]
    return frozenset(v for p in parts if p is not None for v in p.uniform)


def _arrays(s: ir.For, count: int) -> dict[ir.Var, ir.Var]:
    """Return an array for each variable that passes from one part of the body to another."""
    parts = [walk.variables_set((x,)) | walk.variables_read((x,)) for x in s.body]
    results = {
        v for x in s.body if isinstance(x, ir.Pass) for a in x.accumulators for v in a.fields
    }
    own = walk.variables_set(s.body) - {x.atom for x in s.body if isinstance(x, ir.Pass)}
    held = {v for v in own if sum(v in part for part in parts) > 1} | results
    held -= _uniform(s)
    return {v: ir.Var(f"{v.name}_of", v.type, count) for v in sorted(held, key=lambda v: v.name)}


def _of_array(a: ir.Accumulator, arrays: dict[ir.Var, ir.Var]) -> ir.Accumulator:
    return replace(a, fields=tuple(arrays[v] for v in a.fields))


def _stored(block: ir.Block, arrays: dict[ir.Var, ir.Var], lane: ir.Var) -> ir.Block:
    """Return code that assigns elements of arrays in place of variables, and accumulates in elements."""

    def one(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Assign) and s.var in arrays:
            return ir.SetItem(arrays[s.var], lane, s.value, s.at)
        if isinstance(s, ir.Accumulate):
            return replace(s, accumulator=_of_array(s.accumulator, arrays), index=lane)
        if isinstance(s, ir.If):
            return replace(s, then=tuple(map(one, s.then)), otherwise=tuple(map(one, s.otherwise)))
        return s

    return tuple(map(one, block))
