"""Batches of matrices to test with, and the block-diagonal matrix that they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from tests.batteries import dense, matrices, vector

ALL = list(matrices(np.float64).values())

SOME = [m for m in ALL if m.shape[0] < 100 and m.nnz < 1000]

EYE = sp.eye_array(3, format="csr")

PATTERN = 5

SCHEDULES = [ev.ThreadMapped(), ev.GroupMapped(4), ev.MergePath(), ev.NonzeroSplit()]

TARGETS = ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)]


@ev.kernel
def products(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def in_scipy(A: Any) -> Any:
    return sp.csr_array((A.values, A.indices, A.offsets), shape=A.shape)


def diagonal(items: list[Any]) -> np.ndarray:
    """SciPy's block_diag as a dense array: it refuses an empty list, and loses items without rows or columns."""
    shapes = np.array([m.shape for m in items], int).reshape(-1, 2)
    whole = np.zeros(shapes.sum(axis=0))
    row = column = 0
    for m, (rows, columns) in zip(items, shapes, strict=True):
        whole[row : row + rows, column : column + columns] = dense(m)
        row, column = row + rows, column + columns
    return whole


def of_a_pattern(m: Any, count: int) -> tuple[Any, list[Any]]:
    """A batch of one pattern, and its items as SciPy's matrices."""
    values = vector(count * m.nnz, np.float64).reshape(count, m.nnz)
    items = [sp.csr_array((v, m.indices, m.indptr), shape=m.shape) for v in values]
    return ev.batch(m, values), items


def same(B: Any, items: list[Any]) -> None:
    """The batch is these items, as a whole and one by one."""
    assert (len(B), B.num_items) == (len(items), len(items))
    assert B.shapes == [m.shape for m in items]
    for made, m in zip(B, items, strict=True):
        ev.csr((made.values, made.indices, made.offsets), shape=made.shape)
        np.testing.assert_array_equal(dense(in_scipy(made)), dense(m))


def malformed(part: str, at: int, value: int, dtype: Any = np.int32) -> Any:
    m = EYE.copy()
    m.indices, m.indptr = m.indices.astype(dtype), m.indptr.astype(dtype)
    getattr(m, part)[at] = value
    return m


BATCHES = {
    "numbered through": lambda: (ev.batch(SOME, narrow=False), SOME),
    "narrow": lambda: (ev.batch(SOME), SOME),
    "one pattern": lambda: of_a_pattern(SOME[PATTERN], 5),
}
