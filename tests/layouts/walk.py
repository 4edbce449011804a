"""A plain walk over a layout through the contract alone: the slowest SpMV there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenly.layouts.contract import accessors


def visits(layout: Any) -> Iterator[tuple[int, Any, Any]]:
    """(position, tile id, atom id) of each valid atom, in order."""
    for tile in range(int(layout.num_tiles)):
        for position in range(int(layout.begin(tile)), int(layout.end(tile))):
            if layout.valid(tile, position):
                yield position, layout.tile_id(tile), layout.atom_id(tile, position)


def call(layout: Any, accessor: str, tile: Any, atom: Any, position: Any = None) -> Any:
    """An accessor as a kernel calls it: delegated, and with the tile where it asks for it."""
    owner = layout
    while accessor not in accessors(type(owner)):
        given = getattr(type(owner), "delegate_tile", None)
        if given is not None:
            tile = getattr(owner, given)(position)
        owner = getattr(owner, type(owner).delegate)
    takes_tile, takes_atom = accessors(type(owner))[accessor]
    return getattr(owner, accessor)(*((tile,) * takes_tile + (atom,) * takes_atom))


def spmv(layout: Any, x: np.ndarray) -> np.ndarray:
    """A @ x in float64."""
    y = np.zeros(layout.shape[0])
    for position, tile, atom in visits(layout):
        row, column, value = (
            call(layout, part, tile, atom, position) for part in ("row", "column", "value")
        )
        y[row] += float(value) * x[column]
    return y
