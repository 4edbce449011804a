"""Calls whose first launch on a stream is inside a capture, and what a captured graph keeps alive."""

from __future__ import annotations

import gc
import time
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.generators import rmat
from evenly.targets.cuda import retained
from tests.gpu.arguments import arguments
from tests.kernels import spmv

pytestmark = pytest.mark.gpu

# With scratch memory, with cells that are zero at first, with both.
SCHEDULES = [ev.MergePath(block=64, items=3), ev.DynamicChunks(4, 8), ev.Lrb(), ev.WorkOriented()]


def problem() -> tuple[Any, Any, Any, Any]:
    matrix = rmat(12)
    cupy, A, x, y = arguments(matrix)
    x[:] = cupy.asarray(np.random.default_rng(0).random(len(x), dtype=np.float32))
    return cupy, A, x, y


def replayed(cupy: Any, graph: Any, stream: Any, y: Any) -> list[bytes]:
    """What y holds after each of some launches of a graph."""
    found = []
    for _ in range(3):
        y.fill(cupy.nan)
        cupy.cuda.Device().synchronize()
        graph.launch(stream)
        stream.synchronize()
        found.append(y.get().tobytes())
    return found


@pytest.mark.parametrize("mode", ["Global", "ThreadLocal", "Relaxed"])
@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_the_first_call_on_a_stream_is_captured(schedule: Any, blocking: bool, mode: str) -> None:
    cupy, A, x, y = problem()
    plan = spmv.plan(A, x, y, schedule=schedule)
    plan(A, x, y)
    expected = y.get().tobytes()
    stream = cupy.cuda.Stream(non_blocking=not blocking)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture(getattr(cupy.cuda.runtime, f"streamCaptureMode{mode}"))
        plan(A, x, y)
        plan(A, x, y)
        graph = stream.end_capture()
    assert replayed(cupy, graph, stream, y) == [expected] * 3


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_a_call_is_bound_while_its_stream_is_captured(schedule: Any) -> None:
    """With the driver's functions alone."""
    driver = pytest.importorskip("cuda.bindings.driver")
    cupy, A, x, y = problem()
    plan = spmv.plan(A, x, y, schedule=schedule)
    plan(A, x, y)
    expected = y.get().tobytes()
    _, stream = driver.cuStreamCreate(int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    cupy.cuda.Device().synchronize()
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    assert not any(driver.cuStreamBeginCapture(stream, mode))
    with plan.bind(A, x, y, stream=int(stream)) as call:
        call()
    error, graph = driver.cuStreamEndCapture(stream)
    assert not error
    error, made = driver.cuGraphInstantiate(graph, 0)
    assert not error
    y.fill(cupy.nan)
    cupy.cuda.Device().synchronize()
    driver.cuGraphLaunch(made, stream)
    driver.cuStreamSynchronize(stream)
    assert y.get().tobytes() == expected  # the call is closed: the graph has kept its memory
    driver.cuGraphExecDestroy(made)
    driver.cuGraphDestroy(graph)
    driver.cuStreamDestroy(stream)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_a_graph_keeps_memory_and_kernels_and_then_lets_go_of_them(schedule: Any) -> None:
    cupy, A, x, y = problem()
    plan = spmv.plan(A, x, y, schedule=schedule)
    plan(A, x, y)
    expected = y.get().tobytes()
    retained.let_go()
    before = set(retained._held)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        plan(A, x, y)
        graph = stream.end_capture()
    del plan
    gc.collect()
    others = [cupy.full(1 << n, 255, np.uint8) for n in range(8, 24)]  # where the memory would be
    assert replayed(cupy, graph, stream, y) == [expected] * 3
    (mine,) = set(retained._held) - before
    del graph, others
    gc.collect()
    until = time.monotonic() + 5
    while time.monotonic() < until and mine in retained._held:
        retained.let_go()  # the driver says so on a thread of its own
        time.sleep(0.01)
    assert mine not in retained._held
