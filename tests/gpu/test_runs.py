"""Runs of atoms on a GPU: numbers that wait in shared memory, of any type and alignment, and the same bits each time."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from tests.targets.simt.test_runs import STAGED, rows

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.gpu

SHARES = [(64, 8), (128, 4), (128, 8), (128, 16), (512, 8)]


@pytest.mark.parametrize(("block", "items"), SHARES)
@pytest.mark.parametrize(("dtype", "run"), [(dtype, run) for dtype, run, _ in STAGED if run <= 4])
def test_numbers_that_wait_in_shared_memory(dtype: type, run: int, block: int, items: int) -> None:
    matrix = rows([0, 1, 5, 64, 3, 0, 6300, 7, 2, *range(300), 90_000], np.int64)
    x, values = np.arange(50).astype(dtype), (matrix.data % 3).astype(dtype)
    through = np.concatenate([[0], np.cumsum((matrix.data % 3) * matrix.indices)])
    expected = np.diff(through[matrix.indptr])
    for by in 0, 1:  # the second: no run is aligned
        there = cupy.concatenate([cupy.zeros(by, dtype), cupy.asarray(values)])[by:]
        A = ev.csr(
            (there, cupy.asarray(matrix.indices), cupy.asarray(matrix.indptr)), shape=matrix.shape
        )
        y = cupy.full(len(expected), 7, dtype)
        plan = spmv_rows[ev.NonzeroSplit(block, items, run=run)].plan(A, cupy.asarray(x), y)
        for _ in range(3):
            y.fill(7)
            plan(A, cupy.asarray(x), y)
            np.testing.assert_array_equal(y.get(), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_bits_each_time(dtype: type) -> None:
    rng = np.random.default_rng(1)
    lengths = [int(n) for n in rng.pareto(1.1, 20_000) * 4]
    matrix = rows(lengths, np.int64)
    values, x = rng.random(matrix.nnz).astype(dtype), cupy.asarray(rng.random(50).astype(dtype))
    A = ev.csr((values, matrix.indices, matrix.indptr), shape=matrix.shape).to("cuda")
    y, found = cupy.empty(len(lengths), dtype), set()
    plan = spmv_rows[ev.NonzeroSplit(128, 8, run=4)].plan(A, x, y)
    for _ in range(20):
        plan(A, x, y)
        found.add(y.get().tobytes())
    assert len(found) == 1
