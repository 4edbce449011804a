"""The target `python`: the reference, with which every other target must agree.

It runs the user's own function, one tile and one atom after another, and checks what the
fast targets do not: bounds, divisors, and whether values fit. It is slow.

    run, rewrite, meets            the function, compiled again with typed operators
    typed, operators, functions    numbers, and what is computed of them
    arrays, layouts, tasks         what the function sees of its arguments
    executable, failures           calls; errors with the user's line
"""

from __future__ import annotations

from typing import Any

from evenly.language.cutting import cut
from evenly.language.phases import Phases
from evenly.schedules.contract import Schedule
from evenly.schedules.nested import check_loops
from evenly.targets.contract import Executable, Target, Typed

from .executable import Reference
from .failures import AssertionFailed, BadValue, DividedByZero, OutOfBounds, RunError
from .run import run

__all__ = [
    "AssertionFailed",
    "BadValue",
    "DividedByZero",
    "OutOfBounds",
    "PythonTarget",
    "Reference",
    "RunError",
    "run",
]


class PythonTarget(Target):
    """Interprets the kernel. It needs no other package, and is always available."""

    name = "python"
    reference = True
    checks = "always"

    def device(self, binding: Any = None) -> str:
        return "the reference, interpreted, slow"

    def build(
        self, typed: Typed, schedule: Schedule, wide: bool, debug: bool
    ) -> tuple[Executable, Phases]:
        """Return the reference. Nothing is compiled, and tiles are walked whole and in order under every schedule.

        Raises InputError for a schedule that no target runs the kernel under.
        """
        check_loops(schedule, typed.program)
        return Reference(typed), cut(typed.program, whole=True)
