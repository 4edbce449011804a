"""Target `simt`: the CUDA C++ that `cuda` would run, executed on the CPU by an emulator that checks it.

options, executable    what `.on("simt", ...)` takes; memory and launches
source, compiler       the C++ text, and the host's compiler
machine                the runtime (host/), loaded
program, arguments     hand-written CUDA C++, and every interleaving of it
counters               what a profiler would count
report                 from a failure to the line that it came from
host/                  the primitives on the CPU, fibers, detectors
"""

from __future__ import annotations

from typing import Any

from evenly.language.ir import Path
from evenly.language.phases import Phases
from evenly.language.specs import LayoutSpec


class SimtTarget:
    """An emulated GPU on the CPU, through the host's C++ compiler."""

    name = "simt"

    def require(self) -> None:
        """Raises UnavailableError where there is no C++ compiler."""
        from . import compiler

        compiler.compiler()

    def compile(
        self,
        phases: Phases,
        schedule: Any,
        layouts: dict[Path, LayoutSpec],
        wide: bool,
        debug: bool,
    ) -> Any:
        """debug: no difference, everything is checked."""
        from evenly.targets.gpu.launching import Program

        from .executable import SimtExecutable

        executable = SimtExecutable(Program(phases, schedule, layouts, wide))
        executable.machine()
        return executable
