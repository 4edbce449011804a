"""Several workers: Numba's setting, several Python threads, a fork, a layer that takes one call at a time."""

from __future__ import annotations

import multiprocessing
import threading
from typing import Any

import numba
import numpy as np
import pytest
from tests.targets.cpu.programs import compiled, csr_of, run

import evenly as ev
from evenly.targets.cpu import workers


def sums(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def large() -> dict[str, Any]:
    A = csr_of(np.arange(0, 90_001, 3))
    A.values[:] = np.random.default_rng(0).standard_normal(A.num_atoms)
    return {
        "A": A,
        "x": np.random.default_rng(1).standard_normal(50).astype(np.float32),
        "y": np.zeros(A.num_tiles, np.float32),
    }


def expected(given: dict[str, Any]) -> np.ndarray:
    A = given["A"]
    return np.add.reduceat(A.values * given["x"][A.indices], A.offsets[:-1])


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many workers each phase was run by."""
    seen: list[int] = []
    plain = workers.run_workers

    def run_workers(function: Any, address: int, count: int, slots: int) -> None:
        seen.append(count)
        plain(function, address, count, slots)

    monkeypatch.setattr(workers, "run_workers", run_workers)
    return seen


def test_numbas_setting_is_honoured(counted: list[int]) -> None:
    given = large()
    executable = compiled(sums, given, ev.MergePath())
    before = numba.get_num_threads()
    try:
        for n in range(1, numba.config.NUMBA_NUM_THREADS + 1):
            numba.set_num_threads(n)
            run(executable, given)
            np.testing.assert_allclose(given["y"], expected(given), rtol=1e-4, atol=1e-5)
    finally:
        numba.set_num_threads(before)
    assert counted[0] == 1
    assert all(count % n == 0 for n, count in enumerate(counted, 1))


def test_little_work_has_one_worker(counted: list[int]) -> None:
    given = {
        "A": csr_of(np.array([0, 3, 5])),
        "x": np.ones(50, np.float32),
        "y": np.zeros(2, np.float32),
    }
    run(compiled(sums, given, ev.MergePath()), given)
    assert counted == [1]


def test_a_worker_is_a_worthwhile_share() -> None:
    threads = numba.get_num_threads()
    assert workers.worker_count(workers.SMALL - 1) == 1
    assert workers.worker_count(10**9) == (threads * workers.EACH if threads > 1 else 1)
    for size in (workers.SMALL, 100_000, 1_000_000):
        assert (
            workers.worker_count(size) in (1, threads)
            or size // workers.worker_count(size) >= workers.SHARE
        )


def test_lanes_count_as_work(counted: list[int]) -> None:
    def products(A, X, Y):
        for row in A.tiles():
            for j in ev.lanes(X.shape[1]):
                Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))

    A = csr_of(np.arange(0, 901, 3))
    given = {"A": A, "X": np.ones((50, 64), np.float32), "Y": np.zeros((300, 64), np.float32)}
    run(compiled(products, given, ev.MergePath()), given)
    assert counted == [workers.worker_count(64 * 1200)]
    assert counted[0] >= numba.get_num_threads()


def test_several_python_threads_at_once() -> None:
    given = large()
    executable = compiled(sums, given, ev.MergePath())
    results = [dict(given, y=np.zeros_like(given["y"])) for _ in range(4)]

    def often(mine: dict[str, Any]) -> None:
        for _ in range(50):
            run(executable, mine, 2)

    threads = [threading.Thread(target=often, args=(r,)) for r in results]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    run(executable, given, 2)
    for r in results:
        assert r["y"].tobytes() == given["y"].tobytes()


def test_a_layer_that_takes_one_call_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call that finds Numba's threads taken runs its workers itself, to the same bits."""
    given = large()
    executable = compiled(sums, given, ev.MergePath())
    run(executable, given, 2)
    bits = given["y"].tobytes()
    driver, _ = workers._driver()
    calls = []
    monkeypatch.setattr(
        workers, "_driver", lambda: (lambda *a: (calls.append(a), driver(*a)), False)
    )
    given["y"][:] = 0
    run(executable, given, 2)
    assert len(calls) == 1
    assert given["y"].tobytes() == bits
    given["y"][:] = 0
    with workers._one_at_a_time:
        run(executable, given, 2)
    assert len(calls) == 1
    assert given["y"].tobytes() == bits


def _in_a_child(executable: Any, given: dict[str, Any], queue: Any) -> None:
    run(executable, given, 2)
    queue.put(given["y"].tobytes())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_works_alone() -> None:
    """OpenMP ends a process that was forked after its threads were started: they are not used there."""
    given = large()
    executable = compiled(sums, given, ev.MergePath())
    run(executable, given, 2)
    bits = given["y"].tobytes()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    given["y"][:] = 0
    child = context.Process(target=_in_a_child, args=(executable, given, queue))
    child.start()
    assert queue.get(timeout=60) == bits
    child.join(60)
    assert child.exitcode == 0
