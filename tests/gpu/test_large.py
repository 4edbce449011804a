"""A matrix of more than 2**31 nonzeros: positions of 64 bits, right, and at the speed of smaller ones."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev

pytestmark = pytest.mark.gpu

ROWS, A_ROW = 1 << 22, 520  # 2.18e9 nonzeros


SCHEDULES = ("auto", ev.MergePath(128, 7), ev.NonzeroSplit(128, 7), ev.GroupMapped(32), ev.Lrb())


def test_more_than_two_billion_nonzeros() -> None:
    cupy = pytest.importorskip("cupy")
    if cupy.cuda.Device().mem_info[0] < 30 * 2**30:
        pytest.skip("needs 30 GiB of free GPU memory")
    A, x, y = matrix_of_ones(cupy)
    # Row r has x[r], x[r + 1], ..., around the end: small integers, so that float32 has them exactly.
    both = cupy.concatenate([x, x]).astype(np.int64)
    sums = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(both)])
    expected = (sums[A_ROW : A_ROW + ROWS] - sums[:ROWS]).astype(np.float32)
    for schedule in SCHEDULES:
        y[:] = -1
        spmv[schedule](A, x, y)
        assert (y == expected).all(), schedule


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def matrix_of_ones(cupy):
    """A_ROW nonzeros a row, in the columns from its own number on, around the end."""
    offsets = cupy.arange(ROWS + 1, dtype=np.int64) * A_ROW
    columns = cupy.empty((ROWS, A_ROW), np.int32)
    for first in range(0, ROWS, ROWS // 16):
        rows = cupy.arange(first, first + ROWS // 16)[:, None]
        columns[first : first + ROWS // 16] = (rows + cupy.arange(A_ROW)[None]) % ROWS
    values = cupy.ones(ROWS * A_ROW, np.float32)
    A = ev.csr((values, columns.reshape(-1), offsets), shape=(ROWS, ROWS))
    x = (cupy.arange(ROWS) % 7 - 3).astype(np.float32)
    return A, x, cupy.empty(ROWS, np.float32)
