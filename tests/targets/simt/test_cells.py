"""The host makes as many cells as blocks use (device/meet.cuh): two texts of one rule, held together."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.targets.gpu.engines.split_launch import cells
from evenly.targets.simt.program import SimtProgram

pytestmark = pytest.mark.simt
BLOCKS = np.array([2, 3, 127, 128, 129, 255, 256, 257, 5000, 16_384, 16_385, 2**21 + 1, 2**31 - 1])
SOURCE = """
EV_KERNEL(32) count(const long long* blocks, long long* found) {
  if (ev::thread_rank() < 13) found[ev::thread_rank()] = ev::cells_of(blocks[ev::thread_rank()]);
}
"""


def test_the_host_counts_cells_as_the_device_does() -> None:
    found = np.zeros(len(BLOCKS), np.int64)
    SimtProgram(SOURCE).launch("count", 1, 32, BLOCKS, found)
    assert found.tolist() == [cells(int(n)) for n in BLOCKS]


def test_a_block_alone_needs_none() -> None:
    assert cells(1) == cells(0) == 0
