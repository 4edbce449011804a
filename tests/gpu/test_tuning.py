"""`plan.tune()` on a GPU: the clock over graphs, copies that are restored, what is remembered. cuda.core alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.arguments import Binding
from evenly.choosing.candidates import candidates
from evenly.interop.arrays import view
from evenly.interop.generators import rmat
from evenly.targets.cuda.copies import CudaCopies
from evenly.timing.graphs import GraphClock
from evenly.tuning.locality import renumbered, renumbering
from tests.batteries import matrices, names, vector
from tests.kernels import column_counts, halved, softmax_rows, spmv

pytestmark = pytest.mark.gpu
FEW = [ev.ThreadMapped(), ev.WarpMapped(), ev.MergePath(), ev.NonzeroSplit(128, 7)]


@ev.kernel
def added(A, x, y):
    for row in A.tiles():
        y[row] += sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def put(array):
    return ev.DeviceArray.from_numpy(array)


def arguments(matrix):
    x, y = vector(matrix.shape[1]), np.full(matrix.shape[0], -7, np.float32)
    return ev.csr(matrix).to("cuda"), put(x), put(y)


# ---- the clock -----------------------------------------------------------------------------------------
def test_the_clock_agrees_with_the_hosts_over_many_launches() -> None:
    """For a thousand launches of half a millisecond, the host's clock measures little but the GPU's time."""
    A, x, y = arguments(rmat(20, dtype=np.float32))
    plan = spmv.plan(A, x, y, schedule=ev.ThreadMapped())
    clock = GraphClock(plan.launches)
    import cuda.core as core

    device = core.Device()
    plan(A, x, y)
    device.sync()
    # One pair of several that nobody disturbs will do: other tests may be on the GPU meanwhile.
    pairs = ((microseconds(lambda: plan(A, x, y), device), clock.warm()) for _ in range(20))
    assert any(0.8 * host < found < 1.1 * host for host, found in pairs)


def microseconds(launch: Callable[[], None], device: Any) -> float:
    """Time one of ten launches by the host's clock."""
    start = time.perf_counter()
    for _ in range(10):
        launch()
    device.sync()
    return (time.perf_counter() - start) / 10 * 1e6


def test_readings_repeat() -> None:
    A, x, y = arguments(rmat(16, dtype=np.float32))
    clock = GraphClock(spmv.plan(A, x, y, schedule=ev.MergePath()).launches)
    readings = [clock.warm() for _ in range(9)]
    assert max(readings) < 1.5 * min(readings)
    assert 1 < min(readings) < 1000


def test_a_graph_of_one_short_run_gets_more_before_a_reading_counts() -> None:
    """As after looks that the host has disturbed: the launch of a graph takes longer than a short kernel."""
    A, x, y = arguments(rmat(8, dtype=np.float32))
    clock = GraphClock(spmv.plan(A, x, y).launches)
    usual, clock.runs = min(clock.warm() for _ in range(5)), 1
    assert clock.warm() < 1.3 * usual
    assert clock.runs > 10


def test_restoring_is_not_counted() -> None:
    A, x, y = arguments(rmat(16, dtype=np.float32))
    plan = spmv.plan(A, x, y, schedule=ev.MergePath())
    fresh = put(y.to_numpy())
    without = GraphClock(plan.launches)
    restoring = GraphClock(plan.launches, lambda stream: y.copy_from(fresh, stream))
    plain, restored = (np.median([c.warm() for _ in range(9)]) for c in (without, restoring))
    assert abs(restored - plain) < 2 + 0.3 * plain


def test_each_launch_finds_what_the_first_one_found() -> None:
    """After all runs of a clock, the copies hold the result of a single run."""
    matrix = matrices()["power law"]
    A, x, y = arguments(matrix)
    plan = added.plan(A, x, y)
    copies = CudaCopies(plan._binding, ["y"], restored=True)
    clock = copies.clock(added.plan(*copies.arguments.values()))
    clock.warm()
    # the last graph that ran restored, and launched nothing
    np.testing.assert_array_equal(copies.copies["y"].to_numpy(), y.to_numpy())
    clock._replay(clock._both)
    np.testing.assert_array_equal(copies.copies["y"].to_numpy(), -7 + matrix @ x.to_numpy())


# ---- tuning ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", names())
def test_nasty_matrices(name: str) -> None:
    matrix = matrices()[name]
    A, x, y = arguments(matrix)
    before = y.to_numpy().tobytes()
    tuned = spmv.plan(A, x, y).tune(candidates=FEW, seconds=0.05)
    assert y.to_numpy().tobytes() == before
    tuned(A, x, y)
    np.testing.assert_array_equal(y.to_numpy(), matrix @ x.to_numpy())


def test_tuned_holds_its_bounds() -> None:
    """50 ms where the kernels are compiled; the rest is for other tests on the GPU."""
    first, second = (rmat(scale, dtype=np.float32) for scale in (17, 16))
    spmv.plan(*arguments(first)).tune(seconds=0.05, compilations=6)
    A, x, y = arguments(second)
    start = time.monotonic()
    plan = spmv.plan(A, x, y, schedule="tuned")
    assert time.monotonic() - start < 0.5
    assert len(plan.tuning.times) > 3
    plan(A, x, y)
    np.testing.assert_allclose(y.to_numpy(), second @ x.to_numpy(), rtol=1e-3)
    again = spmv.plan(*arguments(second), schedule="tuned")
    assert again.schedule == plan.schedule


def test_tuned_calls() -> None:
    matrix = matrices()["power law"]
    A, x, y = arguments(matrix)
    for _ in range(3):
        y.fill_zero()
        ev.spmv(A, x, y, schedule="tuned")
        np.testing.assert_array_equal(y.to_numpy(), matrix @ x.to_numpy())


def test_nothing_is_measured_in_a_capture() -> None:
    cupy = pytest.importorskip("cupy")
    matrix = matrices()["tall"]
    A, x = ev.csr(matrix).to("cuda"), cupy.asarray(vector(matrix.shape[1]))
    y, other = cupy.zeros(matrix.shape[0], np.float32), cupy.zeros(matrix.shape[0], np.float64)
    ev.spmv(A, x, y, schedule="tuned")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        ev.spmv(A, x, y, schedule="tuned")  # remembered
        with pytest.raises(ev.InputError, match="no capture while schedules are measured"):
            ev.spmv(A, x, other, schedule="tuned")
        graph = stream.end_capture()
        y[:] = 0
        graph.launch(stream)
        stream.synchronize()
    np.testing.assert_array_equal(y.get(), matrix @ x.get())


def test_all_candidates_are_measured_within_the_time() -> None:
    matrix = rmat(16, dtype=np.float32)
    A, x, y = arguments(matrix)
    tuned = spmv.plan(A, x, y).tune(seconds=60)  # other tests may be on the GPU
    assert tuned.tuning.left_out == {}
    assert {str(s) for s in candidates("cuda")} <= set(tuned.tuning.times)
    assert all(0.5 < us < 1e5 for us in tuned.tuning.times.values())
    start = time.monotonic()
    spmv.plan(A, x, y).tune()  # compiled by now, on disk
    assert time.monotonic() - start < 8
    report = str(tuned.tuning)
    assert "a run's kernels, by the GPU's clock" in report
    assert " on cuda (NVIDIA " in report


@pytest.mark.parametrize("name", names())
def test_columns_numbered_anew_give_the_same_bits(name: str) -> None:
    A, x, y = arguments(matrices()[name])
    plan = spmv.plan(A, x, y, schedule=ev.MergePath())
    plan(A, x, y)
    expected = y.to_numpy()
    anew = on_new_numbers(plan, A, x, y)
    for _ in range(2):
        y.fill_zero()
        anew(A, x, y)
        np.testing.assert_array_equal(y.to_numpy(), expected)
    assert len(anew.launches) == len(plan.launches) + (A.num_columns > 0)
    more = A.indices.nbytes + 4 * A.num_columns + x.nbytes
    assert anew.workspace == plan.workspace + more
    anew.check()


def on_new_numbers(plan, *args):
    given = Binding(dict(zip(("A", "x", "y"), args, strict=True)))
    return renumbered(plan, renumbering(spmv.program(plan._specs), {"y"}, given))


def test_columns_that_were_changed_are_noticed() -> None:
    matrix = matrices()["power law"]
    parts = put(matrix.data), put(matrix.indices), put(matrix.indptr)
    _, x, y = arguments(matrix)
    A = ev.csr(parts, shape=matrix.shape)
    anew = on_new_numbers(spmv.plan(A, x, y), A, x, y)
    anew.check()
    A.indices.copy_from(put(matrix.indices[::-1].copy()), default_stream())
    with pytest.raises(ev.InputError, match=r"A\.indices"):
        anew.check()


def default_stream():
    import cuda.core as core

    return core.Device().default_stream


def test_new_numbers_on_several_streams() -> None:
    """Each stream has its own reordered vectors, of CuPy and of PyTorch."""
    cupy = pytest.importorskip("cupy")
    matrix = in_integers(rmat(14, dtype=np.float32))
    A = ev.csr(matrix).to("cuda")
    xs = [cupy.asarray(vector(matrix.shape[1], seed=i)) for i in range(3)]
    ys = [cupy.zeros(matrix.shape[0], np.float32) for _ in xs]
    anew = on_new_numbers(spmv.plan(A, xs[0], ys[0]), A, xs[0], ys[0])
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in xs]
    cupy.cuda.Device().synchronize()
    for _ in range(20):
        for stream, x, y in zip(streams, xs, ys, strict=True):
            with stream:
                anew(A, x, y)
    cupy.cuda.Device().synchronize()
    for x, y in zip(xs, ys, strict=True):
        np.testing.assert_array_equal(y.get(), matrix @ x.get())


def in_integers(matrix):
    """Return the matrix with values whose sums are exact."""
    matrix.data[:] = np.round(4 * matrix.data)
    return matrix


def test_locality_is_measured() -> None:
    matrix = in_integers(rmat(16, dtype=np.float32))
    A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y).tune(candidates=FEW, seconds=3, locality=True, save=False)
    assert sum("renumbered" in name for name in plan.tuning.times) == len(FEW), plan.tuning.left_out
    plan(A, x, y)
    np.testing.assert_array_equal(y.to_numpy(), matrix @ x.to_numpy())


def test_kernels_that_update_what_they_find() -> None:
    matrix = matrices()["power law"]
    A, x, y = arguments(matrix)
    tuned = added.plan(A, x, y).tune(candidates=FEW, seconds=0.05)
    tuned(A, x, y)
    np.testing.assert_array_equal(y.to_numpy(), -7 + matrix @ x.to_numpy())
    counts, longest = put(np.zeros(matrix.shape[1], np.int32)), put(np.zeros(1, np.int64))
    tuned = column_counts.plan(A, counts, longest).tune(candidates=FEW, seconds=0.05)
    assert not counts.to_numpy().any()
    tuned(A, counts, longest)
    np.testing.assert_array_equal(
        counts.to_numpy(), np.bincount(matrix.indices, minlength=matrix.shape[1])
    )


def test_kernels_that_need_whole_tiles() -> None:
    matrix = matrices()["power law"]
    A, y = ev.csr(matrix).to("cuda"), put(np.zeros(matrix.shape[0], np.float32))
    tuned = halved.plan(A, y).tune(seconds=0.2)
    assert tuned.schedule.owns_tiles
    assert str(ev.MergePath()) in tuned.tuning.left_out


def test_plans_to_come_take_the_winner(winners_file) -> None:
    matrix = matrices()["power law"]
    A, x, y = arguments(matrix)
    tuned = softmax_rows.plan(A, x, y).tune(candidates=[ev.GroupMapped(4)], seconds=0.05)
    assert tuned.tuning.kept == str(winners_file)
    later = softmax_rows.plan(*arguments(matrix))
    assert later.schedule == ev.GroupMapped(4)
    assert later.tuning.device.startswith("NVIDIA ")
    (found,) = ev.explain(A).measured
    assert found.times == tuned.tuning.times


def test_a_matrix_that_changed_in_place(winners_file) -> None:
    first, second = matrices()["tall"], matrices()["tall"].copy()
    second.indptr[1:-1] = np.sort(np.random.default_rng(3).integers(0, second.nnz, 1999))
    A, x, y = arguments(first)
    spmv.plan(A, x, y).tune(candidates=[ev.NonzeroSplit(128, 7)], seconds=0.05)
    import cuda.core as core

    there = ev.DeviceArray(view(A.offsets))
    there.copy_from(put(second.indptr.astype(there.dtype)), core.Device().default_stream)
    core.Device().sync()
    plan = spmv.plan(A, x, y)
    assert plan.tuning is None  # that is of the structure it had
    plan(A, x, y)
    np.testing.assert_array_equal(y.to_numpy(), second @ x.to_numpy())


def test_calls_go_on_meanwhile() -> None:
    """Another thread calls the plan, under a schedule that uses scratch memory, while it is tuned."""
    matrix = rmat(14, dtype=np.float32)
    matrix.data[:] = 1
    A, x, y = arguments(matrix)
    schedule = ev.MergePath(128, 4)
    plan, out = spmv.plan(A, x, y, schedule=schedule), put(y.to_numpy())
    expected, wrong, done = matrix @ x.to_numpy(), [], threading.Event()

    def work() -> None:
        while not done.is_set():
            plan(A, x, out)
            wrong.append(int((out.to_numpy() != expected).sum()))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        plan.tune(candidates=[schedule, ev.NonzeroSplit(128, 7)], seconds=0.3)
    finally:
        done.set()
        thread.join()
    assert len(wrong) > 10
    assert not any(wrong)


WITHOUT_CUPY = """
import sys
sys.modules["cupy"] = None
import numpy as np
import evenly as ev
from evenly.interop.generators import rmat
from tests.kernels import spmv
matrix = rmat(10, dtype=np.float32)
A, x = ev.csr(matrix).to("cuda"), ev.DeviceArray.from_numpy(np.ones(1024, np.float32))
y = ev.device_empty(1024, np.float32)
plan = spmv.plan(A, x, y).tune(candidates=["thread_mapped", "merge_path"], seconds=0.1)
plan(A, x, y)
np.testing.assert_allclose(y.to_numpy(), matrix @ np.ones(1024, np.float32), rtol=1e-4)
assert "torch" not in sys.modules
"""


def test_nothing_but_cuda_core_is_needed() -> None:
    environment = {**os.environ, "EVENLY_TUNING": "off"}
    run = [sys.executable, "-c", WITHOUT_CUPY]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_arrays_of_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    matrix = matrices()["power law"]
    A = ev.csr(matrix).to("cuda")
    x, y = cupy.asarray(vector(matrix.shape[1])), cupy.full(matrix.shape[0], -7, np.float32)
    cupy.cuda.Device().synchronize()  # those were on another stream
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y[:] = -5  # on the caller's stream, right before
        tuned = added.plan(A, x, y).tune(candidates=FEW, seconds=0.05)
        assert (y.get() == -5).all()
        tuned(A, x, y)
        stream.synchronize()
    np.testing.assert_array_equal(y.get(), -5 + matrix @ x.get())


def test_from_a_shell(tmp_path, winners_file, sure, capsys) -> None:
    import scipy.io

    from evenly.cli import main

    path = tmp_path / "power.mtx"
    scipy.io.mmwrite(path, matrices()["power law"])
    assert main(["tune", str(path), "--target", "cuda", "--seconds", "1"]) == 0
    assert f"remembered in {winners_file}" in capsys.readouterr().out
    assert main(["spmv", str(path), "--target", "cuda", "--validate"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "Errors: 0"
    assert "the fastest that `evenly tune` measured" in err
