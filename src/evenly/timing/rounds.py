"""Interleaved rounds: every contender once a round, so that whatever the machine does meets all alike."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

ROUNDS, FEWEST = 10, 3
SLOW = 10.0  # times the fastest, from which on a contender is measured in the fewest rounds only
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

    @property
    def spread(self) -> tuple[float, float]:
        """Between which of the times the median of ever more rounds would lie, with 95% (order statistics)."""
        ordered, count = sorted(self.times), len(self.times)
        outside = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
        return ordered[outside], ordered[-1 - outside]


def as_they_are(turn: int) -> None:
    """What is done to live arrays that keep their contents."""


def measure(
    clocks: Mapping[str, Clock],
    rewrite: Callable[[int], None] = as_they_are,
    deadline: float | None = None,
    fewest: int = FEWEST,
    slow: float = SLOW,
    rounds: int = ROUNDS,
) -> dict[tuple[str, str], Sample]:
    """By (name, "warm" or "flushed"): the samples of up to `rounds` rounds, each begun by another name.

    rewrite: gives the live arrays other contents, before every timed run. deadline: of
    time.monotonic(), after which no round is begun beyond the `fewest`. slow: times the fastest,
    from which on a contender gets no more than these, either.
    """
    names = list(clocks)
    seen: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds if clocks else 0):
        if turn == fewest:
            names = not_slow(clocks, best(clocks, seen), slow)
        if turn >= fewest and deadline is not None and time.monotonic() > deadline:
            break
        first = turn % len(names)
        for name in [*names[first:], *names[:first]]:
            for cache, clock in ((WARM, clocks[name].warm), (FLUSHED, clocks[name].flushed)):
                rewrite(turn)
                took = clock()
                if took is not None:
                    seen.setdefault((name, cache), []).append(took)
    return {key: Sample(tuple(times)) for key, times in seen.items()}


def best(
    clocks: Mapping[str, Clock], seen: Mapping[tuple[str, str], list[float]]
) -> dict[str, float]:
    """The least that each was seen to take, its estimate included: any one reading may be disturbed."""
    return {name: min([c.estimate, *seen.get((name, WARM), [])]) for name, c in clocks.items()}


def not_slow(clocks: Mapping[str, Clock], least: Mapping[str, float], slow: float) -> list[str]:
    """Those whose least time is not `slow` times that of the fastest with a clock of their kind."""
    fastest: dict[type, float] = {}
    for name, clock in clocks.items():
        kind = type(clock)
        fastest[kind] = min(fastest.get(kind, least[name]), least[name])
    return [name for name, c in clocks.items() if least[name] <= slow * fastest[type(c)]]


def runs_for(estimate: float, wanted: float, most: int) -> int:
    """How many launches of `estimate` microseconds make up `wanted`: 1 to `most`."""
    return max(1, min(most, round(wanted / max(estimate, 1e-3))))
