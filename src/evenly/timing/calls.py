"""The host's clock around whole calls."""

from __future__ import annotations

import time
from collections.abc import Callable

from .rounds import runs_for

WANTED, MOST = 2000.0, 20  # microseconds of calls that a reading takes together, calls in it
LOOKS = 3  # calls at first: the best of them is the estimate, since the first warms up, and any may be disturbed


def nothing() -> None:
    """What comes before calls that need nothing."""


class CallClock:
    """The wall clock around whole calls, each one waited for.

    before: what each call needs to find done, outside of what is timed.
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
        """Seconds of one call."""
        self.before()
        start = time.perf_counter()
        self.call()
        self.wait()
        return time.perf_counter() - start

    def warm(self) -> float:
        """Microseconds of a call that follows others."""
        self.once()
        return sum(self.once() for _ in range(self.runs)) * 1e6 / self.runs

    def flushed(self) -> None:
        """Not measured: the caches of a host are not ours to empty."""
        return
