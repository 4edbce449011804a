"""copies: a layout several times, one after the other, without a copy in memory.

Searches from several sources run in one kernel over as many copies of the graph. Tile t of copy c is tile c * n + t, if
the base has n tiles; atoms are numbered the same way, and accessors give what the base has there.
"""

from __future__ import annotations

from evenly.layouts.contract import Layout, LayoutInstance, layout


@layout
class Copies(LayoutInstance):
    """`count` copies of a layout whose ids are positions, and whose accessors are `column` and `value`."""

    base: Layout
    count: int

    tile_of_cost = "search"  # that of the base

    @property
    def num_tiles(self):
        return self.base.num_tiles * self.count

    @property
    def num_atoms(self):
        return self.base.num_atoms * self.count

    def begin(self, tile):
        n = self.base.num_tiles
        return tile // n * self.base.num_atoms + self.base.begin(tile % n)

    def end(self, tile):
        n = self.base.num_tiles
        return tile // n * self.base.num_atoms + self.base.end(tile % n)

    def tile_of(self, atom):
        m = self.base.num_atoms
        return atom // m * self.base.num_tiles + self.base.tile_of(atom % m)

    def column(self, k):
        return self.base.column(k % self.base.num_atoms)

    def value(self, k):
        return self.base.value(k % self.base.num_atoms)
