"""Start launches as one CUDA graph. The driver starts the graph in half the time of a single launch.

This holds for drivers that start a chain of kernels in constant time: those of CUDA 12.6 and newer.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from .capture import outside_captures
from .prepared import Prepared, Together
from .working import Work

CONSTANT_TIME = 12_060  # the first version of the driver for which graphs are faster


class GraphedLaunches:
    """Prepared launches that are started as one graph, by one thread at a time.

    While the stream is being captured, they are launched one by one, so that they become part of the captured graph: a
    graph cannot be launched into another. They are also launched one by one if the graph cannot be started.
    """

    __slots__ = ("__weakref__", "_graph", "_prepared", "_start", "_stream")

    def __init__(self, prepared: Prepared, graph: Any) -> None:
        from cuda.bindings import driver

        self._prepared, self._graph, self._stream = prepared, graph, prepared.stream
        self._start = driver.cuGraphLaunch
        # At exit the context may already be destroyed, and the graph with it.
        weakref.finalize(self, destroy, graph).atexit = False

    @property
    def work(self) -> Work:
        return self._prepared.work

    @property
    def captured(self) -> bool:
        """Whether the stream is being captured into another graph."""
        return self._prepared.captured

    def __call__(self) -> None:
        prepared = self._prepared
        if not prepared.only_device:
            prepared.device.set_current()
        if prepared.captured:
            prepared()
            return
        (error,) = self._start(self._graph, self._stream)
        if error:
            prepared()


def graphed(prepared: Prepared) -> Callable[[], None]:
    """Return the launches as a graph. Return them unchanged if no graph can be made, or if it would not be faster."""
    made = _graph_of(prepared.items) if prepared.items and are_quicker() else None
    return prepared if made is None else GraphedLaunches(prepared, made)


def _graph_of(items: list[tuple[Any, ...]]) -> Any:
    """Make an executable graph of launches, given as cuLaunchKernel takes them. None: the driver could not make it."""
    from cuda.bindings import driver

    with outside_captures():
        error, graph = driver.cuGraphCreate(0)
        if error:
            return None
        made = None
        if add_kernels(items, graph, []) is not None:
            error, made = driver.cuGraphInstantiate(graph, 0)
            made = None if error else made
        driver.cuGraphDestroy(graph)
    return made


def add_kernels(items: list[tuple[Any, ...]], graph: Any, before: list[Any]) -> list[Any] | None:
    """Add the launches to a graph, in sequence, after the nodes `before`. Return the last node; None: an error."""
    from cuda.bindings import driver

    for item in items:
        function, *sizes, shared, _, arguments, extra = item
        node = driver.CUDA_KERNEL_NODE_PARAMS()
        node.kern = driver.CUkernel(int(function))
        node.gridDimX, node.gridDimY, node.gridDimZ = sizes[:3]
        node.blockDimX, node.blockDimY, node.blockDimZ = sizes[3:]
        node.sharedMemBytes, node.kernelParams, node.extra = shared, arguments, extra
        error, last = driver.cuGraphAddKernelNode(graph, before or None, len(before), node)
        if error or (type(item) is Together and not _together(last)):
            return None
        before = [last]
    return before


def _together(node: Any) -> bool:
    """Let all blocks of a kernel's node run at once. Return whether the driver can."""
    from cuda.bindings import driver

    value = driver.CUkernelNodeAttrValue()
    value.cooperative = 1
    which = driver.CUkernelNodeAttrID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    (error,) = driver.cuGraphKernelNodeSetAttribute(node, which, value)
    return not error


@functools.cache
def are_quicker() -> bool:
    """Whether this driver starts a graph faster than its kernels one by one."""
    from cuda.bindings import driver

    error, version = driver.cuDriverGetVersion()
    return not error and version >= CONSTANT_TIME


def destroy(handle: Any) -> None:
    from cuda.bindings import driver

    with outside_captures():
        driver.cuGraphExecDestroy(handle)
