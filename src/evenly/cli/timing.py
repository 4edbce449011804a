"""How long a run takes: medians of interleaved runs, after one that warms up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from evenly.timing.graphs import GraphClock

Clock = Callable[[], float]  # does one run and returns its milliseconds


def medians(clocks: Mapping[str, Clock], repeat: int) -> dict[str, float]:
    """Milliseconds by name: the median of `repeat` runs of each.

    The runs are interleaved, each round beginning with another name, so that whatever
    else the machine does meets all of them alike.
    """
    names = list(clocks)
    for name in names:
        clocks[name]()
    seen: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeat):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            seen[name].append(clocks[name]())
    return {name: statistics.median(times) for name, times in seen.items()}


def host_clock(run: Callable[[], object]) -> Clock:
    """The wall clock around a call that returns when its work is done."""

    def clock() -> float:
        start = time.perf_counter()
        run()
        return (time.perf_counter() - start) * 1e3

    return clock


def device_clock(plan: Any) -> Clock:
    """The GPU's own clock around the launches of a plan, whose own output is written over and over."""
    clock = GraphClock(plan.launches)
    return lambda: clock.warm() / 1e3
