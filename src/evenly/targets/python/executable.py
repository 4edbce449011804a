"""The executable of the reference, which runs the kernel's own function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenly.arguments import Binding
from evenly.language.depth import shallow
from evenly.language.reads import Reads, recording
from evenly.targets.contract import Executable, Typed

from .run import run


class Reference(Executable):
    """Runs the kernel's function. Values that it reads from outside are those that were read when it was compiled."""

    def __init__(self, typed: Typed) -> None:
        self.typed = typed

    def prepare(self, binding: Binding, stored: Any = None) -> Callable[[], None]:
        t = self.typed

        def call() -> None:
            with shallow(t.source, " for target 'python'"), recording(Reads(t.reads)):
                run(t.function, t.source, binding.arguments, t.program.meets)

        return call
