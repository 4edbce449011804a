"""Target `simt`: execute the CUDA C++ of target `cuda` on the CPU, in an emulator that checks it.

options, executable    the options of `.on("simt", ...)`; memory and launches
source, compiler       make the C++ text; compile it with the host's compiler
machine                loads the runtime (host/) with the kernels, and runs them
program, arguments     hand-written CUDA C++, also in every execution; its arguments
cuda_source            CUDA C++ as it is written, turned into C++ for the host
histories              whether the results of operations are those of a sequential object
counters, printing     what a profiler would count; lines that kernels print
report                 finds the line that caused a failure
host/                  the primitives on the CPU, fibers, detectors; execution graphs of the memory model
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenly.language.ir import Path
from evenly.language.phases import Phases
from evenly.language.specs import LayoutSpec
from evenly.schedules.contract import Schedule
from evenly.targets.contract import Target

if TYPE_CHECKING:
    from .executable import SimtExecutable


class SimtTarget(Target):
    """An emulated GPU on the CPU, through the host's C++ compiler."""

    name = "simt"
    gpu = counts = True
    checks = "always"

    def require(self) -> None:
        from . import compiler

        compiler.compiler()

    def device(self, binding: Any = None) -> str:
        from .compiler import compiler

        return "cuda's code on the CPU, checked; compiled by " + ", ".join(compiler())

    def compile(
        self,
        phases: Phases,
        schedule: Schedule,
        layouts: dict[Path, LayoutSpec],
        wide: bool,
        debug: bool,
    ) -> SimtExecutable:
        from evenly.targets.gpu.launching import Program

        from .executable import SimtExecutable

        executable = SimtExecutable(Program(phases, schedule, layouts, wide))
        if phases.lengths is not None:
            program = Program(phases.lengths.phases, schedule, layouts, wide)
            lengths = SimtExecutable(program, _compiled=executable._compiled)
            executable = replace(executable, lengths=lengths)
        executable.machine("checked")
        return executable
