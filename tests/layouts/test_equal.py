"""Layouts of tiles that all have equally many atoms."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly.layouts import check
from evenly.layouts.equal import EQUAL, equal
from tests.batteries import equal_rows

BASES = {
    "csr": ev.csr,
    "csc": lambda matrix: ev.csc(matrix.T),
    "ragged": lambda matrix: ev.ragged(matrix.indptr),
}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("rows", "size"), [(1, 1), (1, 3000), (300, 4), (500, 1)])
def test_positions_are_those_of_the_offsets(base: str, rows: int, size: int) -> None:
    offsets = BASES[base](equal_rows(rows, size))
    made = equal(offsets, size)
    assert type(made) is EQUAL[type(offsets)]
    assert made.offsets is offsets.offsets
    check(made)
    tiles, atoms = np.arange(offsets.num_tiles), np.arange(offsets.num_atoms)
    np.testing.assert_array_equal(made.begin(tiles), offsets.offsets[:-1])
    np.testing.assert_array_equal(made.end(tiles), offsets.offsets[1:])
    np.testing.assert_array_equal(made.tile_of(atoms), np.repeat(tiles, size))
