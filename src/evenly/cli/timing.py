"""Measure how long a run takes: the median of interleaved runs, after one to warm up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from evenly.timing.graphs import GraphClock

Clock = Callable[[], float]  # runs once and returns milliseconds


def medians(clocks: Mapping[str, Clock], repeat: int) -> dict[str, float]:
    """Return the median of `repeat` runs of each clock, in milliseconds, by name.

    The runs are interleaved, and each round begins with another name, so that other load
    on the machine affects all of them alike.
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
    """Return a wall clock around a call. The call must return when its work is done."""

    def clock() -> float:
        start = time.perf_counter()
        run()
        return (time.perf_counter() - start) * 1e3

    return clock


def device_clock(plan: Any) -> Clock:
    """Return a clock that times the launches of a plan with GPU events. Each run overwrites the plan's output."""
    clock = GraphClock(plan.launches)
    return lambda: clock.warm() / 1e3
