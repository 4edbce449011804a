"""The target `python`: the reference, which every other target must agree with.

It runs the user's own function, tile after tile and atom after atom, and checks what
the fast targets take for granted: bounds, divisors, values that do not fit. Slow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from evenly.language.ir import Program
from evenly.language.source import Source

from .failures import AssertionFailed, BadValue, DividedByZero, OutOfBounds, RunError
from .run import run

__all__ = [
    "AssertionFailed",
    "BadValue",
    "DividedByZero",
    "OutOfBounds",
    "PythonTarget",
    "RunError",
    "run",
]


class _Kernel(Protocol):
    @property
    def function(self) -> Any: ...
    @property
    def source(self) -> Source: ...


class PythonTarget:
    """Plain interpretation. It needs nothing and is always there."""

    name = "python"

    def require(self) -> None:
        """Raise UnavailableError where the target cannot run: never."""

    def run_kernel(self, kernel: _Kernel, program: Program, arguments: Mapping[str, Any]) -> None:
        """Run `kernel`, which is `program`, on `arguments`: parameter name -> the user's object, in CPU memory."""
        run(kernel.function, kernel.source, arguments, program.meets)
