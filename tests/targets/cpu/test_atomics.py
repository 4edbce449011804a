"""Atomics from several threads at once: Numba's own, and Python's."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
import pytest
from tests.targets.cpu.programs import compiled, csr_of, run

import evenly as ev

TYPES = (np.int32, np.int64, np.float32, np.float64)
N = 60_000  # enough for several workers


def add(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(out, A.column(k), 1)


def add_2d(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(out, (A.column(k) % 3, A.column(k) // 3), 1)


def extremes(A, least, greatest):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_min(least, A.column(k), A.value(k))
            ev.atomic_max(greatest, A.column(k), A.value(k))


def tickets(A, counter, taken):
    """The old value of an addition is a number that nobody else gets."""
    for row in A.tiles():
        for _ in A.atoms(row):
            ticket = ev.atomic_add(counter, 0, 1)
            taken[int(ticket)] = 1


def claims(A, owner, won):
    """One compare-and-exchange succeeds for each column."""
    for row in A.tiles():
        for k in A.atoms(row):
            if ev.atomic_cas(owner, A.column(k), -1, row) == -1:
                ev.atomic_add(won, A.column(k), 1)


def passed_on(A, slot, total):
    """What is exchanged in is exchanged out once: nothing is lost."""
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(total, 0, ev.atomic_exch(slot, A.column(k), 1))


def matrix(dtype: Any = np.float32) -> Any:
    return csr_of(np.arange(0, N + 1, 2), dtype, columns=9)


def counts(A: Any, dtype: Any) -> np.ndarray:
    return np.bincount(A.indices, minlength=9).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_additions_are_all_there(dtype: Any) -> None:
    A = matrix()
    given = {"A": A, "out": np.zeros(9, dtype)}
    run(compiled(add, given, ev.MergePath()), given, 4)
    np.testing.assert_array_equal(given["out"], counts(A, dtype))


def test_additions_into_two_axes() -> None:
    A = matrix()
    given = {"A": A, "out": np.zeros((3, 3), np.float32)}
    run(compiled(add_2d, given, ev.MergePath()), given, 4)
    np.testing.assert_array_equal(given["out"].T.ravel(), counts(A, np.float32))


@pytest.mark.parametrize("dtype", TYPES)
def test_extremes(dtype: Any) -> None:
    A = matrix(dtype)
    given = {"A": A, "least": np.full(9, 100, dtype), "greatest": np.full(9, -100, dtype)}
    run(compiled(extremes, given, ev.MergePath()), given, 4)
    for c in range(9):
        v = A.values[A.indices == c]
        assert (given["least"][c], given["greatest"][c]) == (v.min(), v.max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("where", ["contribution", "element"])
def test_nan_propagates_through_extremes(dtype: Any, where: str) -> None:
    A = matrix(dtype)
    given = {"A": A, "least": np.full(9, 100, dtype), "greatest": np.full(9, -100, dtype)}
    if where == "element":
        given["least"][3] = given["greatest"][3] = np.nan
    else:
        A.values[np.flatnonzero(A.indices == 3)[5]] = np.nan
    run(compiled(extremes, given, ev.MergePath()), given, 4)
    for out in (given["least"], given["greatest"]):
        assert np.isnan(out[3])
        assert not np.isnan(np.delete(out, 3)).any()


@pytest.mark.parametrize("dtype", TYPES)
def test_old_values_are_unique(dtype: Any) -> None:
    A = matrix()
    given = {"A": A, "counter": np.zeros(1, dtype), "taken": np.zeros(N, np.int32)}
    run(compiled(tickets, given, ev.MergePath()), given, 4)
    assert given["counter"][0] == N
    assert given["taken"].all()


@pytest.mark.parametrize("dtype", TYPES)
def test_one_compare_and_exchange_wins(dtype: Any) -> None:
    A = matrix()
    given = {"A": A, "owner": np.full(9, -1, dtype), "won": np.zeros(9, np.int32)}
    run(compiled(claims, given, ev.MergePath()), given, 4)
    np.testing.assert_array_equal(given["won"], 1)
    for c, row in enumerate(given["owner"]):
        assert c in A.indices[A.offsets[int(row)] : A.offsets[int(row) + 1]]


def test_floats_are_expected_as_floats_are_compared() -> None:
    def swap(A, x, old):
        for row in A.tiles():
            old[row] = ev.atomic_cas(x, row, 0.0, 5.0)

    A = csr_of(np.zeros(4, int))
    given = {"A": A, "x": np.array([-0.0, np.nan, 1.0], np.float32), "old": np.zeros(3, np.float32)}
    before = given["x"].copy()
    run(compiled(swap, given, ev.ThreadMapped()), given)
    np.testing.assert_array_equal(given["x"], np.array([5.0, np.nan, 1.0], np.float32))
    np.testing.assert_array_equal(given["old"], before)


@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_is_lost_in_exchanges(dtype: Any) -> None:
    A = matrix()
    given = {"A": A, "slot": np.zeros(9, dtype), "total": np.zeros(1, dtype)}
    run(compiled(passed_on, given, ev.MergePath()), given, 4)
    assert given["total"][0] + given["slot"].sum() == N


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_from_python_threads_on_one_array(dtype: Any) -> None:
    A = matrix()
    given = {"A": A, "out": np.zeros(9, dtype)}
    executable = compiled(add, given, ev.MergePath())
    threads = [threading.Thread(target=run, args=(executable, given, n)) for n in (1, 2, 3, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_array_equal(given["out"], counts(A, dtype) * 4)


@ev.kernel
def everybody(A, V, F, out):
    for v in V.tiles():
        F.push(v)
        ev.atomic_add(out, 0, 1)
    for v in F.tiles():
        ev.atomic_add(out, v + 1, 1)


@pytest.mark.parametrize("unique", [False, True])
def test_one_worker_alone_pushes_without_locks(unique: bool) -> None:
    """Into the caller's array it adds with one, for another thread may do so, too."""
    A = csr_of(np.arange(N + 1))
    arguments = {
        "A": A,
        "V": A,
        "F": ev.frontier(A, unique=unique),
        "out": np.zeros(N + 1, np.int64),
    }
    made = compiled(everybody, arguments, ev.ThreadMapped())
    pushes = {"add", "exch"} if unique else {"add"}
    assert set(re.findall(r"= atomic_(\w+)_unless\(a_F", made.source)) == pushes
    for workers in (1, 2, 7):
        arguments["out"][:] = 0
        run(made, arguments, workers)
        assert arguments["out"].tolist() == [N, *[1] * N]
