"""A place where contenders run: its live arrays, clocks and rates. `gpu` and `cpu` implement it."""

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
    """The arrays that all contenders work on, and the sets of contents that `rewrite` copies into them.

    A: the layout over offsets (m + 1,), indices (nnz,), values (nnz,). x: (n,).
    y: (m,), filled with NaN before each check. sets: see Case.
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
    """Bytes per second, measured in this run. gather: out of L2, 32 bytes for each gathered number; None on a CPU."""

    copy: float
    gather: float | None


class Bench(Protocol):
    """A place. target: "cuda" or "cpu". clock: what the clock of a plan covers, `contender.KERNELS` or CALL."""

    target: str
    clock: str

    def active(self) -> AbstractContextManager[Any]:
        """Return the context in which everything else runs."""
        ...

    def machine(self) -> tuple[str, str]:
        """Return the machine's name, and the versions of the libraries."""
        ...

    def rates(self) -> Rates:
        """Measure the rates."""
        ...

    def load(self, case: Case) -> Live:
        """Copy the arrays of a case to this place."""
        ...

    def rewrite(self, live: Live, turn: int) -> None:
        """Write the contents of another set into the values and x."""
        ...

    def peers(self, live: Live, by_hand: bool) -> Iterator[Contender | LeftOut]:
        """Yield the contenders that are not evenly's: other libraries and, if asked for, kernels by hand."""
        ...

    def clock_of(self, contender: Contender) -> Clock:
        """Return the clock of a contender that works on the live arrays of this place."""
        ...
