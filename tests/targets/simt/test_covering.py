"""The emitted CUDA C++, executed: layouts x schedules x kernels x dtypes against the reference.

Each case runs under several seeds, that is, interleavings of the threads, and every seed must
give equal bits. The cases of the covering set take pairs of three seeds, in turn: two show whether bits
depend on the order, and the detectors find a race in any order. They are on: whatever the emulator
objects to fails the case.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from tests.batteries import layout_batteries, matrices, vector
from tests.covering import DTYPES, covering, gives_what_the_reference_gives, parameters
from tests.frontiers import reaches_what_it_names
from tests.kernels import CASES, SCHEDULES, reference, tolerance
from tests.schedules.test_schedules import RankFromSetup

import evenly as ev
from evenly.arguments import Binding, is_wide

pytestmark = pytest.mark.simt
SEEDS = (0, 1, 2)
PAIRS = tuple(itertools.combinations(SEEDS, 2))
# One of each engine, for what comes on top of the covering set; `make test-all` takes all.
ENGINES = ("thread", "group 3", "flat 64", "work", "merge 7")
EACH_ENGINE = [
    pytest.param(name, marks=() if name in ENGINES else pytest.mark.slow) for name in SCHEDULES
]


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), parameters(covering()))
def test_simt_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: int
) -> None:
    turn = list(CASES).index(kernel) + list(SCHEDULES).index(schedule)
    seeds = PAIRS[turn % len(PAIRS)]
    gives_what_the_reference_gives(
        kernel, SCHEDULES[schedule], layout, DTYPES[dtype], "simt", seeds=seeds
    )


@pytest.mark.parametrize("schedule", EACH_ENGINE)
def test_threads_in_turn(schedule: str) -> None:
    gives_what_the_reference_gives(
        "weighted_by_tile", SCHEDULES[schedule], "csr", np.float32, "simt", order="round_robin"
    )


# ---- layouts whose tiles are no rows ---------------------------------------------------------------
@ev.kernel
def spmv_atoms(A, x, y):
    """Integers, so that no order of the atomics shows."""
    for tile in A.tiles():
        for k in A.atoms(tile):
            ev.atomic_add(y, A.row(k), int(A.value(k) * x[A.column(k)]))


@ev.kernel
def lengths(A, y):
    for segment in A.tiles():
        y[segment] = sum(k % 7 + 1 for k in A.atoms(segment))


@pytest.mark.parametrize("schedule", EACH_ENGINE)
@pytest.mark.parametrize("layout", ["coo", "csc"])
def test_tiles_that_are_columns_or_nonzeros(layout: str, schedule: str) -> None:
    bound = spmv_atoms[SCHEDULES[schedule]].on("simt", seeds=SEEDS)
    for name, matrix in matrices().items():
        x, y = vector(matrix.shape[1]), np.zeros(matrix.shape[0], np.int64)
        bound(getattr(ev, layout)(matrix), x, y)
        np.testing.assert_array_equal(y, matrix @ x, err_msg=name)


@functools.cache
def lengths_by_the_reference() -> dict[str, np.ndarray]:
    found = {}
    for name, offsets in layout_batteries().items():
        found[name] = np.full(len(offsets) - 1, -1, np.int64)
        lengths.on("python")(ev.ragged(offsets), found[name])
    return found


@pytest.mark.parametrize("schedule", EACH_ENGINE)
def test_segments(schedule: str) -> None:
    for name, offsets in layout_batteries().items():
        y = np.full(len(offsets) - 1, -1, np.int64)
        lengths[SCHEDULES[schedule]].on("simt", seeds=SEEDS)(ev.ragged(offsets), y)
        np.testing.assert_array_equal(y, lengths_by_the_reference()[name], err_msg=name)


@pytest.mark.parametrize("schedule", EACH_ENGINE)
def test_equal_shares_of_a_matrix(schedule: str) -> None:
    case = CASES["column_counts"]
    for name, matrix in matrices().items():
        args = case.arguments(ev.uniform(7, ev.csr(matrix)), matrix, np.float32)
        case.kernel[SCHEDULES[schedule]].on("simt", seeds=SEEDS)(*args)
        columns = np.bincount(matrix.indices, minlength=matrix.shape[1])
        np.testing.assert_array_equal(args[1], columns, err_msg=name)
        assert args[2] == max(matrix.indices + 1, default=0)


# ---- frontiers: grids that stay, since only the device knows how much there is to do ---------------
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("schedule", EACH_ENGINE)
def test_a_frontier_of_any_size(schedule: str, share: float) -> None:
    reaches_what_it_names(SCHEDULES[schedule], "simt", share, seeds=SEEDS)


# ---- one's own layouts and schedules ---------------------------------------------------------------
@ev.layout
class Far:
    """A CSR matrix whose positions go beyond 32 bits on their way."""

    offsets: ev.Array[ev.Index]
    indices: ev.Array[ev.Index]
    values: ev.Array
    num_columns: int
    far: int

    @property
    def num_tiles(self):
        return len(self.offsets) - 1

    @property
    def num_atoms(self):
        return len(self.indices)

    def begin(self, tile):
        return self.offsets[tile] + self.far - self.far

    def end(self, tile):
        return self.offsets[tile + 1] + self.far - self.far

    def column(self, k):
        return self.indices[k]

    def value(self, k):
        return self.values[k]


def far(matrix: Any) -> Far:
    return Far(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], 2**40)


@pytest.mark.parametrize("schedule", EACH_ENGINE)
@pytest.mark.parametrize("kernel", ["spmv", "row_extremes", "spmv_dot"])
def test_positions_of_64_bits(kernel: str, schedule: str) -> None:
    case = CASES[kernel]
    for name, matrix in matrices().items():
        args = case.arguments(far(matrix), matrix, np.float32)
        assert is_wide(Binding({"A": args[0]}))
        case.kernel[SCHEDULES[schedule]].on("simt", seeds=SEEDS)(*args)
        expected = reference(case, name, matrix, "csr", np.float32)
        for place, wanted in zip(case.outputs, expected, strict=True):
            np.testing.assert_allclose(args[place], wanted, **tolerance(np.float32), err_msg=name)


@pytest.mark.parametrize("schedule", EACH_ENGINE)
def test_atoms_of_no_tile_are_nobodys(schedule: str) -> None:
    offsets, columns, values = np.zeros(1, np.int32), np.zeros(300, np.int32), np.ones(300)
    y = np.empty(0)
    spmv = CASES["spmv"].kernel[SCHEDULES[schedule]].on("simt", seeds=SEEDS)
    spmv(Far(offsets, columns, values, 5, 2**40), np.ones(5), y)
    assert y.size == 0


@pytest.mark.parametrize("kernel", CASES)
def test_a_schedule_of_ones_own(kernel: str) -> None:
    gives_what_the_reference_gives(kernel, RankFromSetup(), "csr", np.float32, "simt", seeds=SEEDS)
