"""Measure contenders in interleaved rounds: each runs once a round, so that other load affects all alike."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

ROUNDS, FEWEST = 10, 3
SLOW = (
    10.0  # a contender that takes so many times as long as the fastest gets only the fewest rounds
)
WARM, FLUSHED = "warm", "flushed"


class Clock(Protocol):
    """The clock of one contender. estimate: about the microseconds of one launch."""

    estimate: float

    def warm(self) -> float:
        """Time a launch that follows others of the same contender, in microseconds."""
        ...

    def flushed(self) -> float | None:
        """Time a launch whose data are not in the L2 cache, in microseconds. None: not measured."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """The time of a launch in each round, in microseconds."""

    times: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def spread(self) -> tuple[float, float]:
        """The 95% confidence interval of the median, by order statistics: two of the times."""
        ordered, count = sorted(self.times), len(self.times)
        outside = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
        return ordered[outside], ordered[-1 - outside]


def as_they_are(turn: int) -> None:
    """Do nothing: the live arrays keep their contents."""


def measure(
    clocks: Mapping[str, Clock],
    rewrite: Callable[[int], None] = as_they_are,
    deadline: float | None = None,
    fewest: int = FEWEST,
    rounds: int = ROUNDS,
    flushed: bool = True,
) -> dict[tuple[str, str], Sample]:
    """Measure all clocks in up to `rounds` rounds. Returns samples by (name, "warm" or "flushed").

    Each round begins with another clock.

    rewrite: gives the live arrays other contents; called with the round before every timed run.
    deadline: of time.monotonic(). After it, no round begins once there are `fewest`.
    flushed: whether launches whose data are not in the L2 cache are timed, too.

    A contender that takes more than SLOW times as long as the fastest gets `fewest` rounds only.
    """
    names = list(clocks)
    seen: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds if clocks else 0):
        if turn == fewest:
            names = not_slow(clocks, best(clocks, seen), SLOW)
        if turn >= fewest and deadline is not None and time.monotonic() > deadline:
            break
        first = turn % len(names)
        for name in [*names[first:], *names[:first]]:
            both = (WARM, clocks[name].warm), (FLUSHED, clocks[name].flushed)
            for cache, clock in both if flushed else both[:1]:
                rewrite(turn)
                took = clock()
                if took is not None:
                    seen.setdefault((name, cache), []).append(took)
    return {key: Sample(tuple(times)) for key, times in seen.items()}


def best(
    clocks: Mapping[str, Clock], seen: Mapping[tuple[str, str], list[float]]
) -> dict[str, float]:
    """Return the shortest time of each clock, its estimate included, since any one reading may be disturbed."""
    return {name: min([c.estimate, *seen.get((name, WARM), [])]) for name, c in clocks.items()}


def not_slow(clocks: Mapping[str, Clock], least: Mapping[str, float], slow: float) -> list[str]:
    """Return the names whose `least` time is at most `slow` times the least among clocks of the same class."""
    fastest: dict[type, float] = {}
    for name, clock in clocks.items():
        kind = type(clock)
        fastest[kind] = min(fastest.get(kind, least[name]), least[name])
    return [name for name, c in clocks.items() if least[name] <= slow * fastest[type(c)]]


def runs_for(estimate: float, wanted: float, most: int) -> int:
    """Return how many launches of `estimate` microseconds take `wanted` together: 1 to `most`."""
    return max(1, min(most, round(wanted / max(estimate, 1e-3))))


def far_more(runs: int, than: int) -> bool:
    """Whether a graph of `than` runs should have `runs`: in one that is far too short, its own launch counts."""
    return runs > 2 * than
