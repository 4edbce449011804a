"""The shared checker names the first entry that breaks the contract."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.layouts import check, csr, layout, ragged, subset
from evenly.layouts.contract import Array, Index
from tests import batteries


@layout
class Loose:
    """A layout whose every answer is a field, to be wrong in one of them."""

    begins: Array[Index]
    ends: Array[Index]
    owners: Array[Index]
    ids: Array[Index]
    num_atoms: int

    @property
    def num_tiles(self):
        return len(self.begins)

    def begin(self, tile):
        return self.begins[tile]

    def end(self, tile):
        return self.ends[tile]

    def tile_of(self, atom):
        return self.owners[atom]

    def tile_id(self, tile):
        return self.ids[tile]


def loose(begins=(0, 2, 2), ends=(2, 2, 5), owners=(0, 0, 2, 2, 2), ids=(7, 8, 9), atoms=5):
    arrays = [np.array(a, np.int64) for a in (begins, ends, owners, ids)]
    return Loose(*arrays, atoms)


def test_a_sound_layout_passes():
    check(loose())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"begins": (1, 2, 2)}, "A.begin: expected begin(0)=0, got begin(0)=1"),
        (
            {"begins": (0, 3, 2)},
            "A.end: expected non-decreasing ends, got end(1)=2 before begin(1)=3",
        ),
        (
            {"begins": (0, 2, 3)},
            "A.begin: expected consecutive tiles, got begin(2)=3 after end(1)=2",
        ),
        ({"atoms": 6}, "A.end: expected end(2)=6, the number of atoms, got 5"),
        ({"atoms": -1}, "A.num_atoms: expected a count of at least 0, got -1"),
        (
            {"owners": (0, 0, 1, 2, 2)},
            "A.tile_of: expected the tile that holds the atom, got tile_of(2)=1",
        ),
        (
            {"owners": (0, 0, 2, 2)},
            "A.tile_of: expected a result, got tile_of(4): "
            "index 4 is out of bounds for axis 0 with size 4",
        ),
        ({"ids": (7, 8, 7)}, "A.tile_id: expected distinct ids, got 7 at 0 and at 2"),
        ({"begins": (), "ends": ()}, "A: expected no atoms without tiles, got 5 atoms"),
    ],
)
def test_the_first_wrong_entry_is_named(wrong, message):
    with pytest.raises(InputError) as caught:
        check(loose(**wrong))
    assert str(caught.value) == message


@pytest.mark.parametrize("name", list(batteries.layout_batteries()))
def test_the_battery_is_sound(name):
    check(ragged(batteries.layout_batteries()[name]))


def test_what_is_too_long_to_walk_is_sampled():
    made = csr(batteries.matrices()["power law"])
    check(made, limit=10)
    wrong = ragged(np.array([0, 2, 4]))
    object.__setattr__(wrong, "num_atoms", 5)
    with pytest.raises(InputError, match="last offset of 5"):
        check(wrong, limit=1)


def test_nested_layouts_are_named():
    base = csr(batteries.matrices()["wide"])
    made = subset(base, np.array([2, 0]))
    object.__setattr__(base, "num_columns", 3)
    with pytest.raises(InputError, match=r"^A\.base\.indices: expected column indices in 0\.\.2"):
        check(made)


def test_only_layouts_are_checked():
    with pytest.raises(InputError, match="^A: expected a layout, got int$"):
        check(3)


@layout
class Halves:
    """A position that is no integer."""

    num_tiles: int
    num_atoms: int

    def begin(self, tile):
        return tile * 2 / 2

    def end(self, tile):
        return tile + 1


def test_positions_are_integers():
    with pytest.raises(
        InputError, match=r"A\.begin: expected a position, an integer, got begin\(0\)=0\.0"
    ):
        check(Halves(2, 2))
