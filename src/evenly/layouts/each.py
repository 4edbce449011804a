"""Layouts for kernels that work on the elements of arrays, one by one or as one sequence."""

from __future__ import annotations

from evenly.layouts.contract import LayoutInstance, layout


@layout
class Each(LayoutInstance):
    """`num_tiles` tiles of one atom each, for kernels that compute on each element of an array."""

    num_tiles: int

    @property
    def num_atoms(self):
        return self.num_tiles

    def begin(self, tile):
        return tile

    def end(self, tile):
        return tile + 1

    def tile_of(self, atom):
        return atom


@layout
class Whole(LayoutInstance):
    """One tile that has all atoms, for scans over the elements of an array."""

    num_atoms: int

    @property
    def num_tiles(self):
        return 1

    def begin(self, tile):
        return tile * self.num_atoms

    def end(self, tile):
        return (tile + 1) * self.num_atoms

    def tile_of(self, atom):
        return 0
