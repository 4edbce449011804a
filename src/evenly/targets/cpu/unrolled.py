"""Emit passes that gather. They are unrolled for four atoms at a time, each with an accumulator of its own.

With a single accumulator, each atom waits for the previous one. LLVM would break that chain by
vectorising, but then it uses a gather instruction, which on many processors is slower than plain
loads (and twice as slow as code without vectors on a processor whose microcode guards it). SpMV on
one thread in float32, relative to SciPy's time, vectorised, plain and unrolled: with 68 nonzeros per
row 1.39, 1.00, 0.53; with 9 per row 1.21, 1.17, 0.76; with 2.6 per row 1.30, 1.28, 0.91.

LLVM then packs the four into vectors, whose elements it loads one by one. The rest has vectors and sums of its own: if
it went on with those of the four, LLVM would pack these by twos.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.types import POS

if TYPE_CHECKING:
    from .statements import Writer

COPIES = 4  # a power of two


@dataclass(frozen=True, slots=True)
class Copy:
    """The body of a pass for one atom, with accumulators of its own."""

    accumulators: tuple[ir.Accumulator, ...]
    body: ir.Block


def emit_unrolled(w: Writer, s: ir.Pass, low: ir.Var, high: ir.Var) -> None:
    """Write the pass over atoms low .. high - 1: four at a time, then the rest in twos and ones.

    Tiles of one atom have nothing to join, and empty tiles have no work, so both are tested first. Relative to SciPy's
    time, in float32 on one thread, a diagonal matrix of 15,439 rows takes 0.71, one random atom per row 0.8, a million
    empty rows 1.5 (2.2 if only tiles of one atom are tested for), and three atoms on diagonals 1.0.
    """
    w.packs = True
    copies = [_copy(s, number) for number in range(COPIES)]
    atom, stop = w.text.var(s.atom), w.text.var(high)
    w.line(f"{atom} = {w.text.var(low)}")
    with w.compound(f"if {atom} + 1 == {stop}"):
        w.block(copies[0].body)
    with w.compound(f"elif {atom} < {stop}"):
        _several(w, copies, atom, stop)


def _several(w: Writer, copies: list[Copy], atom: str, stop: str) -> None:
    with w.compound(f"if {atom} + {COPIES} <= {stop}"):
        for copy in copies[1:]:
            w.identities(copy.accumulators)
        with w.compound(f"while {atom} + {COPIES} <= {stop}"):
            w.line("as_it_stands()")
            _step(w, copies, atom)
        _join(w, copies)
    count = COPIES // 2
    while count:
        with w.compound(f"if {atom} + {count} <= {stop}"):
            for copy in copies[1:count]:
                w.identities(copy.accumulators)
            _step(w, copies[:count], atom)
            _join(w, copies[:count])
        count //= 2


def _copy(s: ir.Pass, number: int) -> Copy:
    """Return the body of the pass for the atom that is `number` places further on."""
    if number == 0:
        return Copy(s.accumulators, s.body)
    fields = {v: ir.Var(f"{v.name}_{number}", v.type) for a in s.accumulators for v in a.fields}
    own = {id(a): replace(a, fields=tuple(fields[v] for v in a.fields)) for a in s.accumulators}
    body = tuple(
        replace(x, accumulator=own[id(x.accumulator)]) if isinstance(x, ir.Accumulate) else x
        for x in moved(s, number)
    )
    return Copy(tuple(own.values()), body)


def moved(s: ir.Pass, number: int) -> ir.Block:
    """Return the body of the pass for the atom that is `number` places further on, with the same accumulators."""
    if number == 0:
        return s.body
    place = ir.Binary("+", s.atom, ir.Const(number, POS), POS)
    return walk.map_block(s.body, lambda e: place if e is s.atom else None)


def _step(w: Writer, copies: list[Copy], atom: str) -> None:
    for copy in copies:
        w.block(copy.body)
    w.line(f"{atom} += {len(copies)}")


def _join(w: Writer, copies: list[Copy]) -> None:
    """Write the combination of all copies, in pairs and pairs of pairs, into the first copy's accumulators."""
    distance = 1
    while distance < len(copies):
        for i in range(0, len(copies), 2 * distance):
            for a, b in zip(copies[i].accumulators, copies[i + distance].accumulators, strict=True):
                w.combine(a, a.fields, b.fields)
        distance *= 2
