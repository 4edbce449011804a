"""Target `simt`: the CUDA C++ that `cuda` would run, executed on the CPU by an emulator that checks it.

    options, executable    what `.on("simt", ...)` takes; memory and launches
    source, compiler       the C++ text, and the host's compiler
    machine                the runtime (host/), loaded
    report                 from a failure to the line that it came from
    host/                  the primitives on the CPU, fibers, detectors
"""

from __future__ import annotations

from typing import Any

from evenly.language.ir import Path
from evenly.language.phases import Phases
from evenly.language.specs import LayoutSpec
from evenly.targets.cuda.launching import Program

from . import compiler
from .executable import SimtExecutable
from .report import SimtError


class SimtTarget:
    """An emulated GPU on the CPU, through the host's C++ compiler."""

    name = "simt"

    def require(self) -> None:
        """Raises UnavailableError where there is no C++ compiler."""
        compiler.compiler()

    def compile(
        self,
        phases: Phases,
        schedule: Any,
        layouts: dict[Path, LayoutSpec],
        wide: bool,
        debug: bool,
    ) -> SimtExecutable:
        """debug: no difference, everything is checked."""
        executable = SimtExecutable(Program(phases, schedule, layouts, wide))
        executable.machine()
        return executable


__all__ = ["SimtError", "SimtExecutable", "SimtTarget"]
