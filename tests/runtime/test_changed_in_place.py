"""Repeated calls on target `cpu`, after an array was changed in place between them."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly.layouts.positions import Positions
from tests.batteries import matrices, vector


@ev.kernel
def put(L, out):
    for tile in L.tiles():
        for k in L.atoms(tile):
            out[k] = 1.0


@ev.layout
class Counted:
    """The last offset is the number of atoms."""

    offsets: ev.Array[ev.Index]

    @property
    def num_tiles(self):
        return len(self.offsets) - 1

    @property
    def num_atoms(self):
        return self.offsets[len(self.offsets) - 1]

    def begin(self, tile):
        return self.offsets[tile]

    def end(self, tile):
        return self.offsets[tile + 1]


@pytest.mark.parametrize("wrap", [lambda L: L, Positions])
def test_counts_that_come_from_an_array_are_checked_at_each_call(wrap) -> None:
    offsets = np.array([0, 1, 2])
    L, memory = wrap(Counted(offsets)), np.zeros(6)
    out = memory[:2]
    plan = put[ev.ThreadMapped()].on("cpu").plan(L, out)
    for call in (lambda: put[ev.ThreadMapped()].on("cpu")(L, out), lambda: plan(L, out)):
        offsets[2] = 2
        call()
        offsets[2] = 6
        with pytest.raises(ev.InputError, match="out: expected at least 6 elements"):
            call()
    assert not memory[2:].any()


@ev.layout
class Fixed:
    """A field holds the upper bound of its number of tiles."""

    offsets: ev.Array[ev.Index]
    max_tiles: int

    num_tiles = Counted.num_tiles
    num_atoms = Counted.num_atoms
    begin = Counted.begin
    end = Counted.end


def test_a_bound_may_be_a_field() -> None:
    L, out = Fixed(np.array([0, 1, 2]), 2), np.zeros(2)
    for _ in range(2):
        put[ev.ThreadMapped()].on("cpu")(L, out)
    assert out.all()


def test_arrays_of_a_layout_stay_where_they_are_and_may_change_their_type() -> None:
    matrix = matrices()["power law"].astype(np.float64)
    A = ev.csr(
        (matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape
    )
    x = np.ones(matrix.shape[1])
    y = ev.spmv(A, x)
    ev.spmv(A, x, y)
    with pytest.raises(ValueError, match="cannot resize an array that references or is referenced"):
        A.values.resize(len(A.values) + 2_000_000, refcheck=False)
    A.values.dtype = np.int64
    A.values[:] = 3
    ev.spmv(A, x, y)
    np.testing.assert_array_equal(y, 3.0 * np.diff(matrix.indptr))


def test_what_is_no_vector_is_named_by_its_argument() -> None:
    matrix = matrices()["power law"]
    for x in (np.ma.masked_array(vector(matrix.shape[1])), vector(matrix.shape[1]).tolist()):
        with pytest.raises(ev.InputError, match="^x: expected an array"):
            ev.spmv(matrix, x)
