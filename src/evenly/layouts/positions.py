"""View any layout by its positions, for kernels that compute on positions and not on ids."""

from __future__ import annotations

from evenly.language.items import WorkOfItems
from evenly.layouts.contract import Layout, LayoutInstance, layout


@layout
class Positions(LayoutInstance):
    """The tiles and atoms of another layout, with their positions as ids."""

    base: Layout

    valid_of = "base"

    @property
    def num_tiles(self):
        return self.base.num_tiles

    @property
    def num_atoms(self):
        return self.base.num_atoms

    @property
    def max_tiles(self):
        return self.base.max_tiles

    @property
    def max_atoms(self):
        return self.base.max_atoms

    def begin(self, tile):
        return self.base.begin(tile)

    def end(self, tile):
        return self.base.end(tile)

    def valid(self, tile, position):
        return self.base.valid(tile, position)


@layout
class ItemWork(WorkOfItems, LayoutInstance):
    """The items of another layout, as tiles whose atoms are their work: one for each tile and each atom of an item."""

    base: Layout

    @property
    def max_tiles(self):
        return self.base.num_items

    @property
    def max_atoms(self):
        return self.base.max_tiles + self.base.max_atoms
