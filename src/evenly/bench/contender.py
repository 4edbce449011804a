"""One way to multiply, ready to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# What is timed: the kernels on the GPU, without what Python costs; or a whole call.
KERNELS, CALL = "kernels", "call"

# Families, by which contenders are compared.
AUTO, OURS, ONE_CALL, HAND = "auto", "ours", "one call", "hand"
CSR, COO, LIBRARY = "csr", "coo", "library"


@dataclass(frozen=True, slots=True)
class Contender:
    """launch: y = A x on the place's live arrays, which returns y. detail: what it chose, if it did."""

    name: str
    family: str
    clock: str
    launch: Callable[[], Any]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One that could not take part, and why."""

    name: str
    why: str


def prepared(name: str, make: Callable[[], Contender]) -> Contender | LeftOut:
    """What `make` makes. A library that refuses a matrix is left out of it, and that is told."""
    try:
        return make()
    except Exception as error:  # whatever a foreign library raises
        return LeftOut(name, f"{type(error).__name__}: {error}")
