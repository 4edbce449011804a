"""Emit sums that gather as code that LLVM vectorises, for processors whose gather instructions are quick.

Full blocks of atoms come first. The rest of the tile is a block of the same size, of which a mask takes what there is.
So tiles of up to 16 atoms have no branch that depends on their length, and none is mispredicted. Tiles that have few
atoms, or lengths that the processor predicts, are quicker unrolled (see `unrolled`). So each worker first looks at some
of its tiles, and chooses blocks of 16 or of 8 atoms, or unrolled code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.accesses import gathers
from evenly.language.phases import Owned, Split
from evenly.language.types import FLOAT32, FLOAT64, INT32, INT64, POS

from .vectors import reduces

if TYPE_CHECKING:
    from .statements import Writer

EACH = 1024  # tiles and atoms of a worker, for each tile that it looks at, and the one after that
LOOKS = 256  # the most tiles that it looks at
WORTH = 16 * EACH  # the least tiles and atoms of a worker that looks
MOST = 64  # atoms of a tile that count, for one long tile is not to speak for all

# What a tile costs, in tenths of a nanosecond on one core of a Sapphire Rapids, by the atoms of a block (1: unrolled):
# in any case; each further block; a mispredicted branch, where the tile and the next one differ in how many times they
# have so many atoms.
COSTS: dict[int, tuple[int, int, dict[int, int]]] = {
    1: (12, 5, {1: 60, 4: 50}),
    8: (50, 32, {8: 90}),
    16: (78, 48, {16: 90}),
}

_TYPES = frozenset((FLOAT32, FLOAT64, INT32, INT64))


def sums(s: ir.Pass) -> bool:
    """Whether the pass gathers, and adds up floats, by arithmetic on arrays of types that vectors have."""
    if not (reduces(s) and gathers(s)):
        return False
    found = list(walk.expressions(s.body))
    if any(isinstance(e, ir.Call | ir.Item) for e in found):
        return False
    types = {e.array.dtype for e in found if isinstance(e, ir.Element)}
    added = all(a.op == "sum" and len(a.fields) == 1 for a in s.accumulators)
    return added and types <= _TYPES and {a.fields[0].type for a in s.accumulators} <= _TYPES


def choose_block(w: Writer, phase: Owned | Split, share: list[str]) -> None:
    """Write how a worker chooses a block, if the phase has passes for which it matters."""
    passes = (
        [phase.pass_]
        if isinstance(phase, Split)
        else [s for s in walk.statements(phase.body) if isinstance(s, ir.Pass)]
    )
    if phase.layout.items or not any(map(sums, passes)):
        return
    first_tile, first_atom, end_tile, end_atom, first_whole, end_whole = share
    w.block_size = block = w.local("block")
    w.line("wide_vectors()")
    w.line(f"{block} = 1")
    work, looks = w.local("work"), w.local("looks")
    w.line(f"{work} = {end_tile} - {first_tile} + {end_atom} - {first_atom}")
    with w.compound(f"if {work} >= {WORTH} and {end_whole} - {first_whole} > 1"):
        _look(w, phase, (work, looks), first_whole, end_whole)


def both_ways(w: Writer) -> Iterator[None]:
    """Repeat what writes a worker's loop, for blocks and for unrolled code, if the worker chooses between them."""
    if not w.block_size:
        yield
        return
    with w.compound(f"if {w.block_size} > 1"):
        w.masks = True
        yield
    w.masks = False
    with w.otherwise():
        yield


def _look(w: Writer, phase: Owned | Split, counts: tuple[str, str], first: str, end: str) -> None:
    work, looks = counts
    costs = {size: w.local(f"cost_{size}") for size in COSTS}
    w.line(f"{looks} = min({work} // {EACH}, {LOOKS})")
    for cost in costs.values():
        w.line(f"{cost} = 0")
    look, tile, after = w.local("look"), ir.Var("looked_at", POS), ir.Var("after", POS)
    with w.compound(f"for {look} in range({looks})"):
        w.line(f"{w.text.var(tile)} = {first} + ({end} - {first} - 1) * {look} // {looks}")
        w.line(f"{w.text.var(after)} = {w.text.var(tile)} + 1")
        atoms, others = (_length(w, phase, v) for v in (tile, after))
        for size, (of_tile, of_block, missed) in COSTS.items():
            w.line(f"{costs[size]} += {of_tile} + {of_block} * max(0, ({atoms} - 1) // {size})")
            for part, of_miss in missed.items():
                differ = f"{atoms} // {part} != {others} // {part}"
                w.line(f"{costs[size]} += {of_miss} if {differ} else 0")
    one, eight, sixteen = costs.values()
    with w.compound(f"if min({eight}, {sixteen}) < {one}"):
        w.line(f"{w.block_size} = 8 if {eight} < {sixteen} else 16")


def _length(w: Writer, phase: Owned | Split, tile: ir.Var) -> str:
    """Write how many atoms a tile has, up to MOST. Return the variable's name."""
    begin, end = (
        w.text.var(w.held(name, code, tile))
        for name, code in (("begin", phase.layout.begin), ("end", phase.layout.end))
    )
    w.line(f"{end} = min({end} - {begin}, {MOST})")
    return end


def emit_masked(w: Writer, s: ir.Pass, low: ir.Var, high: ir.Var) -> None:
    """Write the pass over atoms low .. high - 1, in blocks of the size that the worker has chosen: a power of two.

    LLVM would take a block of a constant size apart, into a branch for each of its atoms.
    """
    t = w.text
    atom, first, stop = t.var(s.atom), t.var(low), t.var(high)
    rest, lane = w.local("rest"), w.local("lane")
    w.any_order = True
    w.line(f"{rest} = {stop} - (({stop} - {first}) & ({w.block_size} - 1))")
    with w.compound(f"for {atom} in range({first}, {rest})"):
        w.block(s.body)
    with w.compound(f"if {rest} < {stop}"), w.compound(f"for {lane} in range({w.block_size})"):
        w.line(f"{atom} = {rest} + {lane}")
        with w.compound(f"if {atom} < {stop}"):
            w.block(s.body)
    w.any_order = False
