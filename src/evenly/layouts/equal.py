"""Layouts with offsets whose tiles all have equally many atoms: where a tile begins follows from its number.

When: never by hand; plans under `auto` take them in the place of what they were given (choosing/equal.py). Rows of
equal length are those of graphs of k nearest neighbours, of sampled neighbourhoods and of many meshes.
Source: ELLPACK without its padding (Kincaid, Respess, Young and Grimes, ITPACK 2C, 1982).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .contract import LayoutInstance, layout
from .csc import Csc
from .csr import Csr
from .ragged import Ragged


class EqualTiles:
    """A base class, to stand before a layout with offsets. Field `size`: the atoms of each tile, at least 1."""

    tile_of_cost = "division"

    if TYPE_CHECKING:
        size: Any

    def begin(self, tile):
        return tile * self.size

    def end(self, tile):
        return tile * self.size + self.size

    def tile_of(self, atom):
        return atom // self.size


@layout
class EqualCsr(EqualTiles, Csr):
    """Row t holds atoms t * size .. (t + 1) * size - 1."""

    size: int


@layout
class EqualCsc(EqualTiles, Csc):
    """Column t holds atoms t * size .. (t + 1) * size - 1."""

    size: int


@layout
class EqualRagged(EqualTiles, Ragged):
    """List t holds atoms t * size .. (t + 1) * size - 1."""

    size: int


EQUAL: dict[type, Any] = {Csr: EqualCsr, Csc: EqualCsc, Ragged: EqualRagged}


def equal(layout: LayoutInstance, size: int) -> Any:
    """The layout on the same arrays, whose tiles have `size` atoms each; its class is one of those in EQUAL."""
    fields = {name: getattr(layout, name) for name in type(layout).__fields__}
    return EQUAL[type(layout)](**fields, size=size)
