"""Interleaved rounds: every contender once a round, so that whatever the machine does meets all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

ROUNDS, FEWEST = 10, 3
SLOW = 10  # times the fastest, from which on a contender is measured in the fewest rounds only
WARM, FLUSHED = "warm", "flushed"


class Clock(Protocol):
    """One contender's. `estimate`: about the microseconds of one launch."""

    estimate: float

    def warm(self) -> float:
        """Microseconds of a launch that follows others of its kind."""
        ...

    def flushed(self) -> float | None:
        """The same with nothing of it in the L2 cache; None where that is not measured."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """Microseconds of a launch in each round."""

    times: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.times)


def measure(
    clocks: Mapping[str, Clock], rewrite: Callable[[int], None], deadline: float | None = None
) -> dict[tuple[str, str], Sample]:
    """By (name, "warm" or "flushed"): the samples of up to ROUNDS rounds, each begun by another name.

    rewrite: gives the live arrays other contents, before every timed run. deadline: of
    time.monotonic(), after which no round is begun beyond the FEWEST.
    """
    names = list(clocks)
    seen: dict[tuple[str, str], list[float]] = {}
    for turn in range(ROUNDS if clocks else 0):
        if turn == FEWEST:
            names = not_slow(clocks)
        if turn >= FEWEST and deadline is not None and time.monotonic() > deadline:
            break
        first = turn % len(names)
        for name in [*names[first:], *names[:first]]:
            for cache, clock in ((WARM, clocks[name].warm), (FLUSHED, clocks[name].flushed)):
                rewrite(turn)
                took = clock()
                if took is not None:
                    seen.setdefault((name, cache), []).append(took)
    return {key: Sample(tuple(times)) for key, times in seen.items()}


def not_slow(clocks: Mapping[str, Clock]) -> list[str]:
    """Those that are not SLOW times behind the fastest with a clock of their kind."""
    fastest: dict[type, float] = {}
    for clock in clocks.values():
        kind = type(clock)
        fastest[kind] = min(fastest.get(kind, clock.estimate), clock.estimate)
    return [name for name, c in clocks.items() if c.estimate <= SLOW * fastest[type(c)]]


def runs_for(estimate: float, wanted: float, most: int) -> int:
    """How many launches of `estimate` microseconds make up `wanted`: 1 to `most`."""
    return max(1, min(most, round(wanted / max(estimate, 1e-3))))


class CallClock:
    """The wall clock around whole calls, each one waited for."""

    WANTED, MOST = 2000.0, 20

    def __init__(self, call: Callable[[], object], wait: Callable[[], None]) -> None:
        self.call, self.wait = call, wait
        self.runs = 1
        self.warm()
        self.estimate = self.warm()
        self.runs = runs_for(self.estimate, self.WANTED, self.MOST)

    def warm(self) -> float:
        """Microseconds of a call."""
        self.call()
        self.wait()
        start = time.perf_counter()
        for _ in range(self.runs):
            self.call()
            self.wait()
        return (time.perf_counter() - start) * 1e6 / self.runs

    def flushed(self) -> None:
        """Not measured: the caches of a host are not ours to empty."""
        return
