"""Passes that gather: written for four atoms at a time, each with an accumulator of its own.

One accumulator makes an atom wait for the one before it. LLVM would break that chain by
vectorising, but then it gathers by one instruction, which on many processors is slower than
plain loads (twice as slow as no vectors at all on one whose microcode guards it). SpMV on one
thread, in float32, took of SciPy's time: 68 a row 1.39 as vectors, 1.00 plainly, 0.53 so; 9 a
row 1.21, 1.17, 0.76; 2.6 a row 1.30, 1.28, 0.91.
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
    """What a pass does with one atom, in accumulators of its own."""

    accumulators: tuple[ir.Accumulator, ...]
    body: ir.Block


def emit_unrolled(w: Writer, s: ir.Pass, low: ir.Var, high: ir.Var) -> None:
    """The pass over atoms low .. high - 1: by fours, then what is left by twos and ones.

    A tile of one atom has nothing to join, one without nothing at all: they are asked for first. Of SciPy's time,
    in float32 on one thread, a diagonal matrix of 15,439 rows takes 0.71, one atom a row at random 0.8, a million empty
    rows 1.5 (2.2 where only those of one atom are asked for), three atoms on diagonals 1.0.
    """
    copies = [_copy(s, number) for number in range(COPIES)]
    atom, stop = w.text.var(s.atom), w.text.var(high)
    w.line(f"{atom} = {w.text.var(low)}")
    with w.compound(f"if {atom} + 1 == {stop}"):
        w.block(copies[0].body)
    with w.compound(f"elif {atom} < {stop}"):
        _several(w, copies, atom, stop)


def _several(w: Writer, copies: list[Copy], atom: str, stop: str) -> None:
    for copy in copies[1:]:
        w.identities(copy.accumulators)
    with w.compound(f"while {atom} + {COPIES} <= {stop}"):
        w.line("as_it_stands()")
        _step(w, copies, atom)
    count = COPIES // 2
    while count:
        with w.compound(f"if {atom} + {count} <= {stop}"):
            _step(w, copies[:count], atom)
        count //= 2
    _join(w, copies)


def _copy(s: ir.Pass, number: int) -> Copy:
    """The pass for the atom that many places on."""
    if number == 0:
        return Copy(s.accumulators, s.body)
    fields = {v: ir.Var(f"{v.name}_{number}", v.type) for a in s.accumulators for v in a.fields}
    own = {id(a): replace(a, fields=tuple(fields[v] for v in a.fields)) for a in s.accumulators}
    place = ir.Binary("+", s.atom, ir.Const(number, POS), POS)
    moved = walk.map_block(s.body, lambda e: place if e is s.atom else None)
    body = tuple(
        replace(x, accumulator=own[id(x.accumulator)]) if isinstance(x, ir.Accumulate) else x
        for x in moved
    )
    return Copy(tuple(own.values()), body)


def _step(w: Writer, copies: list[Copy], atom: str) -> None:
    for copy in copies:
        w.block(copy.body)
    w.line(f"{atom} += {len(copies)}")


def _join(w: Writer, copies: list[Copy]) -> None:
    """Pairs, and pairs of pairs: all in the first copy's accumulators."""
    distance = 1
    while distance < len(copies):
        for i in range(0, len(copies), 2 * distance):
            for a, b in zip(copies[i].accumulators, copies[i + distance].accumulators, strict=True):
                w.combine(a, a.fields, b.fields)
        distance *= 2
