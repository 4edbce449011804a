"""CSR, CSC and ragged lists whose tiles all have the same number of atoms, so that kernels need not read offsets.

Do not use them by hand: plans under `auto` replace their layout by one of these where they can (choosing/equal.py).
Graphs of k nearest neighbours, sampled neighbourhoods and many meshes have rows of equal length.
Source: ELLPACK without its padding (Kincaid, Respess, Young and Grimes, ITPACK 2C, 1982).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .contract import LayoutInstance, layout
from .csc import Csc
from .csr import Csr
from .ragged import Ragged


class EqualTiles:
    """A mixin for a layout with offsets, named before it. Field `size`: the atoms of each tile, at least 1."""

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
    """CSR with rows of equal length. Row t has the atoms t * size .. (t + 1) * size - 1."""

    size: int


@layout
class EqualCsc(EqualTiles, Csc):
    """CSC with columns of equal length. Column t has the atoms t * size .. (t + 1) * size - 1."""

    size: int


@layout
class EqualRagged(EqualTiles, Ragged):
    """Lists of equal length. List t has the atoms t * size .. (t + 1) * size - 1."""

    size: int


EQUAL: dict[type, Any] = {Csr: EqualCsr, Csc: EqualCsc, Ragged: EqualRagged}


def equal(layout: LayoutInstance, size: int) -> Any:
    """Return a layout over the same arrays, with `size` atoms in each tile. EQUAL must have the class of `layout`."""
    fields = {name: getattr(layout, name) for name in type(layout).__fields__}
    return EQUAL[type(layout)](**fields, size=size)
