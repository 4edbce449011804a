"""Where contenders run: its live arrays, clocks and rates. `gpu` and `cpu` are the two."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from evenly.timing.rounds import Clock

from .case import Case
from .contender import Contender, LeftOut


@dataclass(frozen=True, slots=True)
class Live:
    """The arrays that every contender works on, and the sets that they are rewritten from.

    A: the layout over offsets (m + 1,), indices (nnz,), values (nnz,). x: (n,). y: (m,), NaN
    before each check. sets: see Case.
    """

    A: Any
    offsets: Any
    indices: Any
    values: Any
    x: Any
    y: Any
    sets: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True, slots=True)
class Rates:
    """Bytes a second, measured in the run. gather: of 32 bytes a gathered number, out of L2; None on a CPU."""

    copy: float
    gather: float | None


class Place(Protocol):
    """target: "cuda" or "cpu". clock: what the clock of a plan covers, `contender.KERNELS` or CALL."""

    target: str
    clock: str

    def active(self) -> AbstractContextManager[Any]:
        """What all the rest happens in."""
        ...

    def machine(self) -> tuple[str, str]:
        """Its name, and the versions of what runs on it."""
        ...

    def rates(self) -> Rates:
        """Measured now."""
        ...

    def load(self, case: Case) -> Live:
        """The arrays of a case, there."""
        ...

    def rewrite(self, live: Live, turn: int) -> None:
        """Other contents for values and x."""
        ...

    def peers(self, live: Live) -> Iterator[Contender | LeftOut]:
        """What is not our own: other libraries, and kernels written by hand."""
        ...

    def clock_of(self, contender: Contender) -> Clock:
        """Of one that runs on these arrays."""
        ...
