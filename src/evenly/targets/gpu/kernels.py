"""From a program's phases to its kernels: the entry to emitting."""

from __future__ import annotations

from evenly.language.phases import Phases
from evenly.schedules.contract import check_block

from .emit.code import PhaseCode
from .emit.unit import Unit
from .engines import engine_for


def emit(phases: Phases, unit: Unit) -> tuple[PhaseCode, ...]:
    """The kernels of every phase, in order. Raises InputError for a schedule of blocks that no GPU runs."""
    schedule = unit.schedule
    check_block(type(schedule).__name__, schedule.block)
    return tuple(
        engine_for(phase, schedule).emit(unit, phase, f"{unit.name}_{number}")
        for number, phase in enumerate(phases.phases)
    )
