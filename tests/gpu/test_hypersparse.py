"""Lists of the tiles that have atoms, on a GPU: the same results and the same bits, and what `auto` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from tests.gpu.arguments import arguments
from tests.kernels import CASES, inputs, laid_out, reference, tolerance
from tests.targets.simt.test_hypersparse import ALONE, LENGTHS, RUNS, rows

pytestmark = pytest.mark.gpu
SCHEDULES = {
    "alone": ALONE,
    "runs": RUNS,
    "small": ev.NonzeroSplit(256, 2, hypersparse=True),
    "large": ev.NonzeroSplit(128, 8, hypersparse=True),
}
RNG = np.random.default_rng(0)
MANY = {
    "three million": np.where(RNG.random(3_000_000) < 0.92, 0, RNG.integers(1, 4, 3_000_000)),
    "the last of a million": np.repeat([0, 5], [1_000_000, 1]),
    "a hub": np.where(np.arange(500_000) == 77, 200_000, RNG.random(500_000) < 0.01),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_products_in_calls_and_plans(schedule: str) -> None:
    for name, lengths in {**LENGTHS, **MANY}.items():
        matrix = rows(np.asarray(lengths, np.int64))
        _, A, x, y = arguments(matrix)
        expected = matrix @ x.get()
        for run in (
            spmv_rows[SCHEDULES[schedule]],
            spmv_rows.plan(A, x, y, schedule=SCHEDULES[schedule]),
        ):
            y.fill(7)
            run(A, x, y)
            np.testing.assert_array_equal(y.get(), expected, err_msg=name)
            first = y.get().tobytes()
            run(A, x, y)
            assert y.get().tobytes() == first, name


@pytest.mark.parametrize("kernel", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels(kernel: str, dtype: Any) -> None:
    cupy = pytest.importorskip("cupy")
    case = CASES[kernel]
    for name, matrix in inputs(case, "csr", dtype).items():
        host = laid_out(case, matrix, "csr")
        given = case.arguments(host, matrix, dtype)[1:]
        args = [host.to("cuda"), *(cupy.asarray(a) for a in given)]
        case.kernel[ALONE].on("cuda")(*args)
        expected = reference(case, name, matrix, "csr", dtype)
        for place, wanted in zip(case.outputs, expected, strict=True):
            np.testing.assert_allclose(
                args[place].get(), wanted, **tolerance(dtype), err_msg=f"{name}, {place}"
            )


def test_auto_lists_in_plans_what_is_mostly_empty() -> None:
    _, A, x, y = arguments(rows(MANY["three million"], 3_000_000))
    plan = spmv_rows.plan(A, x, y)
    assert getattr(plan.schedule, "hypersparse", False), plan
    assert "hypersparse=True" in str(ev.explain(A))
