"""Calls like an earlier one, but for where their arrays lie: they run what was prepared, and are checked again."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import evenly as ev
from evenly.layouts.each import Each
from evenly.runtime.addresses import Memory, Span
from evenly.runtime.bound import Bound
from evenly.runtime.plan import Plan

N = 1000
A = scipy.sparse.random_array(
    (N, N), density=0.01, format="csr", dtype=np.float32, rng=np.random.default_rng(1)
)


@ev.kernel
def product(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def scratch(A, x, y):
    for row in A.tiles():
        first = A.offsets[row]
        found = ev.scratch(A.offsets[row + 1] - first, np.float32)
        for k in A.atoms(row):
            found[k - first] = x[A.column(k)]
        y[row] = sum(A.value(k) * found[k - first] for k in A.atoms(row))


@ev.kernel
def both(E, x, y, out):
    for i in E.tiles():
        out[i] = 2 * x[i] + y[i]


@ev.kernel
def both_layouts(E, A, x, y):
    for row in E.tiles():
        total = np.float32(0)
        for k in range(A.begin(row), A.end(row)):
            total += A.value(k) * x[A.column(k)]
        y[row] = total


@pytest.fixture
def prepared_once(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Lists the calls that are prepared from the start."""
    made: list[Any] = []
    before = Bound._prepare

    def counted(self: Bound, *args: Any, **named: Any) -> Any:
        made.append(self)
        return before(self, *args, **named)

    monkeypatch.setattr(Bound, "_prepare", counted)
    return made


def calls_elsewhere(call: Any, matrix: Callable[[], Any]) -> None:
    """Call a product with new vectors, which are kept, so that all lie elsewhere. Hold the results against SciPy's."""
    kept = []
    for i in range(20):
        x, y = np.full(N, i, np.float32), np.empty(N, np.float32)
        kept.append((x, y))
        call(matrix(), x, y)
    for x, y in kept:
        np.testing.assert_allclose(y, A @ x, rtol=1e-4)


@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path", "auto"])
def test_new_results_and_operands_are_not_prepared_again(
    schedule: str, prepared_once: list[Any]
) -> None:
    calls_elsewhere(product.copy()[schedule].on("cpu"), lambda: A)
    assert len(prepared_once) == 1


def test_layouts_made_anew_beside_new_arrays(prepared_once: list[Any]) -> None:
    calls_elsewhere(product.copy()["merge_path"].on("cpu"), lambda: ev.csr(A))
    assert len(prepared_once) == 1


def test_a_plan_does_not_prepare_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones(N, np.float32)
    plan = product.plan(A, x, np.empty(N, np.float32), target="cpu")
    kept = [np.empty(N, np.float32) for _ in range(20)]
    plan(A, x, kept[0])
    monkeypatch.setattr(Plan, "prepare", None)
    for y in kept:
        plan(A, x, y)
    for y in kept:
        np.testing.assert_allclose(y, A @ x, rtol=1e-4)


def test_a_plan_remembers_calls_with_a_matrix_and_with_its_layout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layout, x, y = ev.csr(A), np.ones(N, np.float32), np.empty(N, np.float32)
    plan = product.plan(layout, x, y, target="cpu")
    plan(A, x, y)
    plan(layout, x, y)
    monkeypatch.setattr(Plan, "prepare", None)
    for given in (A, A, layout, A):
        y[:] = 0
        plan(given, x, y)
        np.testing.assert_allclose(y, A @ x, rtol=1e-4)


def test_a_kernel_with_scratch_arrays(prepared_once: list[Any]) -> None:
    calls_elsewhere(scratch.copy()["thread_mapped"].on("cpu"), lambda: A)
    assert len(prepared_once) == 1


def test_what_a_new_call_would_refuse_is_refused() -> None:
    call, memory = product.copy()["merge_path"].on("cpu"), np.zeros(4 * N, np.float32)
    call(A, memory[:N], memory[N : 2 * N])
    with pytest.raises(ev.InputError, match="shares no memory"):
        call(A, memory[:N], memory[N - 1 : 2 * N - 1])
    with pytest.raises(ev.InputError, match="shares no memory"):
        call(A, memory[:N], A.data[:N])
    bytes_ = memory.view(np.uint8)[1 : 4 * N + 1].view(np.float32)
    with pytest.raises(ev.InputError, match="aligned"):
        call(A, memory[2 * N : 3 * N], bytes_)
    read_only = memory[2 * N : 3 * N]
    read_only.flags.writeable = False
    with pytest.raises(ev.InputError, match="writable"):
        call(A, memory[:N], read_only)


def test_arrays_without_memory_are_checked_anew() -> None:
    """PyTorch has such tensors, on no device or of zeros alone: their address is 0."""
    own = [Span("x", 64, 8, 4, False), Span("y", 128, 0, 4, True)]
    memory = Memory(own, [])
    assert memory.at((0, 256)) is None
    assert memory.at((256, 0)) is not None  # an empty array


def test_one_array_that_was_given_twice_may_become_two() -> None:
    x, y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
    for first, second in ((x, x), (x, y), (y, x)):
        out = np.empty(N, np.float32)
        both["thread_mapped"].on("cpu")(Each(N), first, second, out)
        np.testing.assert_array_equal(out, 2 * first + second)


def test_threads_with_arrays_of_their_own() -> None:
    """A run that one call takes over is never another's at the same time."""
    call, wrong = product.copy()["merge_path"].on("cpu"), []

    def work(number: int) -> None:
        expected = A @ np.full(N, number, np.float32)
        for _ in range(200):
            x, y = np.full(N, number, np.float32), np.empty(N, np.float32)
            call(A, x, y)
            if not np.allclose(y, expected, rtol=1e-4):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_bare_matrix_beside_a_layout_made_anew(prepared_once: list[Any]) -> None:
    """It is known by its arrays, and not kept alive."""
    mine, x, kept = A.copy(), np.ones(N, np.float32), []
    call = both_layouts.copy()["thread_mapped"].on("cpu")
    for _ in range(5):
        y = np.empty(N, np.float32)
        kept.append(y)
        call(Each(N), mine, x, y)
        np.testing.assert_allclose(y, mine @ x, rtol=1e-4)
    assert len(prepared_once) == 1
    held = weakref.ref(mine.data)
    del mine
    assert held() is None


def test_calls_alike_after_another_matrix_took_its_place(prepared_once: list[Any]) -> None:
    call, x = both_layouts.copy()["thread_mapped"].on("cpu"), np.ones(N, np.float32)
    for _ in range(3):
        other = A.copy()
        other.data *= 2
        y = np.empty(N, np.float32)
        call(Each(N), other, x, y)
        np.testing.assert_allclose(y, other @ x, rtol=1e-4)
        del other
    assert len(prepared_once) == 3  # unchecked arrays may lie at the same addresses
