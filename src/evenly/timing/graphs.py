"""The GPU's own clock around launches in replayed graphs: the time of the kernels, without Python's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .rounds import runs_for

WANTED, MOST = 300.0, 100  # microseconds in a graph, launches in it
LOOKS = 2  # readings at first: the better one is the estimate, since any may be disturbed
RESOLVED = 0.5  # microseconds that events tell apart: no difference of times is less

Restore = Callable[[Any], object]


class GraphClock:
    """Launches of a plan (`plan.launches`) on the current device, over and over, on a stream of their own.

    What they read must be there: the clock waits for the device before it starts. Needs cuda.core alone.

    restore: called with a stream or a graph's builder, gives the launches the contents that they
      are to find, before each of them; it is measured by itself, and subtracted.
    """

    def __init__(self, launches: list[Any], restore: Restore | None = None) -> None:
        self.launches, self.restore = launches, restore
        self.core = importlib.import_module("cuda.core")
        device = self.core.Device()
        device.sync()
        self.stream = device.create_stream()
        self.timed = self.core.EventOptions(timing_enabled=True)
        self.runs, self.estimate = 1, 0.0
        self._build()
        self.estimate = min(self.warm() for _ in range(LOOKS))
        self.runs = runs_for(self.estimate, WANTED, MOST)
        if self.runs > 1:
            self._build()

    def warm(self) -> float:
        """Microseconds of all launches, following others of their kind; 0 where there are none."""
        if not self.launches:
            return 0.0
        taken = self._replay(self._both)
        if self._alone is not None:
            taken = max(taken - self._replay(self._alone), RESOLVED)
        return taken / self.runs

    def flushed(self) -> None:
        """Not measured: nothing here empties the GPU's caches."""
        return

    # ---- graphs ----------------------------------------------------------------------------------
    def _build(self) -> None:
        self._both = self._graph(self._restore_and_launch) if self.launches else None
        self._alone = self._graph(self.restore) if self.launches and self.restore else None

    def _restore_and_launch(self, builder: Any) -> None:
        if self.restore is not None:
            self.restore(builder)
        for item in self.launches:
            self.core.launch(builder, item.config, item.kernel, *item.arguments)

    def _graph(self, work: Restore) -> Any:
        """`runs` times the work, one after another."""
        builder = self.stream.create_graph_builder().begin_building()
        for _ in range(self.runs):
            work(builder)
        return builder.end_building().complete()

    def _replay(self, graph: Any) -> float:
        """Microseconds of a graph by the GPU's clock.

        It is launched twice: the first one keeps the GPU busy, and its caches warm, while the host
        gets ahead, so that the second starts as soon as the clock does.
        """
        graph.launch(self.stream)
        start = self.stream.record(options=self.timed)
        graph.launch(self.stream)
        stop = self.stream.record(options=self.timed)
        stop.sync()
        return float(stop - start) * 1e3
