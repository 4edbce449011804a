"""Lanes that add to one number at the same time (device/together.cuh), in any set of lanes."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.targets.simt.program import SimtProgram

pytestmark = pytest.mark.simt

SOURCE = """
EV_KERNEL(32) add(const unsigned* lanes, const long long* values, long long* to, long long* before) {
  const int lane = ev::lane_rank();
  if (lanes[0] >> lane & 1) before[lane] = ev::add_of(lanes[0], to, values[lane]);
}
EV_KERNEL(64) all(int* to, int* before) { before[ev::thread_rank()] = ev::add_together(to, 1); }
"""


@pytest.fixture(scope="module")
def program() -> SimtProgram:
    return SimtProgram(SOURCE)


@pytest.mark.parametrize("lanes", [1, 1 << 31, 0b1011, 0x8000_0001, 0xFFFF_FFFF, 0x5555_0001, 0x00FF_FF10, 0x7FFF_FFFE])  # fmt: skip
def test_each_lane_gets_what_lanes_before_it_have_added(program: SimtProgram, lanes: int) -> None:
    values = np.random.default_rng(lanes).integers(-(2**40), 2**40, 32)
    to, before = np.array([5]), np.full(32, -1)
    program.launch("add", 1, 32, np.array([lanes], np.uint32), values, to, before)
    run = [lane for lane in range(32) if lanes >> lane & 1]
    wanted, total = np.full(32, -1), 5
    for lane in run:
        wanted[lane] = total
        total += values[lane]
    np.testing.assert_array_equal(before, wanted)
    assert to[0] == total


def test_every_number_is_given_once_in_any_order(program: SimtProgram) -> None:
    for seed in range(4):
        to, before = np.zeros(1, np.int32), np.zeros(64, np.int32)
        program.launch("all", 1, 64, to, before, seed=seed)
        assert sorted(before) == list(range(64)) and to[0] == 64
