"""Time kernels with GPU events around replayed CUDA graphs, so that Python's own time is not counted."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .rounds import far_more, runs_for

WANTED, MOST = 300.0, 100  # a graph takes about so many microseconds, of at most so many runs
LOOKS = (
    2,
    6,
)  # readings for the first estimate, and those of short launches. The least counts: any may be disturbed
RESOLVED = 0.5  # the resolution of GPU events in microseconds: no result is less

Restore = Callable[[Any], object]


class GraphClock:
    """A clock that repeats the launches of a plan (`plan.launches`) on the current device.

    They run on a stream of the clock's own. It waits for the device before it starts, so that
    what the launches read has been written. Needs only cuda.core.

    restore: called with a stream or a graph builder, puts back the contents that the launches
      need to find, before each run. Its time is measured separately and subtracted.
    """

    def __init__(self, launches: list[Any], restore: Restore | None = None) -> None:
        self.launches, self.restore = launches, restore
        self.core = importlib.import_module("cuda.core")
        device = self.core.Device()
        device.sync()
        self.stream = device.create_stream()
        self.timed = self.core.EventOptions(timing_enabled=True)
        self.runs, self.estimate = 1, 0.0
        self._built = 0  # runs of the graphs; those of many runs are made when they are wanted
        self.estimate = self._estimated()
        self.runs = runs_for(self.estimate, WANTED, MOST)

    def _estimated(self) -> float:
        """Return about the microseconds of one run: if far too many, graphs would have few runs, and readings more."""
        fewest, most = LOOKS
        found = [self._read() for _ in range(fewest)]
        while len(found) < most and sum(found) < WANTED:
            found.append(self._read())
        return min(found)

    def warm(self) -> float:
        """Time one run of all launches that follows others, in microseconds; 0 if there are none.

        A reading that shows that all looks were disturbed is taken again, with more runs in the graph.
        """
        taken = self._read()
        runs = runs_for(taken, WANTED, MOST)
        if far_more(runs, self.runs):
            self.runs = runs
            taken = self._read()
        return taken

    def _read(self) -> float:
        if not self.launches:
            return 0.0
        if self._built != self.runs:
            self._build()
        taken = self._replay(self._both)
        if self._alone is not None:
            taken = max(taken - self._replay(self._alone), RESOLVED)
        return taken / self.runs

    def flushed(self) -> None:
        """Return None: this clock does not empty the GPU's caches."""
        return

    # ---- graphs ----------------------------------------------------------------------------------
    def _build(self) -> None:
        self._built = self.runs
        self._both = self._graph(self._restore_and_launch)
        self._alone = self._graph(self.restore) if self.restore else None

    def _restore_and_launch(self, builder: Any) -> None:
        if self.restore is not None:
            self.restore(builder)
        for item in self.launches:
            self.core.launch(builder, item.config, item.kernel, *item.arguments)

    def _graph(self, work: Restore) -> Any:
        """Make a graph that does the work `runs` times in sequence."""
        builder = self.stream.create_graph_builder().begin_building()
        for _ in range(self.runs):
            work(builder)
        return builder.end_building().complete()

    def _replay(self, graph: Any) -> float:
        """Time one replay of a graph, in microseconds.

        The graph is launched twice, and the second is timed. The first warms the caches and keeps
        the GPU busy until the host has launched the second, so that it starts with the clock.
        """
        graph.launch(self.stream)
        start = self.stream.record(options=self.timed)
        graph.launch(self.stream)
        stop = self.stream.record(options=self.timed)
        stop.sync()
        return float(stop - start) * 1e3
