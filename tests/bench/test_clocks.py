"""The clock of kernels, with a GPU that is made up."""

from __future__ import annotations

from typing import Any

from evenly.bench.gpu import KernelClock
from evenly.timing.graphs import MOST, WANTED


class Gpu:
    """The readings that it gives are listed."""

    def __init__(self, *readings: float) -> None:
        self.readings = list(readings)

    def hold(self) -> None:
        return

    def span(self, work: Any) -> float:
        work()
        return self.readings.pop(0)

    def graph(self, launches: list[Any]) -> list[Any]:
        return launches

    def brought(self, graph: Any) -> Any:
        return graph

    def replay(self, graph: Any, before: Any) -> float:
        """Replay launches of 2 us; the graph's own takes 3."""
        return 3.0 + 2.0 * len(graph)


def test_a_disturbed_reading_leaves_a_graph_of_many_runs() -> None:
    """A graph of few runs takes as long as its own launch, whatever the kernel takes."""
    gpu: Any = Gpu(900.0, 2.0, 2.1)
    clock = KernelClock(gpu, lambda: None)
    assert clock.estimate == 2
    assert len(clock.after_others) == MOST


def test_where_the_host_disturbs_every_look_replays_tell_how_many_runs_there_are() -> None:
    """A host that launches later than the GPU is held is in each of these readings, and in no replay."""
    gpu: Any = Gpu(280.0, 300.0, 260.0)
    clock = KernelClock(gpu, lambda: None)
    assert len(clock.after_others) == clock.runs == WANTED / 5  # of the first replay
    assert clock.warm() < 2.1
