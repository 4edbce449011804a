"""The clock of kernels, with a GPU that is made up."""

from __future__ import annotations

from typing import Any

from evenly.bench.gpu import KernelClock
from evenly.timing.graphs import MOST


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


def test_a_disturbed_reading_leaves_a_graph_of_many_runs() -> None:
    """A graph of few runs takes as long as its own launch, whatever the kernel takes."""
    gpu: Any = Gpu(900.0, 2.0, 2.1)
    clock = KernelClock(gpu, lambda: None)
    assert clock.estimate == 2
    assert len(clock.after_others) == MOST
