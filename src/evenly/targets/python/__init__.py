"""The target `python`: the reference, which every other target must agree with.

It runs the user's own function, tile after tile and atom after atom, and checks what
the fast targets take for granted: bounds, divisors, values that do not fit. Slow.
"""

from __future__ import annotations

from typing import Any

from evenly.language.cutting import cut
from evenly.language.phases import Phases
from evenly.schedules.contract import Schedule
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
    """Plain interpretation. It needs nothing and is always there."""

    name = "python"
    reference = True
    checks = "always"

    def device(self, binding: Any = None) -> str:
        return "the reference, interpreted, slow"

    def build(
        self, typed: Typed, schedule: Schedule, wide: bool, debug: bool
    ) -> tuple[Executable, Phases]:
        """Nothing is compiled, and every schedule owns whole tiles: it walks them in order."""
        return Reference(typed), cut(typed.program, whole=True)
