"""Launches whose every argument is known, as the driver takes them: a call costs little more than the driver's."""

from __future__ import annotations

import ctypes
import functools
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.errors import InternalError
from evenly.interop.context import make_current

from .capture import may_be_captured
from .compile import require
from .graph import LaunchGraph, graph_of

if TYPE_CHECKING:
    from .executable import Launch


OFTEN = 16  # calls, from which on making a graph of the launches (some 80 us) has paid soon


class Prepared:
    """Launches on one stream, one after another. Calling it launches them; safe from several threads.

    It holds the scratch memory that they use, and not the arrays: whoever calls it has those.
    Once it has been called often, they are launched as one graph, but while the stream is captured: into a graph
    of somebody else no graph can be launched.
    turn: taken while several are launched, so that another thread's do not come between them:
    they share the scratch memory of the stream. One by itself has a lock of its own, for its graph, which one thread
    may launch at a time; who finds it taken, and be it a signal's handler in that thread, launches the kernel.
    """

    __slots__ = (
        "_arguments", "_calls", "_device", "_graph", "_items", "_kept", "_launch", "_only", "_start",
        "_status", "_stream", "_turn",
    )  # fmt: skip

    def __init__(self, launches: list[Launch], device: Any, stream: Any, turn: Lock) -> None:
        from cuda.bindings import driver

        self._only = only_one_device()
        self._launch, self._start = driver.cuLaunchKernel, driver.cuGraphLaunch
        self._device = device
        self._turn = turn if len(launches) > 1 else Lock()
        handle = int(stream.handle)
        self._stream = driver.CUstream(handle)
        self._status = driver.cuStreamIsCapturing if may_be_captured(handle) else None
        self._graph: LaunchGraph | None = None
        self._calls = 0
        self._kept = [(item.memory[0], item.kernel) for item in launches]
        self._arguments = [packed(item.arguments) for item in launches]
        self._items = [
            (
                driver.CUfunction(int(item.kernel.handle)),
                *item.grid,
                *item.block,
                0,
                self._stream,
                addresses,
                0,
            )
            for item, (_, _, addresses) in zip(launches, self._arguments, strict=True)
        ]

    def __call__(self) -> None:
        if not self._only:
            self._device.set_current()
        graph = self._graph
        if graph is None or (self._status is not None and any(self._status(self._stream))):
            self._one_by_one()
        elif self._turn.acquire(len(self._items) > 1):
            try:
                (error,) = self._start(graph.handle, self._stream)
            finally:
                self._turn.release()
            if error:
                make_current(self._device)  # most often a thread that has no context yet
                self._one_by_one()
        else:
            self._one_by_one()

    def _one_by_one(self) -> None:
        if len(self._items) == 1:
            self._launch_in_order()
        else:
            with self._turn:
                self._launch_in_order()
        calls = self._calls = self._calls + 1  # of several threads at least one comes by OFTEN
        if calls == OFTEN:
            # A thread without a context can launch kernels on a stream, but make no graph of them.
            make_current(self._device)
            self._graph = graph_of(self._items)

    def _launch_in_order(self) -> None:
        for item in self._items:
            (error,) = self._launch(*item)
            if error:
                # Most often a thread that has no context yet.
                self._device.set_current()
                (error,) = self._launch(*item)
                if error:
                    raise InternalError(f"a kernel could not be launched: {error.name}")


@functools.cache
def only_one_device() -> bool:
    return len(require().Device.get_all_devices()) == 1


def packed(arguments: tuple[Any, ...]) -> tuple[Any, Any, int]:
    """Arguments as the driver wants them: the values, the array of their addresses, and where that is."""
    values = (ctypes.c_int64 * max(2 * len(arguments), 1))()  # 16 bytes each, as complex128 needs
    start = ctypes.addressof(values)
    for i, value in enumerate(arguments):
        if isinstance(value, np.generic):
            ctypes.memmove(start + 16 * i, value.tobytes(), value.itemsize)
        else:
            values[2 * i] = value
    addresses = (ctypes.c_void_p * max(len(arguments), 1))(
        *(start + 16 * i for i in range(len(arguments)))
    )
    return values, addresses, ctypes.addressof(addresses)
