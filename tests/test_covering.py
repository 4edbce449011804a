"""Layouts x schedules x kernels x dtypes on target `cpu`, over the battery, against the reference.

The default run takes a covering set: every pair of (kernel, schedule), (kernel, layout) and
(schedule, layout) meets. `make test-all` runs the product.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import evenly as ev
from tests.batteries import matrices
from tests.kernels import CASES, ROW_LAYOUTS, SCHEDULES, inputs, laid_out, reference, tolerance

DTYPES = (np.float32, np.float64)


def covering() -> set[tuple[str, str, str, int]]:
    """A set in which each kernel meets each schedule, and each of both each layout and dtype."""
    chosen = set()
    for i, kernel in enumerate(CASES):
        for j, schedule in enumerate(SCHEDULES):
            chosen.add(
                (kernel, schedule, ROW_LAYOUTS[(i + j) % len(ROW_LAYOUTS)], (i + j // 2) % 2)
            )
    return chosen


def parameters() -> list:
    chosen = covering()
    product = itertools.product(CASES, SCHEDULES, ROW_LAYOUTS, range(2))
    return [
        pytest.param(*p, id="-".join(map(str, p)), marks=() if p in chosen else pytest.mark.slow)
        for p in product
    ]


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), parameters())
def test_cpu_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: int
) -> None:
    case, t = CASES[kernel], DTYPES[dtype]
    for name, matrix in inputs(case, layout, t).items():
        args = case.arguments(laid_out(case, matrix, layout), matrix, t)
        case.kernel[SCHEDULES[schedule]].on("cpu")(*args)
        for place, expected in zip(
            case.outputs, reference(case, name, matrix, layout, t), strict=True
        ):
            np.testing.assert_allclose(
                args[place], expected, **tolerance(t), err_msg=f"{name}, argument {place}"
            )


@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_index_types_mix(indices: type, offsets: type) -> None:
    matrix = matrices()["power law"]
    A = ev.csr(
        (matrix.data, matrix.indices.astype(indices), matrix.indptr.astype(offsets)),
        shape=matrix.shape,
    )
    case = CASES["spmv"]
    args = case.arguments(A, matrix, np.float32)
    case.kernel[ev.MergePath()].on("cpu")(*args)
    np.testing.assert_array_equal(args[2], matrix @ args[1])
