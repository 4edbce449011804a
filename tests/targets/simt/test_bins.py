"""Tiles sorted into bins: their order, that each runs once, and that results do not depend on the order of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.batteries import layout_batteries, matrices
from tests.kernels import halved, spmv_dot
from tests.targets.simt.mutants import BINS, sorted_tiles

import evenly as ev
from evenly.targets.simt.program import SimtProgram

pytestmark = pytest.mark.simt
SCHEDULES = (
    ev.Lrb(),
    ev.Lrb(block=64, lanes=4, thread=2, group=16, warp=128),
    ev.Lrb(block=32, lanes=32, thread=1, group=1, warp=1),
)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("name", layout_batteries())
def test_tiles_are_in_the_order_of_their_bins(name: str, blocks: int) -> None:
    """A stable sort, the greatest power of two first."""
    offsets = layout_batteries()[name].astype(np.int32)
    counts, order, empty = sorted_tiles(offsets, blocks)
    bits = np.array([int(n).bit_length() for n in np.diff(offsets)], np.int64)
    np.testing.assert_array_equal(order, np.argsort(-bits, kind="stable")[: (bits > 0).sum()])
    np.testing.assert_array_equal(empty, np.flatnonzero(bits == 0))
    np.testing.assert_array_equal(counts, np.bincount(31 - bits, minlength=32))


def test_more_counts_than_the_scan_loads_at_once() -> None:
    sizes = np.random.default_rng(0).integers(0, 9, 20_000)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    _, order, empty = sorted_tiles(offsets, 150)
    bits = np.array([int(n).bit_length() for n in sizes])
    np.testing.assert_array_equal(order, np.argsort(-bits, kind="stable")[: (bits > 0).sum()])
    np.testing.assert_array_equal(empty, np.flatnonzero(bits == 0))


def test_the_longest_tiles_are_in_the_first_bin() -> None:
    sizes = np.array([0, 1, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**62])
    found = np.zeros(len(sizes), np.int32)
    SimtProgram(BINS).launch("bins", 1, 32, sizes, len(sizes), found)
    assert found.tolist() == [31, 30, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_each_tile_is_left_once_in_twenty_orders(schedule: Any) -> None:
    for offsets in layout_batteries().values():
        ev.verify(schedule, ev.ragged(offsets), target="simt", seeds=range(20))


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_totals_have_equal_bits(schedule: Any) -> None:
    """`seeds` compares them; the sums of these numbers round."""
    matrix = matrices()["power law"][:200]
    random = np.random.default_rng(0)
    matrix.data[:] = random.standard_normal(matrix.nnz)
    x, w = (random.standard_normal(n).astype(np.float32) for n in matrix.shape[::-1])
    y, out = np.zeros(matrix.shape[0], np.float32), np.zeros(1, np.float32)
    spmv_dot[schedule].on("simt", seeds=range(20))(ev.csr(matrix), x, w, y, out)
    np.testing.assert_allclose(out[0], (matrix @ x) @ w, rtol=1e-4)


@ev.kernel
def added(A, y):
    """The tile reads what it stores, so no other thread may read or write it, not even to discard it."""
    for row in A.tiles():
        old = y[row]
        y[row] = old + sum(A.value(k) for k in A.atoms(row))


@pytest.mark.parametrize("rows", [1, 3, 9, 33, 400])
@pytest.mark.parametrize(
    "schedule", [*SCHEDULES, *(ev.DynamicChunks(9, n, 64) for n in (1, 3, 8, 48))], ids=str
)
def test_what_a_tile_reads_and_stores_is_its_own(schedule: Any, rows: int) -> None:
    matrix = matrices()["power law"][:rows]
    y = np.arange(rows, dtype=np.float32)
    added[schedule].on("simt")(ev.csr(matrix), y)
    np.testing.assert_array_equal(y, np.arange(rows) + matrix.sum(axis=1))


@pytest.mark.parametrize("schedule", [*SCHEDULES, ev.DynamicChunks(5, 4, 64)], ids=str)
def test_passes_in_a_loop(schedule: Any) -> None:
    matrix = matrices()["power law"]
    A, expected = ev.csr(matrix), np.zeros(matrix.shape[0], np.float32)
    halved.on("python")(A, expected)
    y = np.full_like(expected, np.nan)
    halved[schedule].on("simt", seeds=range(5))(A, y)
    np.testing.assert_allclose(y, expected, rtol=1e-5)
