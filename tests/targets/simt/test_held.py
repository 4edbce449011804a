"""Passes of a group that read for several atoms before they store (emit/held.py)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.batteries import layout_batteries

import evenly as ev


@ev.kernel
def in_turn(R, x, z, out, more):
    """A variable stands for one element after the other, and both are stored."""
    for t in R.tiles():
        for k in R.atoms(t):
            out[k] = 2 * x[k]
        for k in R.atoms(t):
            v = out[k]
            more[k] = v
            v = z[k]
            x[k] = out[k] - v


@ev.kernel
def exchanged(R, x, z, out, more):
    for t in R.tiles():
        for k in R.atoms(t):
            out[k], more[k] = 2 * x[k], 3 * z[k]
        for k in R.atoms(t):
            first, second = out[k], more[k]
            x[k] = second
            z[k] = first if first > second else 1


@pytest.mark.simt
@pytest.mark.parametrize("kernel", [in_turn, exchanged], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("schedule", [ev.GroupMapped(8, items=4), ev.BlockMapped(64, items=3)], ids=repr)  # fmt: skip
def test_results_are_the_references(kernel: ev.Kernel, schedule: object) -> None:
    offsets = layout_batteries()["a tile longer than a block"]
    made = np.random.default_rng(0).integers(-9, 10, (4, int(offsets[-1])))
    mine, theirs = made.copy(), made.copy()
    kernel[schedule].on("simt", seeds=(1, 2))(ev.ragged(offsets), *mine)
    kernel.on("python")(ev.ragged(offsets), *theirs)
    np.testing.assert_array_equal(mine, theirs)
