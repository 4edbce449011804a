"""The target `cpu`: emit typed phases as Python text, compile it with Numba, and run it in several workers.

    slots, text, statements       the table of arguments; expressions; statements
    owned, split, share           the engines, which divide the work
    tasks, crew, crew_words       loops over tasks: workers that hand each other tasks
    columns, stack                lanes around passes; local arrays
    processors, setup, grid       what a schedule asks of its processor; reductions over the whole grid
    vectors, extremes             loops that LLVM vectorises, for extremes of floats
    unrolled, staged              sums that gather: unrolled; their terms first
    trials, trial_words           which of the two is quicker, by the clock
    common                        common subexpressions
    function, facts               the function of a phase; what the host asks of it
    loading, kept                 compile text to native code; cache it
    division, driver              divide the work
    workers, pool                 start threads; run workers on several of them
    executable, run, failures     arguments; a run; its errors
    copies, machine               what `tune` measures on; the processor's name, and whether it gathers quickly
    calls                         the layout of what a native call is given
    words, pointers               words that threads share; addresses in native code
    primitives, integers, complexes, narrow, atomics, checks   functions that emitted code calls; helpers: their imports

Importing this does not import Numba.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenly.errors import UnavailableError
from evenly.language import ir
from evenly.language.phases import Once, Phases
from evenly.language.schedule_code import ScheduleCode, schedule_code
from evenly.language.specs import LayoutSpec
from evenly.schedules.contract import check_groups
from evenly.targets.contract import Target
from evenly.targets.gpu.engines import engine_of

from . import machine
from .copies import CpuCopies
from .division import RULES
from .executable import CpuExecutable, Function
from .function import How, emit_function, module_text
from .slots import Scratch, Slot, Slots
from .text import Check

Codes = Mapping[ir.Path, ScheduleCode]
_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Emitted:
    """A program as text. slots: its arguments. checks: those of debug mode. rules: how to divide each phase."""

    text: str
    slots: tuple[Slot, ...]
    checks: tuple[Check, ...]
    rules: tuple[int, ...]


class CpuTarget(Target):
    """Runs on this machine's cores, through Numba."""

    name = place = "cpu"
    checks = "debug"
    clock = "a call"
    copies = CpuCopies
    seconds = 5.0
    net_seconds = 0.5

    def require(self) -> None:
        if importlib.util.find_spec("numba") is None:
            remedy = "pip install numba; target='python' needs nothing but NumPy"
            raise UnavailableError("target 'cpu'", "Numba is not installed", remedy)

    def device(self, binding: Any = None) -> str:
        return machine.described()

    def emit(
        self,
        phases: Phases,
        schedule: Any,
        debug: bool = False,
        codes: Codes | None = None,
        quick: bool = False,
    ) -> Emitted:
        """Emit a program as text. This does not need Numba.

        codes: the schedule's own code, by the layout's path. quick: whether gathers are quick on the processor.
        """
        on_cpu, size = engine_of(schedule).on_cpu, getattr(schedule, "size", 1)
        how = How(on_cpu, schedule.owner, size, codes or {}, quick)
        slots = Slots()
        checks: list[Check] | None = [] if debug else None
        functions = {
            f"phase_{i}": emit_function(f"phase_{i}", i, phase, how, slots, checks)
            for i, phase in enumerate(phases.phases)
        }
        records = slots.shared("records") if debug else None
        text = module_text(f"{phases.name}, emitted by evenly", functions, records)
        rules = tuple(RULES[how.division(phase)] for phase in phases.phases)
        return Emitted(text, tuple(slots.table), tuple(checks or ()), rules)

    def compile(
        self,
        phases: Phases,
        schedule: Any,
        layouts: Mapping[ir.Path, LayoutSpec],
        wide: bool = False,
        debug: bool = False,
    ) -> CpuExecutable:
        """Compile the phases of a program for a schedule over these layouts.

        wide: ignored, since positions always have 64 bits here.
        debug: whether to check indices, divisors and shift counts.
        """
        self.require()
        from . import loading

        engine = engine_of(schedule)
        own = layouts if engine.on_cpu == "methods" else {}
        codes = {path: schedule_code(schedule, spec, path) for path, spec in own.items()}
        for code in codes.values() if engine.runs_methods else ():
            check_groups(schedule, code.groups, *code.exchanging)
        made = self.emit(phases, schedule, debug, codes, machine.gathers_quickly())
        module = loading.load(made.text)
        functions = []
        for i, rule in enumerate(made.rules):
            native = getattr(module, f"phase_{i}")
            left = tuple(
                (j, s) for j, s in enumerate(made.slots) if isinstance(s, Scratch) and s.phase == i
            )
            once = isinstance(phases.phases[i], Once)
            functions.append(Function(_CALL(native.address), native.address, once, rule, left))
        lengths = None
        if phases.lengths is not None:
            lengths = self.compile(phases.lengths.phases, schedule, layouts, wide, debug)
        return CpuExecutable(
            phases.name, made.text, phases, tuple(functions), made.slots, made.checks, lengths
        )


__all__ = ["CpuExecutable", "CpuTarget"]
