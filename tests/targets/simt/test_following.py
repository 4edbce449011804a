"""Passes that follow at once where a tile lies within a block (device/following.cuh), on lists of nasty lengths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.batteries import layout_batteries

import evenly as ev
from evenly.algorithms.ragged.segment_softmax import softmax

pytestmark = pytest.mark.simt
MOST = 6_000  # elements that an emulator walks
LENGTHS = {name: o for name, o in layout_batteries().items() if o[-1] <= MOST}
SCHEDULES = (
    ev.NonzeroSplit(block=64, items=4, run=2),
    ev.NonzeroSplit(block=32, items=8, run=4),
    ev.NonzeroSplit(block=96, items=4, run=4),
    ev.NonzeroSplit(block=64, items=16, run=2),
)


def drawn(offsets: Any, dtype: Any) -> np.ndarray:
    return np.random.default_rng(0).normal(size=int(offsets[-1])).astype(dtype)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_a_softmax(lengths: str, schedule: Any) -> None:
    offsets = LENGTHS[lengths]
    for dtype in (np.float32, np.float64):
        x, out = drawn(offsets, dtype), np.full(int(offsets[-1]), np.nan, dtype)
        expected = ev.ragged.segment_softmax(x, offsets, target="python")
        softmax[schedule].on("simt")(ev.ragged(offsets), x, dtype(1), out)
        np.testing.assert_allclose(out, expected, rtol=1e-5)


@pytest.mark.parametrize("items", [12, 24])
def test_more_ends_in_a_warp_than_a_byte_counts(items: int) -> None:
    """The list of a warp's slots in which tiles end has their low bits; threads do not begin at multiples of 256."""
    lengths = np.random.default_rng(items).choice([1, 1, 1, 1, 2, 0, 60], 1200)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    x, out = drawn(offsets, np.float32), np.full(int(offsets[-1]), np.nan, np.float32)
    expected = ev.ragged.segment_softmax(x, offsets, target="python")
    schedule = ev.NonzeroSplit(block=32, items=items, run=4)
    softmax[schedule].on("simt")(ev.ragged(offsets), x, np.float32(1), out)
    np.testing.assert_allclose(out, expected, rtol=1e-5)


@ev.kernel
def bounded(R, x, out):
    """What a tile leaves takes more than what it is reduced to."""
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        low, high = -abs(total), math.sqrt(abs(total))
        for k in R.atoms(t):
            out[k] = min(max(x[k], low), high)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("lengths", ["one tile has everything", "all equal", "many empty between"])
def test_where_runs_are_not_aligned(lengths: str, seed: int) -> None:
    offsets = LENGTHS[lengths]
    x = drawn(np.append(offsets, offsets[-1] + 1), np.float32)
    x, out = x[1:], np.full(int(offsets[-1]) + 1, np.nan, np.float32)[1:]
    expected = np.empty_like(x)
    bounded.on("python")(ev.ragged(offsets), x, expected)
    bounded[SCHEDULES[1]].on("simt", seed=seed)(ev.ragged(offsets), x, out)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


def test_atoms_of_shared_tiles_read_what_has_been_written() -> None:
    """Where what a tile leaves does not fit in the place of its value: atoms at a block's start, which do not store it."""
    offsets = np.array([0, 3, 300, 310, 1000])
    x, out = drawn(offsets, np.float32), np.full(1000, np.nan, np.float32)
    expected = np.empty_like(x)
    bounded.on("python")(ev.ragged(offsets), x, expected)
    bounded[SCHEDULES[1]].on("simt", seeds=range(2))(ev.ragged(offsets), x, out)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@ev.kernel
def from_the_last(R, order, out):
    """What a tile leaves is part of an index."""
    for t in R.tiles():
        last = max((order[k] for k in R.atoms(t)), default=0)
        for k in R.atoms(t):
            out[k] = order[last - order[k]]


@ev.kernel
def of_all(R, order, out):
    """What a tile leaves is a divisor."""
    for t in R.tiles():
        total = sum(order[k] for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = order[k] // total


@pytest.mark.parametrize("kernel", [from_the_last, of_all], ids=lambda k: k.name)
@pytest.mark.parametrize("lengths", ["one tile has everything", "many empty between"])
def test_what_only_whole_tiles_make_valid(lengths: str, kernel: Any) -> None:
    offsets = LENGTHS[lengths]
    order = np.arange(1, int(offsets[-1]) + 1, dtype=np.int32)
    out, expected = np.zeros_like(order), np.zeros_like(order)
    kernel.on("python")(ev.ragged(offsets), order, expected)
    kernel[SCHEDULES[1]].on("simt")(ev.ragged(offsets), order, out)
    assert out.tolist() == expected.tolist()
