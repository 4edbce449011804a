"""The engines as they are: nothing is found in any order of threads, and every order gives the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.batteries import matrices
from tests.kernels import CASES, SCHEDULES, inputs, laid_out, reference, tolerance

pytestmark = pytest.mark.simt

FEW = ("one tile has everything", "a tile longer than a block", "power law", "empty at the start")


@pytest.mark.parametrize(
    "schedule", ["merge", "nonzero", "work", "flat 32", "flat 64", "group 8", "group 48"]
)
@pytest.mark.parametrize("case", ["spmv", "weighted_by_tile", "spmv_dot"])
def test_ten_seeds(case: str, schedule: str) -> None:
    clean(case, schedule, {name: matrices(np.float32)[name] for name in FEW}, range(10))


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("case", CASES)
def test_a_hundred_seeds(case: str, schedule: str) -> None:
    clean(case, schedule, inputs(CASES[case], "csr", np.float32), range(100))


def clean(case: str, schedule: str, given: dict, seeds: range) -> None:
    known = CASES[case]
    kernel = known.kernel[SCHEDULES[schedule]].on("simt", seeds=seeds)
    for name, matrix in given.items():
        arguments = known.arguments(laid_out(known, matrix, "csr"), matrix, np.float32)
        kernel(*arguments)
        for place, expected in zip(
            known.outputs, reference(known, name, matrix, "csr", np.float32), strict=True
        ):
            np.testing.assert_allclose(
                arguments[place], expected, **tolerance(np.float32), err_msg=name
            )
