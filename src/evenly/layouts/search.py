"""`tile_of` by binary search over the ends of the tiles, for layouts that have no faster way."""

from __future__ import annotations

from evenly.layouts.defaults import LayoutInstance


class Searched(LayoutInstance):
    """A base class for layouts, evenly's or a user's, whose `tile_of` is a binary search.

    The first tile that ends after an atom has it.
    """

    tile_of_cost = "search"

    def tile_of(self, atom):
        low = 0
        high = self.num_tiles
        while low < high:
            middle = (low + high) // 2
            if self.end(middle) <= atom:
                low = middle + 1
            else:
                high = middle
        return low
