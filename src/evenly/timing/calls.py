"""The host's clock around whole calls."""

from __future__ import annotations

import time
from collections.abc import Callable

from .rounds import runs_for

WANTED, MOST = 2000.0, 20  # a reading: about so many microseconds, at most so many calls
LOOKS = 3  # calls for the first estimate; the shortest counts, since any may be disturbed


def nothing() -> None:
    """Do nothing."""


class CallClock:
    """A wall clock around whole calls.

    wait: waits until a call's work is done; this is timed. before: prepares a call; this is not timed.
    """

    def __init__(
        self,
        call: Callable[[], object],
        wait: Callable[[], object] = nothing,
        before: Callable[[], object] = nothing,
    ) -> None:
        self.call, self.wait, self.before = call, wait, before
        self.estimate = min(self.once() for _ in range(LOOKS)) * 1e6
        self.runs = runs_for(self.estimate, WANTED, MOST)

    def once(self) -> float:
        """Time one call, in seconds."""
        self.before()
        start = time.perf_counter()
        self.call()
        self.wait()
        return time.perf_counter() - start

    def warm(self) -> float:
        """Time a call that follows others, in microseconds."""
        self.once()
        return sum(self.once() for _ in range(self.runs)) * 1e6 / self.runs

    def flushed(self) -> None:
        """Return None: a program cannot empty the caches of the host."""
        return
