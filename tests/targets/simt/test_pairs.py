"""Pairs of numbers under blocks that take equal shares in runs (device/stream.cuh): lists of nasty lengths, unaligned arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.targets.simt.test_following import LENGTHS, drawn

import evenly as ev
from evenly.algorithms.ragged.segment_argmax import of_greatest
from evenly.algorithms.ragged.segment_reduce import logs_of_exponentials

pytestmark = pytest.mark.simt
SCHEDULES = (
    (ev.NonzeroSplit(block=32, items=8, run=4), np.float32),
    (ev.NonzeroSplit(block=64, items=8, run=2), np.float64),
    (ev.NonzeroSplit(block=64, items=16, run=4), np.float32),
)
MORE = {
    "every other one is empty": np.arange(1200).repeat(2),
    "long ones": np.array([0, 3, 2900, 2900, 2901, 5999]),
}


def hold(x: np.ndarray, offsets: Any, schedule: Any, seed: int) -> None:
    R, t = ev.ragged(offsets), x.dtype.type
    logs, where = np.full(R.num_tiles, np.nan, x.dtype), np.full(R.num_tiles, -9)
    wanted, at = np.empty_like(logs), np.empty_like(where)
    given = R, x, t(1), t(1)
    logs_of_exponentials.on("python")(*given, wanted)
    of_greatest.on("python")(R, x, at)
    logs_of_exponentials[schedule].on("simt", seed=seed)(*given, logs)
    of_greatest[schedule].on("simt", seed=seed)(R, x, where)
    np.testing.assert_allclose(logs, wanted, rtol=20 * np.finfo(t).eps)
    np.testing.assert_array_equal(where, at)


@pytest.mark.parametrize("lengths", [*LENGTHS, *MORE])
def test_nasty_lengths(lengths: str) -> None:
    """Few different numbers, so that ties go to the first of them."""
    offsets = (LENGTHS | MORE)[lengths]
    for seed, (schedule, dtype) in enumerate(SCHEDULES):
        hold(np.round(drawn(offsets, dtype) * 3), offsets, schedule, seed)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_where_runs_are_not_aligned(seed: int) -> None:
    for offsets in (MORE["long ones"], LENGTHS["many empty between"]):
        x = drawn(np.append(offsets, offsets[-1] + 1), np.float32)[1:]
        hold(x, offsets, SCHEDULES[seed][0], seed)
