"""Plans and calls of kernels with a `while` around loops over tiles."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse.csgraph

import evenly as ev
from evenly.interop.generators import rmat
from tests.batteries import matrices
from tests.kernels import SCHEDULES

SIMT = pytest.param("simt", marks=pytest.mark.simt)
TARGETS = pytest.mark.parametrize("target", ["cpu", SIMT])


@ev.kernel
def bellman_ford(A, distance, rounds):
    changed = True
    count = 0
    while changed:
        changed = False
        count += 1
        for u in A.tiles():
            here = distance[u]
            for k in A.atoms(u):
                reached = here + A.value(k)
                before = ev.atomic_min(distance, A.column(k), reached)
                better = reached < before
                changed = changed or better
    rounds[0] = count


@ev.kernel
def steps(A, n, y):
    left = n
    while left > 0:
        left -= 1
        for row in A.tiles():
            y[row] += sum(1 for k in A.atoms(row))
    for row in A.tiles():
        y[row] *= 2


def graph(name: str) -> tuple[ev.Csr, np.ndarray, Any]:
    """A square graph with the rows of a matrix of the battery, and the distances from vertex 0."""
    matrix = matrices(np.float32)[name]
    size = max(matrix.shape)
    matrix.resize((size, size))
    matrix.data = np.abs(matrix.data) + 1
    start = np.full(size, np.inf, np.float32)
    start[:1] = 0
    rows = np.repeat(np.arange(size), np.diff(matrix.indptr))
    least = np.full((size, size), np.inf)  # of edges that occur twice, the shorter one counts
    np.minimum.at(least, (rows, matrix.indices), matrix.data)
    expected = scipy.sparse.csgraph.dijkstra(least, indices=0) if size else np.zeros(0)
    return ev.csr(matrix), start, expected


NAMES = (
    "nothing (0 x 0)", "one empty tile", "no atoms", "empty in the middle", "single column", "duplicates",
    "unsorted columns", "one block exactly", "stencil",
)  # fmt: skip


@TARGETS
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_shortest_paths_under_every_schedule(schedule: str, target: str) -> None:
    for name in NAMES if target == "cpu" else NAMES[:-2]:
        A, distance, expected = graph(name)
        rounds = np.zeros(1, np.int32)
        bellman_ford[SCHEDULES[schedule]].on(target)(A, distance, rounds)
        np.testing.assert_array_equal(distance, expected.astype(np.float32), err_msg=name)
        assert rounds[0] >= 1


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_shortest_paths_of_a_larger_graph(target: str) -> None:
    matrix = rmat(7, per_row=8)
    matrix.data = np.round(matrix.data * 8) + 1
    distance = np.full(matrix.shape[0], np.inf, np.float32)
    distance[0] = 0
    bellman_ford.on(target)(matrix, distance, np.zeros(1, np.int32))
    expected = scipy.sparse.csgraph.dijkstra(matrix.astype(np.float64), indices=0)
    np.testing.assert_array_equal(distance, expected.astype(np.float32))


@pytest.mark.parametrize("target", ["python", "cpu", SIMT])
@pytest.mark.parametrize("schedule", ["lrb", "merge_path", "thread_mapped"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_plan_a_bound_call_and_a_call_again(n: int, schedule: str, target: str) -> None:
    """Also with no round at all, after which a loop over the same layout follows."""
    matrix = matrices(np.float32)["power law"]
    A, lengths = ev.csr(matrix), np.diff(matrix.indptr)
    plan = steps.plan(A, n, np.zeros(len(lengths)), schedule=schedule, target=target)
    y = np.zeros(len(lengths))
    plan(A, n, y)
    np.testing.assert_array_equal(y, 2 * n * lengths)
    plan(A, n, y)
    np.testing.assert_array_equal(y, 2 * (2 * n + n) * lengths)
    with plan.bind(A, n, y) as call:
        for _ in range(2):
            y[:] = 0
            call()
            np.testing.assert_array_equal(y, 2 * n * lengths)
    y[:] = 0
    steps[schedule].on(target)(A, n, y)
    np.testing.assert_array_equal(y, 2 * n * lengths)
    assert plan.repeats and plan.deterministic and plan.workspace >= 0
    plan.check()


def test_debug_checks_every_round() -> None:
    @ev.kernel
    def beyond(A, x, y):
        n = 0
        while n < 5:
            n += 1
            for row in A.tiles():
                y[row] = x[row + n]

    A = ev.csr(matrices(np.float32)["one atom"])
    with pytest.raises(ev.InputError, match=r"x: expected an index from 0 to 3, got x\[4\]"):
        beyond.on("cpu", debug=True)(A, np.zeros(4), np.zeros(1))
    with pytest.raises(IndexError, match=r"x: expected an index in 0..3, got 4"):
        beyond.on("python")(A, np.zeros(4), np.zeros(1))


def test_assertions_hold_in_every_round() -> None:
    @ev.kernel
    def asserted(A, y):
        n = 0
        while n < 3:
            assert n < 2, "three rounds"
            n += 1
            for row in A.tiles():
                assert n < 3
                y[row] = n

    A, y = ev.csr(matrices(np.float32)["one atom"]), np.zeros(1)
    for target, options in ("python", {}), ("cpu", {"debug": True}):
        with pytest.raises(ev.InputError, match="assert n < 2"):
            asserted.on(target, **options)(A, y)
        assert y[0] == 2
    asserted.on("cpu")(A, y)  # where nothing is checked, assertions are left out
    assert y[0] == 3


def test_lengths_are_checked_before_the_launch() -> None:
    A = ev.csr(matrices(np.float32)["power law"])
    with pytest.raises(ev.InputError, match="y: expected at least 400 elements"):
        steps(A, 0, np.zeros(399))


@pytest.mark.simt
def test_simt_counts_every_launch_and_compares_seeds() -> None:
    A = ev.csr(matrices(np.float32)["empty in the middle"])
    y = np.zeros(A.num_tiles)
    plan = steps.plan(A, 3, y, schedule="thread_mapped", target="simt")
    names = [c.kernel for c in plan.counters()]
    assert names == ["steps_0", *["steps_1", "steps_2"] * 3, "steps_3"]
    steps["merge_path"].on("simt", seeds=range(3))(A, 3, y)
    lengths = A.offsets[1:] - A.offsets[:-1]
    np.testing.assert_array_equal(y, 2 * (3 + 6) * lengths)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals")
def test_ctrl_c_ends_endless_rounds() -> None:
    @ev.kernel
    def endless(A, y):
        n = 0
        while n >= 0:
            n = (n + 1) % 7
            for row in A.tiles():
                y[row] += 1

    A, y = ev.csr(matrices(np.float32)["one atom"]), np.zeros(1)
    plan = endless.plan(A, y, target="cpu")

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            plan(A, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert y[0] > 0


def test_tune_measures_whole_calls() -> None:
    matrix = matrices(np.float32)["power law"]
    A, y = ev.csr(matrix), np.zeros(matrix.shape[0])
    plan = steps.plan(A, 3, y, target="cpu")
    tuned = plan.tune(candidates=["thread_mapped", "merge_path"], seconds=0.05, save=False)
    tuned(A, 3, y)
    np.testing.assert_array_equal(y, 6 * np.diff(matrix.indptr))
