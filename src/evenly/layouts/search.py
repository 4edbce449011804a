"""`tile_of` for layouts that know nothing cheaper: a binary search over the tiles' ends."""

from __future__ import annotations

from evenly.layouts.defaults import LayoutInstance


class Searched(LayoutInstance):
    """A base class for layouts, their own or a user's, whose `tile_of` searches.

    Empty tiles hold no atom, so the first tile that ends after an atom holds it.
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
