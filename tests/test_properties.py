"""Random matrices, layouts and schedules always give the reference's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from tests import integers, typed
from tests.batteries import readable
from tests.kernels import CASES, FILLED, MOST, ROW_LAYOUTS, SCHEDULES, laid, tolerance

KERNELS = ("spmv", "row_extremes", "weighted_by_tile", "softmax", "spmv_dot")
KINDS = [(kernel, "float32") for kernel in KERNELS] + [
    (kernel, dtype) for kernel in ("spmv", "spmv_dot") for dtype in typed.TYPES
]
KINDS += [(kernel, dtype) for kernel in ("spmv", "spmm") for dtype in integers.TYPES]
# Few compilations, many inputs: the schedules in which most can go wrong.
CHOSEN = ("group 3", "work", "merge", "nonzero", "flat 64")


@st.composite
def matrices(draw) -> sp.csr_array:
    """Rows of any length: mostly short, now and then empty or far longer than the rest."""
    columns = draw(st.integers(1, 40))
    short, empty, long = st.integers(0, 6), st.just(0), st.integers(20, 300)
    sizes = draw(st.lists(st.one_of(short, short, empty, long), max_size=60))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    offsets = np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))])
    count = int(offsets[-1])
    values = rng.integers(-4, 5, count).astype(np.float32)
    indices = rng.integers(0, columns, count)
    return sp.csr_array((values, indices, offsets), shape=(len(sizes), columns))


ANYTHING = {
    "matrix": matrices(),
    "kind": st.sampled_from(KINDS),
    "schedule": st.sampled_from(CHOSEN),
    "layout": st.sampled_from(ROW_LAYOUTS),
}


@given(**ANYTHING)
def test_any_matrix(
    matrix: sp.csr_array, kind: tuple[str, str], schedule: str, layout: str
) -> None:
    agrees(matrix, kind, schedule, layout, "cpu")


@pytest.mark.simt
@settings(max_examples=20)  # most of them compile
@given(**ANYTHING, seed=st.integers(0, 2**40))
def test_any_matrix_and_any_order_of_threads(
    matrix: sp.csr_array, kind: tuple[str, str], schedule: str, layout: str, seed: int
) -> None:
    agrees(matrix, kind, schedule, layout, "simt", seed=seed)


def agrees(
    matrix: sp.csr_array,
    kind: tuple[str, str],
    schedule: str,
    layout: str,
    target: str,
    **options: Any,
) -> None:
    """Check that the target gives the reference's result, for a kernel and a type."""
    kernel, dtype = kind
    case = CASES[kernel]
    A = laid(matrix, layout)
    if layout in FILLED and case.structural and A.num_atoms > MOST:
        return  # the reference would walk the filling for minutes
    got, expected = (
        [typed.retyped(a, dtype) for a in case.arguments(A, matrix, np.float32)] for _ in range(2)
    )
    case.kernel[SCHEDULES[schedule]].on(target, **options)(*got)
    case.kernel.on("python")(*expected)
    for place in case.outputs:
        allowed = typed.TOLERANCES.get(dtype, tolerance(np.float32))
        np.testing.assert_allclose(readable(got[place]), readable(expected[place]), **allowed)


@given(matrix=matrices(), schedule=st.sampled_from(sorted(SCHEDULES)), n=st.integers(1, 50))
def test_any_partition_is_complete(matrix: sp.csr_array, schedule: str, n: int) -> None:
    A = ev.csr(matrix)
    assert SCHEDULES[schedule].partition(A, n).work().sum() == A.num_atoms
