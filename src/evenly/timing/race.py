"""Find the fastest of several contenders in few rounds: who is clearly slower leaves.

The rounds are those of a race by successive halving (Jamieson, Talwalkar, "Non-stochastic Best Arm Identification and
Hyperparameter Optimization", AISTATS 2016). But intervals decide who leaves, and not a share that is fixed beforehand:
where readings repeat, three are enough, and on a busy machine nobody leaves by chance.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from .rounds import Clock, Sample

BEHIND = 1.5  # who takes so many times as long as the leader leaves after any round
SURE = 3  # readings: with fewer, intervals decide nothing
TIE = 1.02  # times the fastest: within this, it does not matter who is taken
ROUNDS = 30


def race(
    clocks: Mapping[str, Clock], deadline: float, fewest: int = SURE, rounds: int = ROUNDS
) -> dict[str, Sample]:
    """Measure clocks in up to `rounds` interleaved rounds, until it is clear which one is the fastest.

    Returns the readings of each clock; none of those that had no turn.

    deadline: of time.monotonic(). After it, nothing is read.
    fewest: the readings that each clock has before intervals decide, at least SURE.
    """
    seen: dict[str, list[float]] = {name: [] for name in clocks}
    racing = list(clocks)
    for turn in range(rounds):
        first = turn % len(racing) if racing else 0
        for name in [*racing[first:], *racing[:first]]:
            if time.monotonic() > deadline:
                return samples(seen)
            seen[name].append(clocks[name].warm())
        racing = _left(racing, clocks, seen, max(fewest, SURE))
        if _decided(racing, seen, max(fewest, SURE)):
            break
    return samples(seen)


def samples(seen: Mapping[str, list[float]]) -> dict[str, Sample]:
    return {name: Sample(tuple(times)) for name, times in seen.items() if times}


def _left(
    racing: list[str], clocks: Mapping[str, Clock], seen: Mapping[str, list[float]], fewest: int
) -> list[str]:
    """Return who may still be the fastest.

    With few readings, estimates count as well, and the best of a clock is held against the worst of the leader, since
    any one may be disturbed.
    """
    known = {name: [clocks[name].estimate, *seen[name]] for name in racing}
    leader = min(racing, key=lambda name: min(known[name]), default="")
    near = [n for n in racing if min(known[n]) <= BEHIND * max(known[leader])]
    ready = {n: Sample(tuple(seen[n])) for n in near if len(seen[n]) >= fewest}
    if not ready:
        return near
    _, latest = min(ready.values(), key=lambda sample: sample.median).spread
    return [n for n in near if n not in ready or ready[n].spread[0] <= latest]


def _decided(racing: list[str], seen: Mapping[str, list[float]], fewest: int) -> bool:
    """Whether those that are left are surely about as fast as each other."""
    if any(len(seen[name]) < fewest for name in racing):
        return False
    if len(racing) < 2:
        return True
    spreads = [Sample(tuple(seen[name])).spread for name in racing]
    return max(late for _, late in spreads) <= TIE * min(early for early, _ in spreads)
