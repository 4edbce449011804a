"""Chunks from a counter: each runs once whichever warp takes it, all bits are equal, and the counter is reset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.batteries import layout_batteries, matrices, vector
from tests.kernels import spmv_dot
from tests.targets.simt.mutants import TAKE

import evenly as ev
from evenly.targets.simt.program import SimtProgram

pytestmark = pytest.mark.simt
SIZES = {1: 40, 3: 7, 8: 5, 32: 2, 48: 2}  # threads a tile, and tiles a chunk


def scheduled(size: int) -> Any:
    return ev.DynamicChunks(SIZES[size], size, 64 if size < 32 else 128)


@pytest.mark.parametrize("size", SIZES)
def test_each_tile_is_left_once_in_twenty_orders(size: int) -> None:
    for name, offsets in layout_batteries().items():
        if size < 32 or len(offsets) < 100:  # an emulator takes its time for wide groups
            proof = ev.verify(scheduled(size), ev.ragged(offsets), target="simt", seeds=range(20))
            assert proof.tiles == len(offsets) - 1, name


@pytest.mark.parametrize("size", SIZES)
def test_totals_do_not_depend_on_who_took_what(size: int) -> None:
    """`seeds` compares bits; the sums of these numbers round."""
    matrix = matrices()["power law"][:200]
    random = np.random.default_rng(0)
    matrix.data[:] = random.standard_normal(matrix.nnz)
    x, w = (random.standard_normal(n).astype(np.float32) for n in matrix.shape[::-1])
    y, out = np.zeros(matrix.shape[0], np.float32), np.zeros(1, np.float32)
    spmv_dot[scheduled(size)].on("simt", seeds=range(20))(ev.csr(matrix), x, w, y, out)
    np.testing.assert_allclose(out[0], (matrix @ x) @ w, rtol=1e-4)


@pytest.mark.parametrize("used", [0, 1, 150])
@pytest.mark.parametrize("size", [1, 48])
def test_totals_of_a_frontier(size: int, used: int) -> None:
    """Only the device knows how many chunks there are: the others have no partial."""
    matrix = matrices()["power law"]
    frontier = ev.subset(
        ev.csr(matrix), np.arange(len(matrix.indptr) - 1)[::-1].copy(), count=np.array([used])
    )
    x, w = vector(matrix.shape[1]), vector(matrix.shape[0])
    y, out = np.zeros(matrix.shape[0], np.float32), np.full(1, np.nan, np.float32)
    spmv_dot[scheduled(size)].on("simt", seeds=range(3))(frontier, x, w, y, out)
    chosen = slice(matrix.shape[0] - used, None)
    assert out[0] == (matrix @ x)[chosen] @ w[chosen]


@pytest.mark.parametrize("kernel", ["by_warp", "by_group"])
def test_the_counter_is_ready_for_the_next_launch(kernel: str) -> None:
    program, taken = SimtProgram(TAKE), np.zeros(1, np.int64)
    for launch, tiles in enumerate((100, 0, 7, 64, 100)):
        left = np.zeros(tiles, np.int32)
        program.launch(kernel, 3, 128, left, tiles, taken, seed=launch)
        assert (left == 1).all()
        assert taken[0] == 0
