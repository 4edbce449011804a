"""What the blocks of a split phase load while they mark their tiles, in functions of its own.

It is for blocks of which a multiprocessor holds as many threads as it can: with the registers that are left to
each thread, ptxas would otherwise place one load after another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from evenly.gpus.gpu import LARGEST
from evenly.gpus.numbers import numbers
from evenly.language import ir, walk
from evenly.language.accesses import always, only_accumulates, read_at_atom
from evenly.language.diagnostics import Location
from evenly.language.locals import places_written_out
from evenly.language.phases import Split
from evenly.language.types import FLOAT32, FLOAT64, INT32, INT64, POS
from evenly.schedules.contract import ceil_div

FULL_BLOCKS = {
    LARGEST.threads // n for n in range(1, LARGEST.blocks + 1) if LARGEST.threads % n == 0
}
PINNED = {FLOAT32, FLOAT64, INT32, INT64, POS}  # device/gpu.cuh, pin

Loads = dict[ir.Element, Location | None]  # by what is read: the line that says so


def early_loads(
    phase: Split, schedule: Any, written: Collection[ir.Path], wide: bool
) -> tuple[Split, Loads]:
    """The phase, and what atoms read, where that is loads for apart; none: where it is used.

    Where it is, the phase says places by the atom, not by locals. wide: positions have 64 bits.
    """
    if phase.needs_tile or not only_accumulates(phase.pass_):
        return phase, {}
    later = walk.variables_read(phase.leave)
    plain = replace(phase, pass_=places_written_out(phase.pass_, written, later))
    loads = read_at_atom(plain.pass_, written)
    registers = schedule.items * max(
        sum(map(_registers, part)) for part in (loads, stages(loads)[0])
    )
    held, min_blocks = numbers()["full"], getattr(schedule, "min_blocks", 0)
    full = schedule.block * min_blocks == LARGEST.threads and registers <= held["registers"]
    by_itself = (
        min_blocks == 0
        and not wide
        and schedule.block in FULL_BLOCKS
        and schedule.items <= held["items_by_itself"]
        and registers <= held["registers_by_itself"]
        and _nothing_else(plain, loads)
    )
    return (plain, loads) if by_itself or full else (phase, {})


def stages(loads: Loads) -> tuple[Loads, Loads]:
    """What is read first, places of others among it, and what is read at such places.

    A place that is read under a condition only stays where it is.
    """
    first: Loads = {}
    for e, at in loads.items():
        for x in always(e):
            if isinstance(x, ir.Element) and not any(map(_reads, x.indices)):
                first.setdefault(x, at)
    return first, {e: at for e, at in loads.items() if e not in first}


def _reads(e: ir.Expr) -> bool:
    return any(isinstance(x, ir.Element) for x in walk.subexpressions(e))


def _nothing_else(phase: Split, loads: Iterable[ir.Element]) -> bool:
    """Whether a pass does no more with what is loads for than arithmetic, and reads nothing else."""
    known = {x for e in loads for x in walk.subexpressions(e)}
    inside = list(walk.expressions(phase.pass_.body))
    read = all(x in known for x in inside if isinstance(x, ir.Element))
    calls = any(isinstance(x, ir.Call) for x in (*inside, *walk.expressions(phase.leave)))
    return read and not calls and phase.lanes is None and all(e.type in PINNED for e in loads)


def _registers(e: ir.Element) -> int:
    return 1 if e.type is POS else ceil_div(e.type.dtype.itemsize, 4)
