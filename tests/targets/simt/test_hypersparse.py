"""`NonzeroSplit(hypersparse=True)`: a list of the tiles that have atoms, and a bit for each of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from tests.batteries import layout_batteries
from tests.covering import gives_what_the_reference_gives
from tests.kernels import CASES

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows

pytestmark = pytest.mark.simt
ALONE = ev.NonzeroSplit(block=64, items=3, hypersparse=True)
RUNS = ev.NonzeroSplit(block=64, items=4, run=4, hypersparse=True)
# By atom alone; by tile; with a total of the grid; with lanes; without a value, so that there is no list.
KERNELS = ("spmv", "weighted_by_tile", "spmv_dot", "spmm", "column_counts")
LENGTHS = {
    "no tile": [],
    "no atom": [0] * 200,
    "no empty tile": [2] * 100,
    "one tile": [1],
    "the first": [3] + [0] * 300,
    "the last": [0] * 300 + [5],
    "one of many blocks": [0] * 70 + [700] + [0] * 90 + [3, 1] + [0] * 40,
    "fewer blocks of atoms than of tiles": [0] * 9_000 + [1] + [0] * 700,
    "most": ([0] * 30 + [2, 70, 0, 0, 1]) * 40,
}


def rows(lengths: Any, columns: int = 50) -> scipy.sparse.csr_array:
    """Small whole numbers: sums are exact in any order."""
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    values = rng.integers(-8, 9, offsets[-1]).astype(np.float32)
    indices = rng.integers(0, columns, offsets[-1]).astype(np.int32)
    return scipy.sparse.csr_array((values, indices, offsets), shape=(len(lengths), columns))


@pytest.mark.parametrize("schedule", [ALONE, RUNS], ids=["alone", "runs"])
def test_products_in_calls_and_plans(schedule: Any) -> None:
    x = np.arange(50, dtype=np.float32)
    for name, lengths in LENGTHS.items():
        matrix = rows(lengths)
        A, called, planned = ev.csr(matrix), *np.full((2, len(lengths)), 7, np.float32)
        spmv_rows[schedule].on("simt")(A, x, called)
        plan = spmv_rows[schedule].on("simt").plan(A, x, planned)
        plan(A, x, planned)
        plan.check()
        np.testing.assert_array_equal(called, matrix @ x, err_msg=name)
        np.testing.assert_array_equal(planned, matrix @ x, err_msg=name)


@pytest.mark.parametrize(
    "kernel", [pytest.param(k, marks=() if k in KERNELS else pytest.mark.slow) for k in CASES]
)
def test_kernels(kernel: str) -> None:
    gives_what_the_reference_gives(kernel, ALONE, "csr", np.float32, "simt", seeds=(0, 1))


@pytest.mark.parametrize(
    "schedule", [ALONE, pytest.param(RUNS, marks=pytest.mark.slow)], ids=["alone", "runs"]
)
def test_each_tile_is_left_once_in_any_order(schedule: Any) -> None:
    for offsets in layout_batteries().values():
        ev.verify(schedule, ev.ragged(offsets), target="simt", seeds=range(8))


def test_a_plan_tells_that_other_tiles_have_atoms() -> None:
    matrix = rows([0, 3, 0, 0, 2, 0])
    A, x, y = ev.csr(matrix), np.ones(50, np.float32), np.zeros(6, np.float32)
    plan = spmv_rows[ALONE].on("simt").plan(A, x, y)
    A.offsets[1:3] = 3  # the three atoms are in the first tile now
    with pytest.raises(ev.InputError, match="the structure that the plan was made for"):
        plan.check()


def test_empty_tiles_take_a_bit_not_two_offsets() -> None:
    matrix = rows([0] * 3_000 + [3])
    A, x, y = ev.csr(matrix), np.ones(50, np.float32), np.zeros(3_001, np.float32)
    sectors = []
    for hypersparse in (False, True):
        plan = spmv_rows[ev.NonzeroSplit(64, 4, hypersparse=hypersparse)].on("simt").plan(A, x, y)
        sectors.append(plan.counters()[0].totals["global_load_sectors"])
    assert sectors[1] < sectors[0] / 5


def test_totals_where_fewer_blocks_have_atoms_than_tiles() -> None:
    """A finish kernel joins what blocks share, and the last blocks have nothing."""
    case = CASES["spmv_dot"]
    for lengths in ([0] * 4_000 + [1], [500] + [0] * 5_000, [3, 0, 400] + [0] * 5_000 + [90]):
        matrix = rows(lengths)
        args = case.arguments(ev.csr(matrix), matrix, np.float32)
        case.kernel[ALONE].on("simt")(*args)
        expected = case.arguments(ev.csr(matrix), matrix, np.float32)
        case.kernel.on("python")(*expected)
        for place in case.outputs:
            np.testing.assert_allclose(args[place], expected[place], rtol=1e-5)
