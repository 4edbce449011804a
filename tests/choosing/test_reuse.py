"""How far apart neighbouring atoms gather is measured by NumPy, and by a kernel for layouts on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenly as ev
from evenly.choosing.reuse import (
    ANYWHERE,
    BEFORE,
    FEW,
    NOTHING,
    PROBES,
    SECTOR,
    TOGETHER,
    Reuse,
    Sample,
    by_numpy,
    forget,
    reuse,
)
from evenly.interop.generators import rmat, stencil
from evenly.layouts import convert
from evenly.runtime.looking import reuse_of as by_kernel

from .structures import anywhere, equal_tiles, matrix, nearby

ROWS = np.full(20_000, 16)


def by_hand(columns: np.ndarray, sample: Sample, together: int) -> Reuse:
    """The definition, an atom at a time."""
    apart = near = 0
    for probe in range(sample.probes):
        at = (probe + 1) * sample.step - 1
        same = [
            at - k
            for k in range(at - sample.before, at)
            if columns[k] // together == columns[at] // together
        ]
        near += not same
        apart += not any(back < TOGETHER for back in same)
    return Reuse(apart / sample.probes, near / sample.probes)


# ---- what it says of columns -------------------------------------------------------------------------
@pytest.mark.parametrize("width", [4, 8])
def test_random_columns_have_none(width: int) -> None:
    found = reuse(anywhere(np.full(200_000, 2)), width)
    assert 0.8 < found.near <= found.apart <= 1


def test_a_constant_column_has_nothing_else() -> None:
    assert reuse(matrix(ROWS, np.zeros(ROWS.sum(), int)), 4) == Reuse(0.0, 0.0)


def test_in_a_band_nearly_all_gathers_are_near_earlier_ones() -> None:
    assert reuse(nearby(ROWS), 4).near < 0.15
    assert reuse(ev.csr(stencil(300)), 4).near < 0.15


def test_the_wider_a_number_the_fewer_share_32_bytes() -> None:
    narrow, double, alone = (reuse(nearby(np.full(20_000, 1)), n) for n in (4, 8, 32))
    assert narrow.near < double.near < alone.near == 1


def test_the_gathers_of_an_instruction_are_among_the_last_thousand() -> None:
    far = reuse(matrix(ROWS, np.arange(ROWS.sum()) * 8 % (8 * TOGETHER * 2)), 4)
    assert far == Reuse(1.0, 0.0)  # each is met again after 64 atoms
    assert TOGETHER < 64 < BEFORE


# ---- which atoms are looked at -----------------------------------------------------------------------
@given(st.integers(1, 2**40))
def test_a_fiftieth_of_the_columns_is_read_at_most_or_those_of_a_few_atoms(atoms: int) -> None:
    sample = Sample(atoms)
    assert 1 <= sample.probes <= PROBES
    assert sample.probes <= FEW or sample.probes * sample.before <= atoms / 50
    first, last = sample.step - 1 - sample.before, sample.probes * sample.step - 1
    assert first >= 0
    assert last < atoms
    assert atoms <= 2 * (last + 1)  # all over the layout


def test_of_no_atoms_none_is_looked_at() -> None:
    assert Sample(0).probes == 0


# ---- every layout, by NumPy and by the kernel --------------------------------------------------------
LAYOUTS = ("csr", "csc", "coo", "ell", "sell", "dia", "bcsr")


@pytest.mark.parametrize("atoms", [1, 5, 33, 64, 700, 40_000])
def test_numpy_and_the_kernel_find_what_the_definition_says(atoms: int) -> None:
    columns = np.random.default_rng(atoms).integers(0, 400, atoms)
    A = matrix(np.append(np.full(atoms - 1, 1), 1), columns)
    sample = Sample(atoms)
    for together in (8, 1):
        right = by_hand(A.indices, sample, together)
        assert by_numpy(A, sample, together) == right
        assert by_kernel(A, sample, together, "cpu") == right


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_kernel_finds_the_same_over_every_layout(name: str, target: str) -> None:
    A = convert(rmat(6 if target == "python" else 11), name)
    found, sample = reuse(A, 4), Sample(int(A.max_atoms))
    if name in ("csr", "coo", "ell"):
        assert found == by_kernel(A, sample, SECTOR // 4, target) != ANYWHERE
    else:  # their columns take the tile, too
        assert found == ANYWHERE


def test_the_sell_of_sorted_rows_and_layouts_without_columns_are_unknown() -> None:
    for made in (
        equal_tiles(1000, 16),
        ev.sell(rmat(8), sigma=64),
        ev.uniform(3, ev.csr(rmat(8))),
        ev.subset(ev.csr(rmat(8)), np.arange(9)),
        equal_tiles(5, 0),
        anywhere(np.zeros(5, int)),
        None,
    ):
        assert reuse(made, 4) == ANYWHERE


@ev.layout
class Clamped:
    """A user's layout: its column is code for one atom."""

    offsets: ev.Array[ev.Index]
    num_columns: int

    @property
    def num_tiles(self):
        return len(self.offsets) - 1

    @property
    def num_atoms(self):
        return self.offsets[self.num_tiles]

    def begin(self, tile):
        return self.offsets[tile]

    def end(self, tile):
        return self.offsets[tile + 1]

    def column(self, k):
        return k if k < self.num_columns else self.num_columns - 1


def test_columns_that_numpy_cannot_ask_for_at_once_are_unknown() -> None:
    assert reuse(Clamped(np.arange(0, 4001, 4), 50), 4) == ANYWHERE


# ---- how long it is remembered -----------------------------------------------------------------------
def test_it_is_measured_once_for_each_width_until_it_is_forgotten() -> None:
    A: Any = nearby(ROWS)
    before = reuse(A, 4)
    A.indices[:] = anywhere(ROWS).indices
    assert reuse(A, 4) is before
    assert reuse(A, 8) != before
    forget(A)
    assert reuse(A, 4) == reuse(anywhere(ROWS), 4) != before


def test_one_pattern_gathers_as_one_item_does() -> None:
    near = ev.csr(rmat(8))
    B = ev.batch(near, np.ones((3, near.num_atoms), np.float32))
    assert reuse(B, 4) == reuse(near, 4)
    assert reuse(ev.batch(near, np.ones((0, near.num_atoms), np.float32)), 4) == NOTHING
