"""The base class of layouts with offsets: CSR, CSC and ragged lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenly.layouts.search import Searched


class Compressed(Searched):
    """A base class for layouts with a field `offsets`, (num_tiles + 1,), non-decreasing from 0.

    Tile t has the atoms offsets[t] .. offsets[t+1]-1.
    """

    if TYPE_CHECKING:
        offsets: Any

    @property
    def num_tiles(self):
        return len(self.offsets) - 1

    def begin(self, tile):
        return self.offsets[tile]

    def end(self, tile):
        return self.offsets[tile + 1]
