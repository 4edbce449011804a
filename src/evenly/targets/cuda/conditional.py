"""Launches in a CUDA graph, in sequence, with a conditional node for each loop around some of them (CUDA 12.4).

The graph may be one of evenly's own, or the one that a stream is being captured into. A loop goes on while a kernel of
its last phase says so (`ev::another_round`). Its node has several rounds, since a kernel that follows another starts
sooner than a round of the node: of a round that is not wanted any more, each kernel returns at once.

Source: conditional nodes in the CUDA programming guide; `capture_while` of NVIDIA Warp.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.errors import InternalError
from evenly.language import ir
from evenly.language.phases import Loop

from .capture import outside_captures
from .graph import add_kernels
from .prepared import packed

DRIVER = 12_040  # the first version of the driver that has conditional nodes of the kind "while"
NVRTC = (12, 4)  # and of the compiler that knows how kernels set their conditions
AT_ONCE = 4  # rounds of a node


@dataclass(frozen=True, slots=True)
class Node:
    """A launch as cuLaunchKernel takes it, and its arguments. handle: which of them is a condition's; -1: none."""

    item: tuple[Any, ...]
    arguments: tuple[Any, ...]
    handle: int
    decides: ir.Array | None


Nodes = Mapping[int, Sequence[Node]]  # by the number of the phase with which they are launched
Handles = Mapping[ir.Array, Any]


def graph_of(nodes: Nodes, parts: Sequence[int | Loop]) -> Any:
    """Make an executable graph of phases and loops, in order."""
    from cuda.bindings import driver

    with outside_captures():
        graph = _checked(driver.cuGraphCreate(0))
        try:
            add_phases(graph, [], nodes, parts)
            return _checked(driver.cuGraphInstantiate(graph, 0))
        finally:
            driver.cuGraphDestroy(graph)


def capture(stream: Any, nodes: Nodes, parts: Sequence[int | Loop]) -> None:
    """Add phases and loops to the graph that a stream is being captured into, after what it has captured."""
    from cuda.bindings import driver

    _, _, graph, before, *_ = _checked(driver.cuStreamGetCaptureInfo(stream))
    last = add_phases(graph, list(before), nodes, parts)
    flag = driver.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
    given = (stream, last, *_edges(), len(last), int(flag))
    _checked(driver.cuStreamUpdateCaptureDependencies(*given))


def add_phases(
    graph: Any,
    before: list[Any],
    nodes: Nodes,
    parts: Sequence[int | Loop],
    handles: Handles | None = None,
) -> list[Any]:
    """Add phases and loops to a graph, after the nodes `before`. Return the last node, or `before` if there is none.

    handles: those of the conditions of the loops around them.
    """
    loops = (part for part in parts if isinstance(part, Loop))
    known = {**(handles or {}), **{loop.condition: _new_handle(graph) for loop in loops}}
    for part in parts:
        if isinstance(part, Loop):
            before = _add_loop(graph, before, nodes, part, known)
        else:
            before = _add_launches(graph, before, nodes.get(part, ()), known)
    return before


def _add_loop(
    graph: Any, before: list[Any], nodes: Nodes, loop: Loop, handles: Handles
) -> list[Any]:
    from cuda.bindings import driver

    params = driver.CUgraphNodeParams()
    params.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
    params.conditional.handle = handles[loop.condition]
    params.conditional.type = driver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE
    params.conditional.size = 1
    params.conditional.ctx = _checked(driver.cuCtxGetCurrent())
    given = (before or None, *_edges(), len(before))
    node = _checked(driver.cuGraphAddNode(graph, *given, params))
    body = params.conditional.phGraph_out[0]
    last: list[Any] = []
    for _ in range(rounds_of(loop)):
        last = add_phases(body, last, nodes, loop.body, handles)
    return [node]


def rounds_of(loop: Loop) -> int:
    """Return how many rounds its node has: one if there are loops in it, since these do not look at its condition."""
    return 1 if any(isinstance(part, Loop) for part in loop.body) else AT_ONCE


def _add_launches(
    graph: Any, before: list[Any], launches: Sequence[Node], handles: Handles
) -> list[Any]:
    for launch in launches:
        item, kept = launch.item, None  # until the node is made, which copies the arguments
        if launch.decides is not None and launch.handle >= 0:
            values = list(launch.arguments)
            values[launch.handle] = np.uint64(int(handles[launch.decides]))
            kept = packed(tuple(values))
            item = (*item[:-2], kept[2], item[-1])  # one block decides
        found = add_kernels([item], graph, before)
        if found is None:
            raise InternalError("a kernel could not be added to a CUDA graph")
        before = found
    return before


def _new_handle(graph: Any) -> Any:
    from cuda.bindings import driver

    context = _checked(driver.cuCtxGetCurrent())
    return _checked(driver.cuGraphConditionalHandleCreate(graph, context, 0, 0))


def _edges() -> tuple[None, ...]:
    """Return the argument for the data of edges, which the functions of CUDA 13 take and those of CUDA 12 do not."""
    from cuda.bindings import driver

    return (None,) if driver.CUDA_VERSION >= 13_000 else ()


def _checked(made: tuple[Any, ...]) -> Any:
    """Return what a function of the driver returned, without the error. Raises InternalError if there is one."""
    error, *results = made
    if error:
        raise InternalError(f"a CUDA graph with loops could not be made: {error.name}")
    return results[0] if len(results) == 1 else results


@functools.cache
def are_possible() -> bool:
    """Whether this driver and this compiler can make a graph with loops."""
    from cuda.bindings import driver, nvrtc

    error, version = driver.cuDriverGetVersion()
    wrong, *compiler = nvrtc.nvrtcVersion()
    made_for = driver.CUDA_VERSION  # of the bindings
    old = min(version, made_for) < DRIVER or tuple(compiler) < NVRTC
    return not (error or wrong or old)
