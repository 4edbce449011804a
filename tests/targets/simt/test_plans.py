"""Plans on the emulator: partitions that they store, and what they check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices, vector
from tests.kernels import SCHEDULES, softmax_rows, spmv

import evenly as ev

pytestmark = pytest.mark.simt
SPLITS = ("merge", "nonzero", "work", "flat 32", "thread")


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


@pytest.mark.parametrize("schedule", ["merge", "nonzero"])
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


def test_check_sees_a_changed_structure() -> None:
    _, A, x, y = arguments("power law")
    plan = spmv[ev.MergePath(block=64, items=3)].on("simt").plan(A, x, y)
    plan.check()
    A.offsets[1:-1] = A.offsets[-1] // 2
    with pytest.raises(ev.InputError, match="A: expected the structure that the plan was made for"):
        plan.check()
