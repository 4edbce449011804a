"""Emit sums that gather in two steps: the terms of many tiles first, then each tile's sum, by vectors.

A loop over the atoms of a tile ends in a branch that depends on how many these are. Where lengths cannot be foreseen,
it is mispredicted once a tile, which costs as much as tens of atoms. So the terms of the next atoms, whatever tiles
they belong to, are put into memory that stays in the L1 cache, as a block of a GPU puts them into its shared memory.
There a tile's terms are adjacent: a vector has all of a short tile's, and a mask chooses them. They are added up in the
order of unrolled code (see `unrolled`), which is quicker where tiles have many atoms, or lengths that the processor
foresees. So the bits are the same, but for the sign of a NaN, which is that of one of two operands, and a worker tries
which is the quicker one (see `trials`).

Source: CSR-Stream of Greathouse and Daga, "Efficient Sparse Matrix-Vector Multiplication on GPUs Using the CSR Storage
Format" (SC 2014), with a worker in the place of a work group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.accesses import gathers
from evenly.language.phases import Owned, Split
from evenly.language.types import FLOAT32, FLOAT64, INT32, INT64, POS

from .text import memory_type
from .trial_words import TRIAL
from .unrolled import emit_unrolled, moved
from .vectors import VECTOR, reduces

if TYPE_CHECKING:
    from .statements import Writer

CHUNK = 512  # atoms whose terms are there at a time
COPIES = 4  # terms of one step of the loop that computes them
# With more atoms a tile, unrolled code is quicker anyway: what is mispredicted is little, and a term is read once more.
MOST = 32

_TYPES = frozenset((FLOAT32, FLOAT64, INT32, INT64))


@dataclass(frozen=True, slots=True)
class Stage:
    """The names of the atoms whose terms are there, begun .. until - 1, and of the memory for each accumulator's.

    quick: whether LLVM is to compute them by vectors.
    """

    begun: str
    until: str
    memory: dict[ir.Var, str]
    quick: bool


def sums(s: ir.Pass) -> bool:
    """Whether the pass gathers, and adds up numbers, by arithmetic on arrays of types that vectors have."""
    if not (reduces(s) and gathers(s)):
        return False
    found = list(walk.expressions(s.body))
    if any(isinstance(e, ir.Call | ir.Item) for e in found):
        return False
    types = {e.array.dtype for e in found if isinstance(e, ir.Element)}
    added = all(a.op == "sum" and len(a.fields) == 1 for a in s.accumulators)
    return added and types <= _TYPES and {a.fields[0].type for a in s.accumulators} <= _TYPES


def may_stage(phase: Owned | Split, s: ir.Pass) -> bool:
    """Whether terms are the same, however early they are computed: of their atom alone, from what the phase leaves.

    A pass in an `if` or a loop has terms only of some tiles: what others have at the atom may be no index at all.
    """
    inside = walk.variables_set(s.body) | {s.atom}
    if not sums(s) or walk.variables_read(s.body) - inside:
        return False
    around = phase.body if isinstance(phase, Owned) else (*phase.enter, *phase.leave)
    return not walk.arrays_read(s.body) & walk.arrays_written(around)


def both_ways(
    w: Writer, phase: Owned | Split, first: str, end: str, quick: bool
) -> Iterator[tuple[str, str]]:
    """Repeat what writes a worker's loop over tiles, for staged and for unrolled code, if there are both.

    Yields the first tile of a piece, and the end. quick: whether gathers are quick on the processor.
    """
    passes = (
        [phase.pass_]
        if isinstance(phase, Split)
        else [s for s in phase.body if isinstance(s, ir.Pass)]
    )
    staged = {s.atom: _stage(w, s, quick) for s in passes if may_stage(phase, s)}
    if phase.layout.items or w.text.checks is not None or not staged:
        yield first, end
        return
    _begin(w, phase, staged, first, end)
    most = CHUNK if quick else MOST
    piece, until = w.local("piece_begin"), w.local("piece_end")
    with w.compound(f"while {piece} < {end}"):
        w.line(f"{until} = min({piece} + trial_tiles({w.local('trial')}), {end})")
        at, stop = _atoms(w, phase, piece, until)
        with w.compound(f"if trial_stages({w.local('trial')})"):
            for stage in staged.values():
                w.line(f"{stage.until} = -1")
            w.staged, w.staged_end = staged, stop
            yield piece, until
        w.staged = {}
        with w.otherwise():
            yield piece, until
        w.line(f"trial_ends({w.local('trial')}, {until} - {piece}, {stop} - {at}, {most})")
        w.line(f"{piece} = {until}")


def _begin(
    w: Writer, phase: Owned | Split, staged: dict[ir.Var, Stage], first: str, end: str
) -> None:
    w.line(f"{w.local('trial')} = stack({TRIAL}, int64)")
    for stage in staged.values():
        w.line(f"{stage.begun} = {stage.until} = -1")
        for v, name in stage.memory.items():
            w.line(f"{name} = stack({CHUNK + VECTOR}, {memory_type(v.type)})")
    w.line(f"{w.local('piece_begin')} = {first}")
    with w.compound(f"if {first} < {end}"):
        at, stop = _atoms(w, phase, first, end)
        w.line(f"trial_begins({w.local('trial')}, {end} - {first}, {stop} - {at})")


def _atoms(w: Writer, phase: Owned | Split, first: str, end: str) -> tuple[str, str]:
    """Write where the atoms of tiles begin and end. Return the variables' names."""
    tile = ir.Var("of_piece", POS)
    w.line(f"{w.text.var(tile)} = {first}")
    at = w.text.var(w.held("piece_at", phase.layout.begin, tile))
    w.line(f"{w.text.var(tile)} = {end} - 1")
    return at, w.text.var(w.held("piece_stop", phase.layout.end, tile))


def _stage(w: Writer, s: ir.Pass, quick: bool) -> Stage:
    name = w.text.var(s.atom)
    fields = [v for a in s.accumulators for v in a.fields]
    memory = {v: w.local(f"terms_of_{w.text.var(v)}") for v in fields}
    return Stage(w.local(f"{name}_begun"), w.local(f"{name}_until"), memory, quick)


def emit_staged(w: Writer, s: ir.Pass, low: ir.Var, high: ir.Var) -> None:
    """Write the pass over atoms low .. high - 1, whose terms may be there. A tile with too many is unrolled."""
    first, stop, stage = w.text.var(low), w.text.var(high), w.staged[s.atom]
    begun, until = stage.begun, stage.until
    with w.compound(f"if {stop} > {until}"):
        w.line(f"{begun} = {first}")
        w.line(f"{until} = min({first} + {CHUNK}, {w.staged_end})")
        with w.compound(f"if {stop} > {until}"):
            w.line(f"{until} = -1")
        _terms(w, s, stage)
    with w.compound(f"if {stop} <= {until}"):
        for a in s.accumulators:
            (v,) = a.fields
            total = ir.Var("of_terms", v.type)
            where = f"{stage.memory[v]}, {first} - {begun}, {stop} - {begun}"
            w.line(f"{w.text.var(total)} = sum_of_terms({where})")
            w.combine(a, a.fields, (total,))
    with w.otherwise():
        emit_unrolled(w, s, low, high)


def _terms(w: Writer, s: ir.Pass, stage: Stage) -> None:
    """Write the loops that compute the terms: some at a time, then the rest one by one."""
    atom = w.text.var(s.atom)
    if stage.quick:
        w.line("wide_vectors()")
        with w.compound(f"for {atom} in range({stage.begun}, {stage.until})"):
            for x in s.body:
                _term(w, x, stage, f"{atom} - {stage.begun}")
        return
    w.line(f"{atom} = {stage.begun}")
    for count in (COPIES, 1):
        with w.compound(f"while {atom} + {count} <= {stage.until}"):
            for number in range(count):
                w.line("as_it_stands()")  # between them, or LLVM gathers for all at once
                for x in moved(s, number):
                    _term(w, x, stage, f"{atom} - {stage.begun} + {number}")
            w.line(f"{atom} += {count}")


def _term(w: Writer, s: ir.Stmt, stage: Stage, place: str) -> None:
    if not isinstance(s, ir.Accumulate):
        w.statement(s)
        return
    (v,), (value,) = s.accumulator.fields, w.common(*s.values)
    w.line(f"{stage.memory[v]}[{place}] = {w.text.expr(value)}")
