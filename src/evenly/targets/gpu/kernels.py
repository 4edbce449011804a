"""Emit all kernels of a program. This is the entry to the emitter."""

from __future__ import annotations

from dataclasses import replace

from evenly.language.following import following
from evenly.language.phases import Phases
from evenly.schedules.contract import check_block

from .emit.code import PhaseCode
from .emit.unit import Unit
from .engines import engine_for


def emit(phases: Phases, unit: Unit) -> tuple[PhaseCode, ...]:
    """Emit the kernels of every phase, in order. Raises InputError if the schedule's block size fits no GPU."""
    schedule = unit.schedule
    check_block(type(schedule).__name__, schedule.block)
    return tuple(
        engine_for(phase, schedule).emit(
            replace(unit, running=phases.running(number), following=following(phases, number)),
            phase,
            f"{unit.name}_{number}",
        )
        for number, phase in enumerate(phases.phases)
    )
