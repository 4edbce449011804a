"""A stand-in for cuda.core: streams, graphs and events whose clock runs by what kernels say they take."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class Gpu:
    """`now`: its clock, in milliseconds. `seen`: what it ran, by name, in order."""

    def __init__(self) -> None:
        self.now, self.seen, self.synced = 0.0, [], 0
        self.EventOptions = lambda timing_enabled: SimpleNamespace(timing=timing_enabled)

    def Device(self) -> Any:
        return SimpleNamespace(sync=self.sync, create_stream=lambda: Stream(self))

    def sync(self) -> None:
        self.synced += 1

    def launch(self, stream: Any, config: Any, kernel: Any, *arguments: Any) -> None:
        assert arguments == config.expected
        stream.add(kernel)


class Stream:
    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu

    def add(self, kernel: Any) -> None:
        self.gpu.now += kernel.us / 1e3
        self.gpu.seen.append(kernel.name)

    def create_graph_builder(self) -> Builder:
        return Builder(self)

    def record(self, options: Any) -> Event:
        assert options.timing
        return Event(self.gpu.now)


class Event:
    def __init__(self, at: float) -> None:
        self.at, self.waited = at, False

    def sync(self) -> None:
        self.waited = True

    def __sub__(self, other: Event) -> float:
        assert self.waited
        return self.at - other.at


class Builder:
    """Notes what is captured; it runs when the graph is launched."""

    def __init__(self, stream: Stream) -> None:
        self.work: list[Any] = []
        self.building = False

    def begin_building(self) -> Builder:
        self.building = True
        return self

    def add(self, kernel: Any) -> None:
        assert self.building
        self.work.append(kernel)

    def end_building(self) -> Builder:
        self.building = False
        return self

    def complete(self) -> Any:
        def launch(stream: Stream) -> None:
            for kernel in self.work:
                stream.add(kernel)

        return SimpleNamespace(launch=launch, work=self.work)


def kernel(name: str, us: float) -> Any:
    """A launch of a kernel that takes `us` microseconds."""
    return SimpleNamespace(
        config=SimpleNamespace(expected=(name, 1)),
        kernel=SimpleNamespace(name=name, us=us),
        arguments=(name, 1),
    )
