"""`while` around loops over tiles: one graph a call, whose rounds the device counts, or else the host; frontiers."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse.csgraph

import evenly as ev
from evenly.interop.generators import rmat
from evenly.targets.cuda import looping
from tests.kernels import SCHEDULES
from tests.language.cases import CASES, frontiers, rounds
from tests.runtime.test_frontiers import breadth_first, everything, levels
from tests.runtime.test_rounds import bellman_ford, steps

pytestmark = pytest.mark.gpu
FILES = (rounds.__name__, frontiers.__name__)
OF_ROUNDS = [c for c in CASES if c.function.__module__ in FILES]


@pytest.fixture(params=["device", "host"])
def decider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "host":
        monkeypatch.setattr(looping, "are_possible", lambda: False)
    elif not looping.are_possible():
        pytest.skip("needs a driver and a cuda.core with conditional nodes")
    return str(request.param)


def to_gpu(value: Any) -> Any:
    import cupy

    if hasattr(value, "to"):
        return value.to("cuda")
    return cupy.asarray(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path", "lrb"])
@pytest.mark.parametrize("case", OF_ROUNDS, ids=lambda c: c.name)
def test_every_construct(case: Any, schedule: str, decider: str) -> None:
    arguments = case.arguments()
    there = {name: to_gpu(value) for name, value in arguments.items()}
    plan = ev.kernel(case.function).plan(*there.values(), schedule=schedule)
    prepared = plan.prepared()
    inner = getattr(prepared, "run", prepared)
    assert plan.repeats == isinstance(inner, looping.Looping)
    assert not plan.repeats or inner.on_device == (decider == "device")
    prepared()
    case.check({n: v.get() if hasattr(v, "get") else arguments[n] for n, v in there.items()})


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_shortest_paths(schedule: str, decider: str) -> None:
    import cupy

    matrix = rmat(10)
    matrix.data = np.round(np.abs(matrix.data) * 8) + 1
    A = ev.csr(matrix).to("cuda")
    start = np.full(matrix.shape[0], np.inf, np.float32)
    start[0] = 0
    distance, count = cupy.asarray(start), cupy.zeros(1, np.int32)
    plan = bellman_ford.plan(A, distance, count, schedule=SCHEDULES[schedule])
    expected = scipy.sparse.csgraph.dijkstra(matrix.astype(np.float64), indices=0)
    with plan.bind(A, distance, count) as call:
        for run in (lambda: plan(A, distance, count), call, call):
            distance[:] = cupy.asarray(start)
            run()
            np.testing.assert_array_equal(distance.get(), expected.astype(np.float32))
            assert count.get()[0] > 1


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_searches(schedule: str, unique: bool, decider: str) -> None:
    import cupy

    matrix = rmat(12, per_row=4)
    wanted, depth = levels(matrix, 0)
    F = ev.frontier(ev.csr(matrix).to("cuda"), unique=unique)
    level, depths = cupy.empty(matrix.shape[0], np.int32), cupy.zeros(1, np.int32)
    plan = breadth_first.plan(F, level, 0, depths, schedule=SCHEDULES[schedule])
    with plan.bind(F, level, 0, depths) as call:
        for run in (lambda: plan(F, level, 0, depths), call, call):
            level.fill(-1)
            run()
            np.testing.assert_array_equal(level.get(), wanted)
            assert depths.get()[0] == depth and len(F) == 0


@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path"])
def test_no_push_is_lost(schedule: str) -> None:
    import cupy

    matrix = rmat(10, per_row=4)
    A, visits = ev.csr(matrix).to("cuda"), cupy.zeros(matrix.shape[1], np.int32)
    wanted = np.bincount(matrix.indices, minlength=matrix.shape[1])
    lengths = np.diff(matrix.indptr)
    room = int((lengths**2).sum())  # atoms of what is pushed: each tile once for each of its atoms
    for F, waiting in (
        (ev.frontier(A, capacity=room), matrix.nnz),
        (ev.frontier(A, unique=True), int((lengths > 0).sum())),
    ):
        visits.fill(0)
        everything[schedule](F, A, visits)
        np.testing.assert_array_equal(visits.get(), wanted)
        assert len(F) == waiting
    F = ev.frontier(A)
    with pytest.raises(ev.InputError, match="F: expected at most"):
        everything[schedule](F, A, visits)
    other = cupy.cuda.Stream(non_blocking=True)
    F = ev.frontier(A)
    cupy.cuda.Device().synchronize()
    plan = everything.plan(F, A, visits, schedule=schedule)
    with plan.bind(F, A, visits, stream=other) as call, pytest.raises(ev.InputError):
        call()


def test_from_several_threads(decider: str) -> None:
    import cupy

    matrix = rmat(10)
    A, lengths = ev.csr(matrix).to("cuda"), np.diff(matrix.indptr)
    outputs = [cupy.zeros(len(lengths)) for _ in range(3)]
    plan = steps.plan(A, 5, outputs[0], schedule="merge_path")
    threads = [threading.Thread(target=plan, args=(A, 5, y)) for y in outputs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    cupy.cuda.Device().synchronize()
    for y in outputs:
        np.testing.assert_array_equal(y.get(), 10 * lengths)


def test_launches_are_refused() -> None:
    import cupy

    A = ev.csr(rmat(6)).to("cuda")
    y = cupy.zeros(A.num_tiles)
    plan = steps.plan(A, 2, y)
    plan(A, 2, y)
    with pytest.raises(ev.InputError, match="without a while around loops over tiles"):
        _ = plan.launches


@ev.kernel
def from_array(F, level, source):
    level[source[0]] = 0
    F.push(source[0])
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                v = F.column(e)
                if ev.atomic_cas(level, v, -1, depth) == -1:
                    F.push(v)


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path", "lrb"])
def test_a_capture_holds_the_loop(schedule: str, library: str, decider: str) -> None:
    """The graph searches from the vertex that the array names when it is launched."""
    cupy = pytest.importorskip("cupy")
    torch = pytest.importorskip("torch") if library == "torch" else None
    matrix = rmat(12, per_row=4)
    F = ev.frontier(ev.csr(matrix).to("cuda"), unique=True)
    level, source = cupy.full(matrix.shape[0], -1, np.int32), cupy.zeros(1, np.int32)
    plan = from_array.plan(F, level, source, schedule=schedule)
    stream = torch.cuda.Stream() if torch else cupy.cuda.Stream(non_blocking=True)
    with plan.bind(F, level, source, stream=stream) as call:
        cupy.cuda.Device().synchronize()
        if decider == "host":
            if torch is None:
                stream.begin_capture()
                with pytest.raises(ev.InputError, match="one that is not being captured"):
                    call()
                stream.end_capture()
            return
        if torch:
            there, graph = torch.from_dlpack(level), torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                there.fill_(-1)
                call()
                there += 1
            replay = graph.replay
        else:
            with stream:
                stream.begin_capture()
                level.fill(-1)
                call()
                level.__iadd__(1)
                captured = stream.end_capture()
            replay = lambda: captured.launch(stream)  # noqa: E731
        for start in (0, 5, 77, 0):
            source.fill(start)
            cupy.cuda.Device().synchronize()
            replay()
            cupy.cuda.Device().synchronize()
            np.testing.assert_array_equal(level.get(), levels(matrix, start)[0] + 1)


@pytest.mark.parametrize("kernel", [breadth_first, everything])
def test_a_capture_that_may_overflow_is_refused_and_goes_on(kernel: ev.Kernel) -> None:
    """With rounds, and without."""
    import cupy

    matrix = rmat(8, per_row=4)
    A, n = ev.csr(matrix).to("cuda"), matrix.shape[0]
    level, depths = cupy.full(n, -1, np.int32), cupy.zeros(1, np.int32)
    F = ev.frontier(A, capacity=matrix.nnz)
    given = (F, level, 0, depths) if kernel is breadth_first else (F, A, level)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    plan = kernel.plan(*given)
    with stream, plan.bind(*given) as call:
        stream.begin_capture()
        with pytest.raises(ev.InputError, match="frontier: expected one that always has room"):
            call()
        depths += 1
        graph = stream.end_capture()
        graph.launch(stream)
        assert int(depths[0]) == 1 and len(F) == 0


def test_tune() -> None:
    import cupy

    A = ev.csr(rmat(8)).to("cuda")
    y = cupy.zeros(A.num_tiles)
    plan = steps.plan(A, 2, y)
    tuned = plan.tune(candidates=["thread_mapped", "merge_path"], seconds=2.0, save=False)
    assert len(tuned.tuning.times) == 2


def test_tune_searches_with_copies() -> None:
    import cupy

    matrix = rmat(8)
    F = ev.frontier(ev.csr(matrix).to("cuda"))
    level, depths = cupy.full(matrix.shape[0], -1, np.int32), cupy.zeros(1, np.int32)
    plan = breadth_first.plan(F, level, 0, depths)
    tuned = plan.tune(candidates=["thread_mapped", "merge_path"], seconds=2.0, save=False)
    assert len(tuned.tuning.times) == 2 and not tuned.tuning.left_out
    assert len(F) == 0 and bool((level == -1).all()) and int(depths[0]) == 0
    tuned(F, level, 0, depths)
    np.testing.assert_array_equal(level.get(), levels(matrix, 0)[0])
