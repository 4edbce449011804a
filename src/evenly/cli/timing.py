"""How long a run takes: medians of interleaved runs, after one that warms up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

Clock = Callable[[], float]  # does one run and returns its milliseconds

IN_A_GRAPH = 10  # runs measured together on a GPU, whose events resolve half a microsecond


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


class DeviceClock:
    """The GPU's own clock around the launches of a plan, replayed as a CUDA graph.

    So the time is that of the kernels, not of Python, which launches them. The plan's own
    output is written over and over.
    """

    def __init__(self, plan: Any) -> None:
        import cuda.core as core

        launches = plan.launches
        device = core.Device()
        device.sync()
        self.keep = plan, launches
        self.stream = device.create_stream()
        self.timed = core.EventOptions(timing_enabled=True)
        builder = self.stream.create_graph_builder().begin_building()
        for _ in range(IN_A_GRAPH):
            for item in launches:
                core.launch(builder, item.config, item.kernel, *item.arguments)
        self.graph = builder.end_building().complete() if launches else None

    def __call__(self) -> float:
        if self.graph is None:  # a matrix without rows
            return 0.0
        start = self.stream.record(options=self.timed)
        self.graph.launch(self.stream)
        stop = self.stream.record(options=self.timed)
        stop.sync()
        return float(stop - start) / IN_A_GRAPH
