"""The target `cpu`: typed phases become Python text for Numba, run by several workers.

    slots, text, statements     what code refers to; expressions; statements
    search, grid, split, share, owned, processors     the engines: who does what
    function                    one function a phase
    loading, workers, driver    from text to native code, and to several threads
    executable                  a run
    primitives, atomics, checks what emitted code calls

Importing this does not import Numba.
"""
from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from evenly.errors import UnavailableError
from evenly.language import ir
from evenly.language.phases import Phases
from evenly.language.schedule_code import ScheduleCode

from .executable import Binding, Executable
from .function import How, emit_function, module_text
from .slots import Slots
from .text import Place


class CpuTarget:
    """Runs on this machine's cores, through Numba."""

    name = "cpu"

    def require(self) -> None:
        """Raise UnavailableError where Numba is missing."""
        if importlib.util.find_spec("numba") is None:
            raise UnavailableError("target 'cpu'", "Numba is not installed", "pip install numba")

    def emit(self, phases: Phases, schedule: Any, debug: bool = False, codes: Mapping[ir.Path, ScheduleCode] | None = None, cache: bool = True) -> tuple[str, Slots, list[Place] | None, int]:
        """The text of a program, its slots, its checks and the slot of their records."""
        how = How(rule_of(schedule), schedule.owner, getattr(schedule, "size", 1), codes or {})
        slots, places = Slots(), ([] if debug else None)
        names = [f"phase_{i}" for i in range(len(phases.phases))]
        functions = [emit_function(n, i, p, how, slots, places) for i, (n, p) in enumerate(zip(names, phases.phases, strict=True))]
        record = len(slots.table) if debug else -1
        text = module_text(f"{phases.name}, emitted by evenly", functions, names, record if debug else None, cache)
        return text, slots, places, record

    def compile(self, phases: Phases, schedule: Any, wide: bool = False, debug: bool = False, codes: Mapping[ir.Path, ScheduleCode] | None = None) -> Executable:
        """Compile the phases of a program for a schedule.

        codes: what `schedule_code` makes of the schedule, by the path of each layout; left out,
        the schedule's engine decides. wide: positions are 64 bits wide here in any case.
        debug: check indices, divisors and shift counts, at about three times the cost.
        """
        self.require()
        from . import loading

        text, slots, places, record = self.emit(phases, schedule, debug, codes)
        module = loading.load(text)
        functions = tuple(_native(getattr(module, f"phase_{i}")) for i in range(len(phases.phases)))
        return Executable(phases.name, text, phases, functions, tuple(slots.table), tuple(places or ()), record)


def rule_of(schedule: Any) -> str:
    """How the CPU divides the work of a schedule: owned, merge, nonzero or share."""
    if schedule.owner != "share":
        return "owned"
    engine = getattr(schedule, "engine", "share")
    return engine if engine in ("merge", "nonzero") else "share"


def _native(function: Any) -> tuple[Any, int]:
    """How a compiled function is called from here, and its address."""
    import ctypes

    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    return kind(function.address), function.address


__all__ = ["Binding", "CpuTarget", "Executable"]
