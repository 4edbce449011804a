"""Plans on a GPU: launches, workspace, stored partitions, streams, graphs."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
import scipy.sparse

import evenly as ev
from evenly.interop.generators import rmat
from evenly.runtime.bound import Bound
from tests.batteries import equal_rows, matrices, vector
from tests.gpu.arguments import arguments
from tests.kernels import (
    SCHEDULES,
    softmax_rows,
    spmm,
    spmv,
    spmv_dot,
)

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_plan_runs_on_its_own_and_on_other_arguments(schedule: str) -> None:
    first, second = matrices()["power law"], matrices()["a tile longer than a block"]
    cupy, A, x, y = arguments(first)
    plan = spmv.plan(A, x, y, schedule=SCHEDULES[schedule])
    plan(A, x, y)
    np.testing.assert_array_equal(y.get(), first @ x.get())
    _, B, u, v = arguments(second)
    plan(B, u, v)  # another layout: nothing stored of the first may be used
    np.testing.assert_array_equal(v.get(), second @ u.get())
    values = cupy.asarray(A.values)
    values *= 2  # values are read live
    plan(A, x, y)
    np.testing.assert_array_equal(y.get(), 2 * (first @ x.get()))
    plan.check()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_new_results_and_operands_are_not_prepared_again(
    schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    call = spmv.copy()[SCHEDULES[schedule]].on("cuda")
    call(A, x, y)
    monkeypatch.setattr(Bound, "_prepare", None)
    kept = [(x + i, cupy.full_like(y, -1)) for i in range(20)]
    for operand, result in kept:
        call(A, operand, result)
    for operand, result in kept:
        np.testing.assert_array_equal(result.get(), matrix @ operand.get())


@pytest.mark.parametrize("schedule", [ev.MergePath(block=64, items=3), ev.Lrb()])
def test_check_sees_a_changed_structure(schedule) -> None:
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y, schedule=schedule)
    plan.check()
    offsets = cupy.asarray(A.offsets)
    changed = matrix.indptr.copy()
    changed[1:-1] = changed[-1] // 2
    offsets[:] = cupy.asarray(changed.astype(np.int32))
    with pytest.raises(ev.InputError, match="A: expected the structure that the plan was made for"):
        plan.check()


def test_offsets_of_equal_tiles_are_not_read() -> None:
    matrix = equal_rows(3000, 7)
    cupy, A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y)
    plan.check()
    cupy.asarray(A.offsets)[1:-1] = 1_000_000
    plan(A, x, y)
    np.testing.assert_array_equal(y.get(), matrix @ x.get())
    with pytest.raises(ev.InputError, match="A: expected the structure that the plan was made for"):
        plan.check()


@pytest.mark.parametrize("schedule", ["auto", *SCHEDULES])
def test_calls_follow_a_matrix_that_changes_under_them(schedule: str) -> None:
    """A remembered call keeps nothing of the structure: here the same memory holds another matrix."""
    first, second = matrices()["tall"], matrices()["tall"].copy()
    second.indptr[1:-1] = np.sort(np.random.default_rng(3).integers(0, second.nnz, 1999))
    cupy, A, x, y = arguments(first)
    call = spmv[SCHEDULES.get(schedule, schedule)]
    for matrix in (first, second, first):
        cupy.asarray(A.offsets)[:] = cupy.asarray(matrix.indptr)
        for _ in range(3):
            y.fill(cupy.nan)
            call(A, x, y)
            np.testing.assert_array_equal(y.get(), matrix @ x.get())


FACTOR = 2.0


@ev.kernel
def scaled(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row)) * FACTOR


def test_calls_follow_captured_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrices()["power law"]
    _, A, x, y = arguments(matrix)
    for factor in (2.0, 3.0, 2.0, -1.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        scaled(A, x, y)
        np.testing.assert_array_equal(y.get(), factor * (matrix @ x.get()))


def test_calls_on_other_arrays_of_the_same_place_and_size() -> None:
    """An array of another type or shape at the same address makes another call."""
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    memory = cupy.zeros(matrix.shape[1], np.float64)
    memory[:] = x
    narrow = memory.view(np.float32)[: matrix.shape[1]]
    for _ in range(2):
        spmv(A, memory, y)
        np.testing.assert_array_equal(y.get(), matrix @ x.get())
        spmv(A, narrow, y)
        np.testing.assert_allclose(y.get(), matrix @ narrow.get(), rtol=1e-5)
    with pytest.raises(ev.InputError, match="at least"):
        spmv(A, memory[:3], y)


@pytest.mark.parametrize(
    "schedule", ["warp", "merge", "nonzero", "dynamic", "dynamic 48", "lrb", "work", "flat 32"]
)
@pytest.mark.parametrize("kernel", [spmv, softmax_rows])
def test_a_plan_in_a_graph(kernel, schedule: str) -> None:
    matrix = matrices()["power law"]
    cupy, A, x, y = arguments(matrix)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        plan = kernel.plan(A, x, y, schedule=SCHEDULES[schedule])
        plan(A, x, y)
        stream.synchronize()
        expected = y.get()
        y.fill(0)
        stream.begin_capture()
        plan(A, x, y)
        graph = stream.end_capture()
        graph.launch(stream)
    stream.synchronize()
    assert y.get().tobytes() == expected.tobytes()
    assert plan.deterministic


@pytest.mark.parametrize(
    "schedule", [ev.DynamicChunks(), ev.DynamicChunks(4, 1), ev.Lrb()], ids=str
)
def test_who_takes_what_does_not_show(schedule) -> None:
    """Sums that round have equal bits over many launches. Chunked launches find their counter reset."""
    matrix = rmat(14)
    cupy, A, x, y = arguments(matrix)
    random = np.random.default_rng(0)
    x[:] = cupy.asarray(random.standard_normal(len(x)).astype(np.float32))
    w, out = (
        cupy.asarray(random.standard_normal(len(y)).astype(np.float32)),
        cupy.zeros(1, np.float32),
    )
    plan = spmv_dot.plan(A, x, w, y, out, schedule=schedule)
    plan(A, x, w, y, out)
    first = out.get().tobytes(), y.get().tobytes()
    for _ in range(200):
        out.fill(0)
        y.fill(0)
        plan(A, x, w, y, out)
        assert (out.get().tobytes(), y.get().tobytes()) == first
    np.testing.assert_allclose(y.get(), matrix @ x.get(), rtol=1e-4, atol=1e-3)


def test_a_carveout_is_set_and_changes_no_bit() -> None:
    from cuda.bindings import driver

    what = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    _, A, x, y = arguments(rmat(12))
    results = []
    for carveout in (-1, 0, 20, 100):
        plan = spmv.copy().plan(A, x, y, schedule=ev.MergePath(carveout=carveout))
        plan(A, x, y)
        results.append(y.get())
        (main,) = plan.launches
        kernel, device = driver.CUkernel(int(main.kernel.handle)), driver.CUdevice(0)
        error, preferred = driver.cuKernelGetAttribute(what, kernel, device)
        assert not error
        assert preferred == main.carveout == carveout
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_launches_say_what_is_launched() -> None:
    matrix = matrices()["power law"]
    _, A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y, schedule=ev.MergePath(block=64, items=2))
    (main,) = plan.launches
    assert main.block == (64, 1, 1)
    assert main.grid == (-(-(matrix.shape[0] + matrix.nnz) // 128), 1, 1)
    assert "ev::split_block" in main.source
    assert main.cubin
    assert plan.workspace > 0
    assert spmv.plan(A, x, y, schedule=ev.ThreadMapped()).workspace == 0


def test_long_runs_of_blocks_meet() -> None:
    """One row over tens of thousands of blocks, many times: a block must never see the parts of another launch."""
    lengths = np.full(3000, 2)
    lengths[1000], lengths[2000] = 900_000, 70
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 500, offsets[-1]).astype(np.int32)
    values = rng.integers(-2, 3, offsets[-1])
    for dtype in (np.float32, np.float64):
        matrix = scipy.sparse.csr_array((values.astype(dtype), columns, offsets), shape=(3000, 500))
        for schedule in (ev.MergePath(32, 1), ev.NonzeroSplit(32, 4)):
            cupy, A, x, y = arguments(matrix)
            x, y = x.astype(dtype), y.astype(dtype)
            plan = spmv.plan(A, x, y, schedule=schedule)
            for turn in range(20):
                x[:] = cupy.asarray(vector(500, dtype, seed=turn))
                plan(A, x, y)
                np.testing.assert_array_equal(y.get(), matrix @ x.get())


def test_streams_do_not_share_scratch_memory() -> None:
    """Two streams at once, each with its own arrays, many times over."""
    matrix = rmat(14)
    cupy, A, x, _ = arguments(matrix)
    x = cupy.asarray(np.random.default_rng(1).random(matrix.shape[1], dtype=np.float32))
    expected = matrix.astype(np.float64) @ x.get().astype(np.float64)
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    outputs = [cupy.zeros(matrix.shape[0], np.float32) for _ in streams]
    cupy.cuda.Device().synchronize()
    plan = spmv.plan(A, x, outputs[0], schedule=ev.MergePath())

    def work(i: int) -> None:
        with streams[i]:
            for _ in range(200):
                plan(A, x, outputs[i])
        streams[i].synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for y in outputs:
        np.testing.assert_allclose(y.get(), expected, rtol=1e-4)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_more_lanes_than_one_grid_has(schedule: str) -> None:
    """A dense axis beyond the y axis of a grid."""
    matrix = matrices()["empty in the middle"]
    cupy = pytest.importorskip("cupy")
    lanes = 70_000
    A = ev.csr(matrix).to("cuda")
    X = cupy.asarray(vector(matrix.shape[1] * lanes).reshape(-1, lanes))
    Y = cupy.zeros((matrix.shape[0], lanes), np.float32)
    spmm[SCHEDULES[schedule]](A, X, Y)
    np.testing.assert_array_equal(Y.get(), matrix @ X.get())


def test_a_user_without_cupy_or_pytorch() -> None:
    matrix = matrices()["power law"]
    x = vector(matrix.shape[1])
    y = ev.device_empty(matrix.shape[0], np.float32)
    A = ev.csr(
        (
            ev.DeviceArray.from_numpy(matrix.data),
            ev.DeviceArray.from_numpy(matrix.indices),
            ev.DeviceArray.from_numpy(matrix.indptr),
        ),
        shape=matrix.shape,
    )
    spmv[ev.MergePath()](A, ev.DeviceArray.from_numpy(x), y)
    np.testing.assert_array_equal(y.to_numpy(), matrix @ x)


def test_pytorch_on_its_own_stream() -> None:
    torch = pytest.importorskip("torch")
    matrix = matrices()["power law"]
    A = torch.sparse_csr_tensor(
        torch.tensor(matrix.indptr.astype(np.int64)),
        torch.tensor(matrix.indices.astype(np.int64)),
        torch.tensor(matrix.data),
        size=matrix.shape,
    ).cuda()
    x = torch.tensor(vector(matrix.shape[1])).cuda()
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        y = torch.full((matrix.shape[0],), float("nan"), device="cuda")
        spmv[ev.MergePath()](A, x, y)
        z = ev.spmv(A, x)
    stream.synchronize()
    assert isinstance(z, torch.Tensor)
    np.testing.assert_array_equal(y.cpu().numpy(), matrix @ x.cpu().numpy())
    np.testing.assert_array_equal(z.cpu().numpy(), matrix @ x.cpu().numpy())


def test_host_arrays_are_refused_on_cuda() -> None:
    matrix = matrices()["power law"]
    with pytest.raises(ev.InputError, match="on target 'cuda'|can reach them"):
        spmv.on("cuda")(
            ev.csr(matrix), vector(matrix.shape[1]), np.zeros(matrix.shape[0], np.float32)
        )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_verify_on_cuda(schedule: str) -> None:
    for name in ("power law", "many empty between", "no tiles"):
        ev.verify(SCHEDULES[schedule], ev.csr(matrices()[name]), target="cuda")


@pytest.mark.parametrize("width", [1, 8, 33])
def test_a_call_leaves_its_arrays_alone_before_garbage_is_collected(width: int) -> None:
    cupy = pytest.importorskip("cupy")
    A = ev.csr(matrices()["power law"]).to("cuda")
    gc.collect()
    gc.disable()
    try:
        X = cupy.ones((A.num_columns, width))
        results = [cupy.empty((A.num_tiles, width)) for _ in "12"]
        spmm(A, X, results[0])
        spmm.plan(A, X, results[1])(A, X, results[1])
        kept = [weakref.ref(x) for x in (X, *results)]
        del X, results
        assert [x() for x in kept] == [None] * 3
    finally:
        gc.enable()
