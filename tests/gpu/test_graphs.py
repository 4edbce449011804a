"""Calls that are launched as a graph, from the OFTEN-th on, and what others capture meanwhile."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.generators import rmat
from evenly.targets.cuda.prepared import OFTEN
from tests.batteries import matrices
from tests.gpu.arguments import arguments
from tests.kernels import SCHEDULES, softmax_rows, spmv

pytestmark = pytest.mark.gpu
TWO = ev.WorkOriented(block=64, items=4)  # its second kernel joins tiles


def graphs_of(plan: ev.Plan) -> list[Any]:
    """Of the calls that it remembers."""
    return [call.prepared._graph for call in plan._recent._calls]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", [spmv, softmax_rows])
def test_graphs_give_the_same_bits(kernel: ev.Kernel, schedule: str) -> None:
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    z = cupy.empty_like(y)
    plan = kernel.plan(A, x, y, schedule=SCHEDULES[schedule])
    for _ in range(OFTEN):
        plan(A, x, y)
        plan(A, x, z)
    assert all(graphs_of(plan)) and len(graphs_of(plan)) == 2
    expected = y.get()
    assert np.isfinite(expected).all()
    for _ in range(2):
        y.fill(cupy.nan)
        z.fill(cupy.nan)
        plan(A, x, y)
        plan(A, x, z)
        assert y.get().tobytes() == z.get().tobytes() == expected.tobytes()
    values = cupy.asarray(A.values)
    values *= 2  # read live
    plan(A, x, y)
    kernel[SCHEDULES[schedule]](A, x, z)
    assert y.get().tobytes() == z.get().tobytes() != expected.tobytes()


@pytest.mark.parametrize("schedule", [ev.MergePath(), TWO], ids=str)
def test_graphs_from_several_threads_and_streams(schedule: Any) -> None:
    """Two threads on each of two streams: they share a graph, and its scratch memory."""
    matrix = rmat(12)
    cupy, A, _, _ = arguments(matrix)
    x = cupy.asarray(np.random.default_rng(1).random(matrix.shape[1], dtype=np.float32))
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    outputs = [cupy.zeros(matrix.shape[0], np.float32) for _ in streams]
    plan = spmv.plan(A, x, outputs[0], schedule=schedule)
    cupy.cuda.Device().synchronize()
    for stream, y in zip(streams, outputs, strict=True):
        with stream:
            plan(A, x, y)  # remembered before two threads prepare the same call

    def work(i: int) -> None:
        with streams[i]:
            for _ in range(20 * OFTEN):
                plan(A, x, outputs[i])
        streams[i].synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1, 0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(graphs_of(plan)) and len(graphs_of(plan)) == 2
    expected = matrix.astype(np.float64) @ x.get().astype(np.float64)
    for y in outputs:
        np.testing.assert_allclose(y.get(), expected, rtol=1e-4)


@pytest.mark.parametrize("schedule", [ev.MergePath(), TWO], ids=str)
def test_a_call_that_has_a_graph_is_captured_into_another(schedule: Any) -> None:
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        plan = spmv.plan(A, x, y, schedule=schedule)
        for _ in range(OFTEN):
            plan(A, x, y)
        assert all(graphs_of(plan))
        stream.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
        plan(A, x, y)
        captured = stream.end_capture()
        stream.synchronize()
        for _ in range(2):
            y.fill(cupy.nan)
            captured.launch(stream)
            stream.synchronize()
            np.testing.assert_array_equal(y.get(), matrix @ x.get())
        y.fill(cupy.nan)
        plan(A, x, y)
        np.testing.assert_array_equal(y.get(), matrix @ x.get())


def test_what_is_made_and_freed_meanwhile_ends_no_capture() -> None:
    """A graph is made, another one and scratch memory are freed, while a stream is captured in the strictest mode."""
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    plan, old = (spmv.plan(A, x, y, schedule=TWO) for _ in range(2))
    for _ in range(OFTEN):
        old(A, x, y)
    for _ in range(OFTEN - 1):
        plan(A, x, y)
    assert all(graphs_of(old)) and not any(graphs_of(plan))
    stream = cupy.cuda.Stream(non_blocking=True)
    z = cupy.zeros(4, np.float32)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
        z += 1
        with cupy.cuda.Stream.null:
            plan(A, x, y)
            plan(A, x, y)  # the graph's first launch
        del old
        gc.collect()
        captured = stream.end_capture()
        captured.launch(stream)
    stream.synchronize()
    assert all(graphs_of(plan))
    assert z.get().tolist() == [1] * 4
    y.fill(cupy.nan)
    plan(A, x, y)
    np.testing.assert_array_equal(y.get(), matrix @ x.get())
