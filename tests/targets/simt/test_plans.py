"""Plans on the emulator: partitions that they store, and what they check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices, vector
from tests.kernels import SCHEDULES, softmax_rows, spmv, two_loops

import evenly as ev
from evenly.gpus.gpu import Gpu

pytestmark = pytest.mark.simt
SPLITS = ("merge", "nonzero", "lrb", "work", "flat 32", "thread")


def arguments(name: str) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    matrix = matrices()[name]
    y = np.full(matrix.shape[0], np.nan, np.float32)
    return matrix, ev.csr(matrix), vector(matrix.shape[1]), y


@pytest.mark.parametrize("schedule", SPLITS)
def test_a_plan_runs_on_its_own_and_on_other_arguments(schedule: str) -> None:
    first, A, x, y = arguments("power law")
    second, B, u, v = arguments("a tile longer than a block")
    plan = spmv[SCHEDULES[schedule]].on("simt", seeds=range(3)).plan(A, x, y)
    plan(A, x, y)
    np.testing.assert_array_equal(y, first @ x)
    plan(B, u, v)  # another layout: nothing stored of the first may be used
    np.testing.assert_array_equal(v, second @ u)
    first.data *= 2  # values are read live
    plan(A, x, y)
    np.testing.assert_array_equal(y, first @ x)
    plan.check()


@pytest.mark.parametrize("schedule", ["merge", "nonzero", "lrb"])
def test_every_stored_partition_is_the_searched_one(schedule: str) -> None:
    for name in matrices():
        _, A, x, y = arguments(name)
        bound = softmax_rows[SCHEDULES[schedule]].on("simt", seed=1)
        plan = bound.plan(A, x, y)
        plan(A, x, y)
        plan.check()
        searched = np.full_like(y, np.nan)
        bound(A, x, searched)
        assert y.tobytes() == searched.tobytes(), name


@pytest.mark.parametrize("schedule", ["merge", "lrb"])
def test_check_sees_a_changed_structure(schedule: str) -> None:
    _, A, x, y = arguments("power law")
    plan = spmv[SCHEDULES[schedule]].on("simt").plan(A, x, y)
    plan.check()
    A.offsets[1:-1] = A.offsets[-1] // 2
    with pytest.raises(ev.InputError, match="A: expected the structure that the plan was made for"):
        plan.check()


# ---- bins: made once a plan, or once a run -----------------------------------------------------------
def kernels(plan: Any, stored: bool) -> list[str]:
    """The kernels of a run, as targets with launches have them."""
    program, binding = plan._executable.program, plan._binding
    return [
        s.kernel.name for s in program.run(binding, Gpu(4), plan._stored if stored else ()).steps
    ]


def test_a_plan_of_bins_has_the_main_kernel_only() -> None:
    _, A, x, y = arguments("power law")
    plan = spmv[ev.Lrb()].on("simt").plan(A, x, y)
    assert kernels(plan, stored=True) == ["spmv_0"]
    made = ["spmv_0_bins_count", "spmv_0_bins_scan", "spmv_0_bins_place"]
    assert kernels(plan, stored=False) == [*made, "spmv_0"]
    tiles, position = A.num_tiles, 4
    assert plan.workspace == (32 + -(-tiles // 32) + 32 * 8 + tiles) * position


def test_loops_over_one_layout_share_their_bins() -> None:
    _, A, x, y = arguments("power law")
    plan = two_loops[ev.Lrb()].on("simt").plan(A, x, y, y.copy())
    assert kernels(plan, stored=False)[3:] == ["two_loops_0", "two_loops_1"]


def test_bins_of_a_frontier_are_made_each_time() -> None:
    """Only the device knows how many tiles it has."""
    matrix, A, x, y = arguments("power law")
    rows = np.arange(matrix.shape[0])
    frontiers = [ev.subset(A, rows, count=np.array([n])) for n in (30, 0, 400)]
    plan = spmv[SCHEDULES["lrb"]].on("simt", seeds=range(3)).plan(frontiers[0], x, y)
    assert plan._stored == {}
    for frontier, n in zip(frontiers, (30, 0, 400), strict=True):
        y[:] = -7
        plan(frontier, x, y)
        np.testing.assert_array_equal(y, np.where(rows < n, matrix @ x, -7))


# ---- loops: what all rounds read is made before the first ------------------------------------------------
@ev.kernel
def powers(A, x, y, most):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))
    rounds = 0
    while rounds < most:
        rounds += 1
        for row in A.tiles():
            y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
        for row in A.tiles():
            x[row] = y[row]


@pytest.mark.parametrize("schedule", ["merge", "nonzero"])
def test_a_loop_cuts_its_layouts_once(schedule: str) -> None:
    matrix = matrices()["power law"][:200]
    A, y = ev.csr(matrix), np.empty(200, np.float32)
    assert matrix.shape == (200, 200)
    x = vector(200)
    bound = powers[SCHEDULES[schedule]].on("simt", seeds=range(3))
    plan = bound.plan(A, x, y, 2)
    once, kept = (kernels(plan, stored) for stored in (False, True))
    assert once.index("powers_0_partition") == 0  # the loop before the rounds reads it, too
    assert [name for name in once if "partition" in name] == ["powers_0_partition"]
    assert kept == once[1:]
    for rounds in (0, 1, 3):
        found, expected = x.copy(), x
        bound(A, found, y, rounds)
        for _ in range(rounds):
            expected = matrix @ expected
        np.testing.assert_allclose(found, expected, rtol=1e-5)
