"""One way to multiply, ready to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# What is timed: the kernels on the GPU, without Python's time, or a whole call.
KERNELS, CALL = "kernels", "call"

# Families: the summary compares one with another.
AUTO, OURS, ONE_CALL, HAND = "auto", "ours", "one call", "hand"
CSR, COO, LIBRARY = "csr", "coo", "library"


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to multiply. launch: computes y = A x on the live arrays and returns y. detail: the schedule it chose."""

    name: str
    family: str
    clock: str
    launch: Callable[[], Any]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A contender that could not take part, and why."""

    name: str
    why: str

    @classmethod
    def by(cls, name: str, error: Exception) -> LeftOut:
        return cls(name, f"{type(error).__name__}: {error}")


def prepared(name: str, make: Callable[[], Contender]) -> Contender | LeftOut:
    """Return `make()`, or LeftOut with the error if the library refuses the matrix."""
    try:
        return make()
    except Exception as error:  # other libraries raise errors of any class
        return LeftOut.by(name, error)
