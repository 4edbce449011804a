"""The target `python`: the reference, which every other target must agree with.

It runs the user's own function, tile after tile and atom after atom, and checks what
the fast targets take for granted: bounds, divisors, values that do not fit. Slow.
"""

from __future__ import annotations

from evenly.language.ir import Program
from evenly.language.reads import Reads

from .executable import Kernel, Reference
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


class PythonTarget:
    """Plain interpretation. It needs nothing and is always there."""

    name = "python"

    def require(self) -> None:
        """Raise UnavailableError where the target cannot run: never."""

    def executable(self, kernel: Kernel, program: Program, reads: Reads) -> Reference:
        """What runs `kernel`, which is `program`. Other targets compile phases; here nothing is cut or compiled."""
        return Reference(kernel, program, reads)
