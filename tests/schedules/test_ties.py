"""Of equal maxima the first counts, wherever they are and whichever thread folds them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from tests.kernels import SCHEDULES

ROWS, LENGTH = 240, 300  # longer than what a warp of any schedule has between two ends


@ev.kernel
def first_of_two(A, where):
    for row in A.tiles():
        where[row] = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)


@pytest.fixture(scope="module")
def rows() -> tuple[sp.csr_array, np.ndarray]:
    """Rows of zeros with two ones each at random places, and the atoms of the first ones."""
    random = np.random.default_rng(5)
    places = np.sort([random.choice(LENGTH, 2, replace=False) for _ in range(ROWS)], axis=1)
    values = np.zeros((ROWS, LENGTH), np.float32)
    np.put_along_axis(values, places, 1, axis=1)
    starts = np.arange(ROWS + 1, dtype=np.int32) * LENGTH
    columns = np.tile(np.arange(LENGTH, dtype=np.int32), ROWS)
    matrix = sp.csr_array((values.ravel(), columns, starts), shape=(ROWS, LENGTH))
    return matrix, places[:, 0] + starts[:-1]


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_first_of_two(
    schedule: str, target: str, rows: tuple[sp.csr_array, np.ndarray]
) -> None:
    matrix, first = rows
    where = np.full(ROWS, -7, np.int32)
    first_of_two[SCHEDULES[schedule]].on(target)(ev.csr(matrix), where)
    np.testing.assert_array_equal(where, first)
