"""Counters of a launch: sums, shares, and the table that the command line prints."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly.targets.simt.counters import DTYPE, Counters


def records(*warps: dict[str, int]) -> np.ndarray:
    made = np.zeros(len(warps), DTYPE)
    for record, warp in zip(made, warps, strict=True):
        for name, value in warp.items():
            record[name] = value
    return made


COUNTERS = Counters(
    records(
        {"block": 1, "warp": 0, "blocks_executed": 3, "active_lanes": 72, "branches": 8, "divergent_branches": 1},
        {"block": 0, "warp": 0, "blocks_executed": 1, "active_lanes": 8, "branches": 2, "divergent_branches": 1},
        {"block": 1, "warp": 1, "global_load_requests": 2, "global_load_sectors": 10, "global_load_bytes": 80},
        {"block": 1, "warp": 2, "shared_load_requests": 1, "shared_load_wavefronts": 4, "shared_load_conflicts": 3},
        {"block": 0, "warp": 1, "global_atomics": 32, "global_atomic_collisions": 24, "shared_atomics": 8},
    )
)  # fmt: skip


def test_totals_are_sums_over_warps() -> None:
    assert COUNTERS.totals["branches"] == 10
    assert "block" not in COUNTERS.totals


def test_per_block_sums_the_warps_of_a_block() -> None:
    blocks = COUNTERS.per_block
    assert blocks["block"].tolist() == [0, 1]
    assert blocks["warp"].tolist() == [2, 3]
    assert blocks["branches"].tolist() == [2, 8]
    assert blocks["global_atomics"].tolist() == [32, 0]


def test_shares() -> None:
    assert COUNTERS.idle_lanes == 1 - 80 / (4 * 32)
    assert COUNTERS.divergence == 2 / 10
    assert COUNTERS.load_coalescing == 80 / (10 * 32)
    assert (COUNTERS.bank_conflicts, COUNTERS.atomics, COUNTERS.atomic_collisions) == (3, 40, 24)


def test_the_table_leaves_out_what_was_not_touched() -> None:
    assert str(COUNTERS).splitlines() == [
        "warps                   5  of 32 lanes",
        "idle lanes          37.5%  wait while others of their warp execute",
        "divergent branches  20.0%  of 10: lanes of a warp part",
        "global loads            2  instructions of warps",
        "  sectors read         10  of 32 bytes, 5.0 an instruction",
        "  coalescing        25.0%  of the bytes of these sectors are used",
        "shared loads            1  instructions of warps",
        "  wavefronts            4  passes over the banks",
        "  bank conflicts        3  passes more than without conflicts",
        "atomics                40  operations, a lane each",
        "  collisions           24  wait for another lane at the same address",
    ]


def test_a_launch_that_did_nothing() -> None:
    nothing = Counters(records())
    assert (nothing.idle_lanes, nothing.divergence, nothing.store_coalescing) == (0, 0, 0)
    assert len(nothing.per_block) == 0
    assert str(nothing).startswith("warps")


def test_records_of_another_type_are_refused() -> None:
    with pytest.raises(ev.errors.InternalError, match=r"got float64 of shape \(3,\)"):
        Counters(np.zeros(3))
