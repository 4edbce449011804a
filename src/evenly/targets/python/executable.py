"""The reference's executable: the kernel's own function, which no schedule changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenly.arguments import Binding
from evenly.language.depth import shallow
from evenly.language.reads import Reads, recording
from evenly.targets.contract import Executable, Typed

from .run import run


class Reference(Executable):
    """What the program was made of from outside stays as it was."""

    def __init__(self, typed: Typed) -> None:
        self.typed = typed

    def prepare(self, binding: Binding, stored: Any = None) -> Callable[[], None]:
        t = self.typed

        def call() -> None:
            with shallow(t.source, " for target 'python'"), recording(Reads(t.reads)):
                run(t.function, t.source, binding.arguments, t.program.meets)

        return call
