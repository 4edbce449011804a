"""Choose the elements that blocks of a split phase load early, while they mark their tiles.

These loads go into functions of their own. That helps at full occupancy, where a multiprocessor holds as many threads
as it can. Each thread then has so few registers that ptxas would otherwise issue one load after another.
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
from evenly.language.types import FLOAT32, FLOAT64, INT32, INT64, POS, UINT16, UINT32, UINT64
from evenly.schedules.contract import ceil_div

FULL_BLOCKS = {
    LARGEST.threads // n for n in range(1, LARGEST.blocks + 1) if LARGEST.threads % n == 0
}
PINNED = {FLOAT32, FLOAT64, INT32, INT64, UINT16, UINT32, UINT64, POS}  # device/gpu.cuh, pin

# For each element that is read, the line of Python that reads it.
Loads = dict[ir.Element, Location | None]


def early_loads(
    phase: Split, schedule: Any, written: Collection[ir.Path], wide: bool
) -> tuple[Split, Loads]:
    """Return the phase, and the elements to load early. If there are none, elements are loaded where they are used.

    If there are some, the indices in the phase returned are written in terms of the atom, without local variables.
    wide: whether positions have 64 bits.
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
    """Split the elements into those to read first, and those whose index depends on one that was read first.

    An index that is read only under a condition is not moved.
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
    """Whether a pass only does arithmetic with `loads`, and reads nothing else."""
    known = {x for e in loads for x in walk.subexpressions(e)}
    inside = list(walk.expressions(phase.pass_.body))
    read = all(x in known for x in inside if isinstance(x, ir.Element))
    calls = any(isinstance(x, ir.Call) for x in (*inside, *walk.expressions(phase.leave)))
    return read and not calls and phase.lanes is None and all(e.type in PINNED for e in loads)


def _registers(e: ir.Element) -> int:
    return 1 if e.type is POS else ceil_div(e.type.dtype.itemsize, 4)
