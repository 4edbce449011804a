"""Bound calls, which are launched as a graph, and streams that others capture at the same time."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.generators import rmat
from evenly.targets.cuda.graph import GraphedLaunches
from tests.batteries import matrices
from tests.gpu.arguments import arguments
from tests.kernels import SCHEDULES, softmax_rows, spmv

pytestmark = pytest.mark.gpu
TWO = ev.WorkOriented(block=64, items=4)  # its second kernel joins tiles


def is_graph(call: ev.BoundCall) -> bool:
    return isinstance(call._run, GraphedLaunches)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", [spmv, softmax_rows])
def test_graphs_give_the_same_bits(kernel: ev.Kernel, schedule: str) -> None:
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    z = cupy.empty_like(y)
    plan = kernel.plan(A, x, y, schedule=SCHEDULES[schedule])
    plan(A, x, y)
    expected = y.get()
    assert np.isfinite(expected).all()
    with plan.bind(A, x, y) as one, plan.bind(A, x, z) as other:
        assert is_graph(one) and is_graph(other)
        for _ in range(3):
            y.fill(cupy.nan)
            z.fill(cupy.nan)
            one()
            other()
            assert y.get().tobytes() == z.get().tobytes() == expected.tobytes()
        values = cupy.asarray(A.values)
        values *= 2  # read live
        one()
        kernel[SCHEDULES[schedule]](A, x, z)
        assert y.get().tobytes() == z.get().tobytes() != expected.tobytes()


@pytest.mark.parametrize("schedule", [ev.MergePath(), TWO], ids=str)
def test_from_several_threads_and_streams(schedule: Any) -> None:
    """Each thread binds a call to a stream; two of them to the same one."""
    matrix = rmat(12)
    cupy, A, _, _ = arguments(matrix)
    x = cupy.asarray(np.random.default_rng(1).random(matrix.shape[1], dtype=np.float32))
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    outputs = [cupy.zeros(matrix.shape[0], np.float32) for _ in range(4)]
    plan = spmv.plan(A, x, outputs[0], schedule=schedule)
    cupy.cuda.Device().synchronize()

    def work(i: int) -> None:
        with plan.bind(A, x, outputs[i], stream=streams[i % 2]) as call:
            assert is_graph(call)
            for _ in range(300):
                call()
            streams[i % 2].synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = matrix.astype(np.float64) @ x.get().astype(np.float64)
    for y in outputs:
        np.testing.assert_allclose(y.get(), expected, rtol=1e-4)


@pytest.mark.parametrize("kind", ["CuPy", "PyTorch", "cuda.core", "handle"])
def test_streams_of_every_library(kind: str) -> None:
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    device = pytest.importorskip("cuda.core").Device()
    device.set_current()
    if kind == "PyTorch":
        stream = pytest.importorskip("torch").cuda.Stream()
        wait = stream.synchronize
    elif kind == "cuda.core":
        stream = device.create_stream()
        wait = stream.sync
    else:
        given = cupy.cuda.Stream(non_blocking=True)
        stream, wait = (given if kind == "CuPy" else given.ptr), given.synchronize
    cupy.cuda.Device().synchronize()
    with spmv.plan(A, x, y, schedule=TWO).bind(A, x, y, stream=stream) as call:
        call()
        wait()
    np.testing.assert_array_equal(y.get(), matrix @ x.get())


@pytest.mark.parametrize("schedule", [ev.MergePath(), TWO], ids=str)
def test_a_bound_call_is_captured_into_another_graph(schedule: Any) -> None:
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with spmv.plan(A, x, y, schedule=schedule).bind(A, x, y, stream=stream) as call, stream:
        assert is_graph(call)
        call()
        stream.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
        call()
        captured = stream.end_capture()
        stream.synchronize()
        for _ in range(2):
            y.fill(cupy.nan)
            captured.launch(stream)
            stream.synchronize()
            np.testing.assert_array_equal(y.get(), matrix @ x.get())
        y.fill(cupy.nan)
        call()
        np.testing.assert_array_equal(y.get(), matrix @ x.get())


def test_what_is_made_and_freed_meanwhile_ends_no_capture() -> None:
    """A call is bound, another one and its memory are freed, while a stream is captured in the strictest mode."""
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y, schedule=TWO)
    plan(A, x, y)  # it has its memory: making some would end the capture
    old = plan.bind(A, x, y)
    old()
    stream = cupy.cuda.Stream(non_blocking=True)
    z = cupy.zeros(4, np.float32)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
        z += 1
        with cupy.cuda.Stream.null:
            plan(A, x, y)
        old.close()
        gc.collect()
        captured = stream.end_capture()
        captured.launch(stream)
    stream.synchronize()
    assert z.get().tolist() == [1] * 4
    with plan.bind(A, x, y) as call:
        y.fill(cupy.nan)
        call()
        np.testing.assert_array_equal(y.get(), matrix @ x.get())
