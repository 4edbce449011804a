"""Emitted elements that an atom's code holds, to be stored afterwards (`out.emit`).

The stores of one atom would keep the loads of the next from being issued. So a block first computes what several of its
atoms emit, and then stores it (`step_held` in device/split.cuh).
"""

from __future__ import annotations

from dataclasses import dataclass

from evenly.language import ir, walk
from evenly.language.types import POS

MOST_BYTES = 64  # of what an atom may hold: more would not stay in registers


@dataclass(frozen=True)
class Held:
    """code: the body of a pass, which holds elements. values: what it holds. stores: the code that stores them."""

    code: ir.Block
    values: tuple[ir.Var, ...]
    stores: ir.Block


def held(body: ir.Block) -> Held | None:
    """Return the body of a pass without the stores of what it emits. None: it stores nothing or too much for that."""
    stores: dict[ir.Var, list[ir.Store]] = {}  # by the place; it is -1 where nothing is emitted
    values: list[ir.Var] = []

    def hold(s: ir.Stmt) -> ir.Block | None:
        if not (isinstance(s, ir.Store) and s.alone):
            return None
        (place,) = s.indices
        assert isinstance(place, ir.Var)
        value = ir.Var(f"held_{len(values)}", s.value.type)
        values.append(value)
        stores.setdefault(place, []).append(ir.Store(s.array, (place,), value, s.at, alone=True))
        return (ir.Assign(value, s.value, s.at),)

    in_loops = (
        x for s in walk.statements(body) if isinstance(s, ir.For | ir.While) for x in walk.blocks(s)
    )
    if any(isinstance(x, ir.Store) and x.alone for b in in_loops for x in walk.statements(b)):
        return None
    code = walk.rewritten(body, hold)
    kept = (*stores, *values)
    if not stores or sum(map(_bytes, kept)) > MOST_BYTES:
        return None
    none = tuple(ir.Assign(place, ir.Const(-1, POS), x[0].at) for place, x in stores.items())
    put = tuple(
        ir.If(ir.Compare(">=", place, ir.Const(0, POS)), tuple(x), (), x[0].at)
        for place, x in stores.items()
    )
    return Held((*none, *code), kept, put)


def _bytes(v: ir.Var) -> int:
    return 8 if v.type is POS else v.type.dtype.itemsize
