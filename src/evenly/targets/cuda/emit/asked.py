"""What the blocks of a split phase ask for before they mark their tiles, in a function apart from what they do with it.

It is for blocks of which a multiprocessor holds as many threads as it can: with the registers that are left to
each, ptxas would otherwise ask for one thing after another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from evenly.language import ir
from evenly.language.diagnostics import Location
from evenly.language.phases import Split
from evenly.language.side_by_side import only_accumulates, read_at_atom
from evenly.language.types import POS
from evenly.schedules.contract import MOST_THREADS, ceil_div

# What a thread may ask for at once, so that 2,048 of them still have room for all else: items, and registers for what
# these read. By hand, from SpMVs: with four items of 8 bytes, and three of 16, full multiprocessors are faster on
# nearly every matrix; with four of 16, on half of them.
MOST_ITEMS, MOST_REGISTERS = 4, 12


Asked = dict[ir.Element, Location | None]  # by what is read: the line that says so


def asked_apart(phase: Split, schedule: Any, written: Collection[ir.Path], wide: bool) -> Asked:
    """What atoms read, where it is asked for apart; none: where it is used. wide: positions have 64 bits."""
    if schedule.engine != "merge" or phase.needs_tile or not only_accumulates(phase.pass_):
        return {}
    asked = read_at_atom(phase.pass_, written)
    full = schedule.block * schedule.min_blocks == MOST_THREADS
    if full or (not (schedule.min_blocks or wide) and has_room(schedule, asked)):
        return asked
    return {}


def has_room(schedule: Any, asked: Iterable[ir.Element]) -> bool:
    """Whether a multiprocessor could hold as many threads as it can, and each what it asks for."""
    registers = schedule.items * sum(ceil_div(_bytes(e), 4) for e in asked)
    fits = schedule.items <= MOST_ITEMS and registers <= MOST_REGISTERS
    return fits and MOST_THREADS % schedule.block == 0


def _bytes(e: ir.Element) -> int:
    return 4 if e.type is POS else int(e.type.dtype.itemsize)
