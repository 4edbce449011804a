"""A matrix of more than 2**31 nonzeros: positions of 64 bits, right, and at the speed of smaller ones."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from tests.test_items_by_size import products

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


BY_ITEMS = (
    "auto",
    ev.Nested(ev.TeamMapped(1024), ev.WarpMapped()),
    ev.Nested(ev.Lrb(512, warp=4096, grid=1 << 20), ev.WarpMapped()),
)


def test_a_batch_of_more_than_two_billion_nonzeros() -> None:
    """One item has almost all of them; the others lie around it."""
    cupy = pytest.importorskip("cupy")
    if cupy.cuda.Device().mem_info[0] < 60 * 2**30:
        pytest.skip("needs 60 GiB of free GPU memory")
    A, x, y = matrix_of_ones(cupy)
    spmv(A, x, y)
    ones = cupy.ones(3, np.float32)
    small = ev.csr((ones, cupy.arange(3, dtype=np.int32), cupy.arange(4)), shape=(3, 3))
    B = ev.batch([small, A, small])
    assert B.num_atoms > 2**31
    expected = cupy.concatenate([ones, y, ones])
    x = cupy.concatenate([ones, x, ones])
    del A
    got = cupy.empty_like(expected)
    for kernel, schedules in ((spmv, SCHEDULES[:2]), (products, BY_ITEMS)):
        for schedule in schedules:
            got[:] = -1
            kernel[schedule](B, x, got)
            assert (got == expected).all(), schedule


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
