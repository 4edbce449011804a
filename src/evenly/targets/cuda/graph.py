"""Launches as one CUDA graph: the driver starts all of them in half the time that it takes for one by itself.

Which holds of drivers that start kernels in a row in constant time, those of CUDA 12.6 and newer.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

from .capture import outside_captures

CONSTANT_TIME = 12_060  # the driver's version from which on graphs are quicker, as it says it


class LaunchGraph:
    """Launches that are started together. handle: the driver's graph of them, destroyed with the last reference."""

    __slots__ = ("__weakref__", "handle")

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        # At exit the context may be gone before: then there is nothing left to destroy.
        weakref.finalize(self, _destroy, handle).atexit = False


def graph_of(items: list[tuple[Any, ...]]) -> LaunchGraph | None:
    """A graph of launches, which are given as cuLaunchKernel takes them; None where there is none that is quicker."""
    if not are_quicker():
        return None
    from cuda.bindings import driver

    with outside_captures():
        error, graph = driver.cuGraphCreate(0)
        if error:
            return None
        made = None
        if _add(items, graph):
            error, made = driver.cuGraphInstantiate(graph, 0)
            made = None if error else made
        driver.cuGraphDestroy(graph)
    return None if made is None else LaunchGraph(made)


def _add(items: list[tuple[Any, ...]], graph: Any) -> bool:
    """Add the launches, one after the other; whether all could be."""
    from cuda.bindings import driver

    before: list[Any] = []
    for function, *sizes, shared, _, arguments, extra in items:
        node = driver.CUDA_KERNEL_NODE_PARAMS()
        node.kern = driver.CUkernel(int(function))
        node.gridDimX, node.gridDimY, node.gridDimZ = sizes[:3]
        node.blockDimX, node.blockDimY, node.blockDimZ = sizes[3:]
        node.sharedMemBytes, node.kernelParams, node.extra = shared, arguments, extra
        error, last = driver.cuGraphAddKernelNode(graph, before or None, len(before), node)
        if error:
            return False
        before = [last]
    return True


@functools.cache
def are_quicker() -> bool:
    """Whether a graph starts in less time than its kernels by themselves, with this driver."""
    from cuda.bindings import driver

    error, version = driver.cuDriverGetVersion()
    return not error and version >= CONSTANT_TIME


def _destroy(handle: Any) -> None:
    from cuda.bindings import driver

    with outside_captures():
        driver.cuGraphExecDestroy(handle)
