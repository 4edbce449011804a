"""What plans on the CPU promise beside right results."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import evenly as ev
from evenly.runtime.call_cache import CallCache
from tests.batteries import matrices, vector
from tests.kernels import column_counts, halved, softmax_rows, spmv


def made(schedule="auto"):
    matrix = matrices()["power law"]
    x, y = vector(matrix.shape[1]), np.zeros(matrix.shape[0], np.float32)
    A = ev.csr(matrix)
    return matrix, A, x, y, spmv.plan(A, x, y, schedule=schedule)


def test_a_plan_runs_again_on_live_values() -> None:
    matrix, A, x, y, plan = made()
    plan(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)
    x[:] = 2
    plan(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)


def test_a_plan_refuses_other_types() -> None:
    _, A, x, y, plan = made()
    with pytest.raises(
        ev.InputError,
        match=r"x: expected the type that the plan was made for, got float64 of shape .*; hint: make a plan",
    ):
        plan(A, x.astype(np.float64), y)


def test_a_plan_checks_lengths_too() -> None:
    _, A, x, y, plan = made()
    with pytest.raises(ev.InputError, match="y: expected at least"):
        plan(A, x, y[:-1].copy())


def test_launches_belong_to_cuda() -> None:
    *_, plan = made()
    with pytest.raises(
        ev.InputError, match="plan.launches: expected a plan on target 'cuda', got one on 'cpu'"
    ):
        _ = plan.launches
    assert plan.target == "cpu"
    assert "spmv" in repr(plan)


def test_counters_belong_to_simt() -> None:
    *_, plan = made()
    with pytest.raises(ev.InputError) as caught:
        plan.counters()
    assert str(caught.value) == (
        "plan.counters: expected a plan on target 'simt', got one on 'cpu'; "
        'hint: kernel[schedule].on("simt").plan(...)'
    )


@pytest.mark.simt
def test_counters_are_of_the_plans_own_arguments() -> None:
    matrix, A, x, y, _ = made()
    first, *rest = spmv[ev.ThreadMapped()].on("simt").plan(A, x, y).counters()
    np.testing.assert_array_equal(y, matrix @ x)
    assert (first.kernel, rest) == ("spmv_0", [])
    assert first.totals["global_store_bytes"] == y.nbytes


@ev.kernel
def marked(A, every, toggled):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_or(every, A.column(k), row)
            ev.atomic_xor(toggled, A.column(k), row)


@ev.kernel
def marked_and_toggled(A, masks):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_or(masks, A.column(k), row)
            ev.atomic_xor(masks, A.column(k), row)


def test_what_is_deterministic() -> None:
    matrix, A, x, y, plan = made()
    assert plan.deterministic
    assert softmax_rows.plan(A, x, y).deterministic
    assert column_counts.plan(
        A, np.zeros(matrix.shape[1], np.int32), np.zeros(1, np.int64)
    ).deterministic

    @ev.kernel
    def scattered(A, y):
        for row in A.tiles():
            for k in A.atoms(row):
                ev.atomic_add(y, A.column(k), A.value(k))

    assert not scattered.plan(A, np.zeros(matrix.shape[1], np.float32)).deterministic
    masks = np.zeros(matrix.shape[1], np.uint32)
    assert marked.plan(A, masks, masks.copy()).deterministic
    assert not marked_and_toggled.plan(A, masks).deterministic  # one operation after the other


@pytest.mark.parametrize(
    "schedule", [ev.ThreadMapped(), ev.MergePath(), ev.NonzeroSplit(), ev.WorkOriented()]
)
def test_equal_bits_on_every_run(schedule) -> None:
    matrix = matrices()["power law"]
    rng = np.random.default_rng(0)
    matrix.data[:] = rng.standard_normal(matrix.nnz).astype(np.float32)
    A, x = ev.csr(matrix), rng.standard_normal(matrix.shape[1]).astype(np.float32)
    y = np.zeros(matrix.shape[0], np.float32)
    plan = softmax_rows.plan(A, x, y, schedule=schedule)
    plan(A, x, y)
    first = y.tobytes()
    for _ in range(20):
        y[:] = np.nan
        plan(A, x, y)
        assert y.tobytes() == first


def test_threads_share_a_plan() -> None:
    matrix, A, x, _, plan = made(ev.MergePath())
    outputs = [np.zeros(matrix.shape[0], np.float32) for _ in range(4)]

    def work(y: np.ndarray) -> None:
        for _ in range(50):
            plan(A, x, y)

    threads = [threading.Thread(target=work, args=(y,)) for y in outputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for y in outputs:
        np.testing.assert_array_equal(y, matrix @ x)


def test_loops_inside_while_need_whole_tiles() -> None:
    matrix = matrices()["power law"]
    A, expected = ev.csr(matrix), np.zeros(matrix.shape[0], np.float32)
    halved.on("python")(A, expected)
    for schedule in ("auto", ev.ThreadMapped(), ev.GroupMapped(8), ev.BlockMapped()):
        y = np.zeros_like(expected)
        halved[schedule].on("cpu")(A, y)
        np.testing.assert_allclose(y, expected, rtol=1e-5)
    with pytest.raises(
        ev.LanguageError, match="use a schedule that owns whole tiles, as ThreadMapped, GroupMapped"
    ):
        halved[ev.MergePath()].on("cpu")(A, expected)


def test_a_call_that_is_not_known_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, A, x, y, plan = made()
    asked, repeat = [], CallCache.repeat
    monkeypatch.setattr(CallCache, "repeat", lambda *args: asked.append(1) or repeat(*args))
    plan(A, x, np.empty_like(y))
    assert len(asked) == 1
    plan(A, x, y, wait=True)
    monkeypatch.setattr(type(plan), "prepare", None)
    plan(A, x, y, wait=True)  # known
