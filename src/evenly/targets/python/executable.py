"""The reference's executable: the kernel's own function, which no schedule changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from evenly.arguments import Binding
from evenly.language.depth import shallow
from evenly.language.ir import Program
from evenly.language.reads import Reads, recording
from evenly.language.source import Source
from evenly.targets.contract import Executable

from .run import run


class Kernel(Protocol):
    """What it has to know of a kernel."""

    @property
    def function(self) -> Any: ...
    @property
    def source(self) -> Source: ...


class Reference(Executable):
    """reads: what `program` was made of from outside, which stays as it was."""

    def __init__(self, kernel: Kernel, program: Program, reads: Reads) -> None:
        self.kernel, self.program, self.reads = kernel, program, reads

    def prepare(self, binding: Binding, stored: Any = None) -> Callable[[], None]:
        kernel, meets = self.kernel, self.program.meets

        def call() -> None:
            with shallow(kernel.source, " for target 'python'"), recording(Reads(self.reads)):
                run(kernel.function, kernel.source, binding.arguments, meets)

        return call
