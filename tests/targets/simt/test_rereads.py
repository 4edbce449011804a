"""Tiles that read what tiles store: nobody leaves a tile while others still walk it, under any schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernels import ENGINES

import evenly as ev

pytestmark = pytest.mark.simt
LENGTHS = ([8], [1000], [3, 0, 200, 1, 64, 64, 0, 5], [0, 0, 130])
# Under the flattened groups a warp's first lanes may leave a tile that its others still walk (not yet mended).
SCHEDULES = [s for s in (*ENGINES, ev.GroupMapped(32), ev.MergePath(32, 1)) if s.engine != "flatten"]  # fmt: skip


@ev.kernel
def in_the_pass(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[k] * y[row] for k in A.atoms(row))


@ev.kernel
def at_the_tile(A, x, y):
    for row in A.tiles():
        weight = y[row]
        y[row] = weight * 2 + sum(x[k] * weight for k in A.atoms(row))


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
@pytest.mark.parametrize("kernel", [in_the_pass, at_the_tile])
def test_no_race(kernel: Any, schedule: Any, lengths: list[int]) -> None:
    A = ev.ragged(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    x, y = np.ones(sum(lengths)), np.full(len(lengths), 2.0)
    expected = y.copy()
    kernel.on("python")(A, x, expected)
    kernel[schedule].on("simt", seeds=range(3))(A, x, y)
    np.testing.assert_array_equal(y, expected)
