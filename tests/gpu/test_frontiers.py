"""Subsets whose number of tiles only the device knows: the host never reads it."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly.language.names import atomic_add
from tests.batteries import matrices, vector
from tests.kernels import SCHEDULES

pytestmark = pytest.mark.gpu


@ev.kernel
def reached(F, x, y, degrees, visits):
    for row in F.tiles():
        y[row] = sum(F.value(k) * x[F.column(k)] for k in F.atoms(row))
        size = 0
        for k in F.atoms(row):
            size += 1
            atomic_add(visits, k, 1)
        degrees[row] = size


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_frontier_of_any_size(schedule: str, share: float) -> None:
    cupy = pytest.importorskip("cupy")
    for name in ("power law", "a tile longer than a block", "many empty between", "all equal"):
        matrix = matrices(np.float32)[name]
        rows = matrix.shape[0]
        order = np.random.default_rng(3).permutation(rows).astype(np.int32)
        used = int(rows * share)
        base = ev.csr(matrix).to("cuda")
        count = cupy.asarray(np.array([used], np.int32))
        frontier = ev.subset(base, cupy.asarray(order), count=count)
        x = cupy.asarray(vector(matrix.shape[1]))
        y, degrees = cupy.full(rows, -7, np.float32), cupy.full(rows, -7, np.int64)
        visits = cupy.zeros(matrix.nnz, np.int32)
        reached[SCHEDULES[schedule]](frontier, x, y, degrees, visits)
        inside = np.zeros(rows, bool)
        inside[order[:used]] = True
        np.testing.assert_array_equal(y.get(), np.where(inside, matrix @ x.get(), -7), err_msg=name)
        np.testing.assert_array_equal(degrees.get(), np.where(inside, np.diff(matrix.indptr), -7))
        np.testing.assert_array_equal(visits.get(), np.repeat(inside, np.diff(matrix.indptr)))


def test_prefix_sums_of_many_tiles() -> None:
    """More tiles than one block of the scan takes, and than one round over its totals."""
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 5, 1_500_000)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    base = ev.ragged(cupy.asarray(offsets))
    order = rng.permutation(len(sizes)).astype(np.int32)
    found = ev.subset(base, cupy.asarray(order)).offsets.get()
    np.testing.assert_array_equal(found, np.concatenate([[0], np.cumsum(sizes[order])]))
