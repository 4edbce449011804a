"""Runs of atoms side by side (`run=`): any alignment of arrays and tiles, the ends of arrays, and what they save."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from tests.emitting import emitted

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows

SCHEDULES = [
    ev.GroupMapped(4, 32, items=4, run=4),
    ev.GroupMapped(48, 64, items=8, run=2),
    ev.WarpMapped(items=8, run=8),
]


def shifted(array: np.ndarray, by: int) -> np.ndarray:
    """A copy that begins `by` elements behind a multiple of 64 bytes."""
    memory = np.zeros(array.nbytes + 128 + by * array.itemsize, np.uint8)
    start = -memory.ctypes.data % 64 + by * array.itemsize
    made = memory[start : start + array.nbytes].view(array.dtype)
    made[:] = array
    return made


def rows(lengths: list[int], dtype: type = np.float32) -> scipy.sparse.csr_array:
    """Small whole numbers in rows of these lengths: sums are exact in any order."""
    rng = np.random.default_rng(len(lengths))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, 50, offsets[-1]).astype(np.int32)
    return scipy.sparse.csr_array(
        (rng.integers(-8, 9, offsets[-1]).astype(dtype), columns, offsets), shape=(len(lengths), 50)
    )


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize(("values", "columns"), [(0, 0), (1, 0), (0, 3), (2, 2)])
def test_arrays_of_any_alignment(schedule: Any, values: int, columns: int) -> None:
    matrix = rows([0, 1, 5, 64, 3, 0, 130, 7])
    x, y = np.arange(50, dtype=np.float32), np.zeros(8, np.float32)
    A = ev.csr(
        (shifted(matrix.data, values), shifted(matrix.indices, columns), matrix.indptr),
        shape=matrix.shape,
    )
    spmv_rows[schedule].on("simt")(A, x, y)
    assert (y == matrix @ x).all()


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("last", range(9))
def test_arrays_that_end_within_a_run(schedule: Any, last: int) -> None:
    """And nothing behind them is touched: the emulator would tell."""
    matrix = rows([3, 33, last])
    x, y = np.arange(50, dtype=np.float32), np.zeros(3, np.float32)
    spmv_rows[schedule].on("simt")(ev.csr(matrix), x, y)
    assert (y == matrix @ x).all()


@pytest.mark.parametrize("run", [2, 4, 8])
@pytest.mark.parametrize(
    "dtype", [np.float16, np.float64, np.complex64, np.complex128, np.int64, np.bool_]
)
def test_numbers_of_any_size(dtype: type, run: int) -> None:
    """Of 1, 2, 8 and 16 bytes: several instructions a run, or less than one."""
    matrix = rows([0, 1, 5, 64, 3, 0, 130, 7], np.int64)
    values = (matrix.data % 2 if dtype is np.bool_ else matrix.data).astype(dtype)
    y = np.zeros(8, np.int64 if dtype is np.bool_ else np.float32 if dtype is np.float16 else dtype)
    sums[ev.GroupMapped(8, 32, items=8, run=run)].on("simt")(ev.ragged(matrix.indptr), values, y)
    through = np.concatenate([[0], np.cumsum(values, dtype=y.dtype)])
    assert (y == np.diff(through[matrix.indptr])).all()


@ev.kernel
def sums(A, values, y):
    for row in A.tiles():
        y[row] = sum(values[k] for k in A.atoms(row))


@ev.kernel
def some(A, short, y):
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            if k < 5:
                total += short[k]
            total += A.values[k]
        y[row] = total


def test_what_only_some_atoms_have_is_not_asked_for_at_others() -> None:
    """`short` has no more than five elements."""
    matrix = rows([3, 60, 9])
    short, y = np.ones(5, np.float32), np.zeros(3, np.float32)
    some[ev.GroupMapped(8, 32, run=4)].on("simt")(ev.csr(matrix), short, y)
    assert (y - matrix.sum(axis=1) == [3, 2, 0]).all()


def test_one_instruction_loads_a_run() -> None:
    matrix = rows([64] * 40)
    x, y = np.ones(50, np.float32), np.zeros(40, np.float32)
    requests = []
    for run in (1, 4):
        plan = spmv_rows[ev.GroupMapped(16, 32, run=run)].on("simt").plan(ev.csr(matrix), x, y)
        plan(ev.csr(matrix), x, y)
        (counted,) = plan.counters()
        requests.append(counted.totals["global_load_requests"])
    alone, together = requests
    # Of a warp with two rows: columns and values by 2 instructions, not by 8.
    assert alone - together == 20 * 6


def test_a_schedule_may_walk_atoms_as_it_likes() -> None:
    """Elsewhere: where runs are, the members of a group share the tile's atoms by runs."""

    @ev.schedule
    class InPieces(ev.GroupMapped):
        def atoms(self, state, tile):
            share = (state.end(tile) - state.begin(tile) + self.size - 1) // self.size
            start = min(state.begin(tile) + ev.group(self.size).rank * share, state.end(tile))
            return range(start, min(start + share, state.end(tile)))

    matrix = rows([0, 1, 5, 64, 3, 0, 130, 7])
    x = np.arange(50, dtype=np.float32)
    for schedule in InPieces(8, 64), InPieces(8, 64, run=4), Pairs(4, 2, 32):
        y = np.zeros(8, np.float32)
        spmv_rows[schedule].on("simt")(ev.csr(matrix), x, y)
        assert (y == matrix @ x).all()


@ev.schedule
class Pairs(ev.DynamicChunks):
    """Runs for takers of chunks."""

    items: int = 4
    run: int = 2


@pytest.mark.parametrize("run", [2, 4])
def test_atoms_of_a_run_that_share_an_element(run: int) -> None:
    """Narrow columns of a batch count from one column for 256 adjacent atoms: a run reads it once."""
    items = [rows([0, 1, 5, 64, 3, 0, 130, 7][i % 5 :]) for i in range(9)] + [rows([3, 2])] * 40
    B = ev.batch(items, narrow=True)
    assert len(B.bases) > 4
    schedule, x = ev.NonzeroSplit(64, 8, run=run), np.arange(B.num_columns, dtype=np.float32)
    y = np.zeros(B.num_tiles, np.float32)
    code = emitted(spmv_rows, (B, x, y), schedule)[0].source
    assert re.search(r"if constexpr \(array == \d\) run\.e\d = a_A_bases.*\[v_k >> 8\]", code)
    spmv_rows[schedule].on("simt")(B, x, y)
    assert (y == scipy.sparse.block_diag(items) @ x).all()
