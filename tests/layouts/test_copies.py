"""Copies of a layout: the contract, and what their accessors give."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly.layouts.checker import check
from evenly.layouts.copies import Copies
from tests.batteries import matrices


@pytest.mark.parametrize("name", ["power law", "empty in the middle", "no atoms", "no tiles"])
def test_copies_follow_the_contract(name: str) -> None:
    base = ev.csr(matrices(np.float32)[name])
    for count in (0, 1, 3):
        check(Copies(base, count), "A")


@ev.kernel
def sums(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path"])
def test_each_copy_is_the_base(schedule: str) -> None:
    matrix = matrices(np.float64)["power law"]
    x, y = np.ones(matrix.shape[1]), np.empty(3 * matrix.shape[0])
    sums[schedule](Copies(ev.csr(matrix), 3), x, y)
    np.testing.assert_allclose(y, np.tile(matrix @ x, 3))
