"""Sum up the lengths of a layout's tiles where the layout is: with NumPy, or with a small kernel on its GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenly.hooks import hook
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.items import Items
from evenly.layouts.moving import device_of
from evenly.layouts.pattern import PatternBatch
from evenly.layouts.positions import ItemWork
from evenly.layouts.ragged import Ragged
from evenly.layouts.sell import Sell

from .walks import Walks, of_lengths


class Sums(NamedTuple):
    """Sums over the numbers of atoms in the tiles.

    squares: the sum of their squares. greatest: the largest. empty: how many are 0.
    moment: the sum of each times the tile's position. walks: a sample of the numbers.
    """

    squares: float
    greatest: int
    empty: int
    moment: float
    walks: Walks


def sums(layout: Any) -> Sums | None:
    """Return the sums over all tiles, or None for a layout in host memory whose lengths nothing shows."""
    if isinstance(layout, PatternBatch):
        return _of_items(layout)
    if by_gpu(layout):
        return measured_on_gpu(layout)
    found = _lengths(layout)
    if found is None:
        return None
    lengths = found.astype(np.float64)
    # Not by `@`: BLAS would wake its threads, which takes longer than the sums.
    moment = float((lengths * np.arange(len(lengths), dtype=np.float64)).sum())
    greatest, empty = int(lengths.max(initial=0)), int((lengths == 0).sum())
    return Sums(float((lengths * lengths).sum()), greatest, empty, moment, of_lengths(found))


def by_gpu(layout: Any) -> bool:
    """Whether a kernel on the layout's GPU has to measure the lengths."""
    one = layout.base if isinstance(layout, ItemWork) else layout
    return device_of(layout) == "cuda" and not isinstance(one, PatternBatch)


def _lengths(layout: Any) -> Any:
    """Return the number of atoms of each tile, as an array; None if the host does not know it.

    A single tile has all of them.
    """
    if isinstance(layout, ItemWork):
        if not isinstance(layout.base, Items):
            return None
        tiles, atoms, _ = layout.base.starts
        return np.diff(tiles + atoms)
    if isinstance(layout, Sell):
        tiles = np.arange(int(layout.num_tiles))
        return layout.end(tiles) - layout.begin(tiles)
    if has_offsets(layout):
        return np.diff(to_numpy(layout.offsets))
    return np.array([int(layout.max_atoms)]) if int(layout.max_tiles) == 1 else None


def _of_items(layout: Any) -> Sums | None:
    """The sums of one item tell those of all: item i begins at tile i times the rows of an item."""
    items, rows = int(layout.num_items), len(layout.offsets) - 1
    one = sums(Ragged(layout.offsets, len(layout.indices)))
    if one is None:
        return None
    moment = items * one.moment + rows * len(layout.indices) * (items * (items - 1) / 2)
    return Sums(items * one.squares, one.greatest, items * one.empty, moment, one.walks)


def has_offsets(layout: Any) -> bool:
    """Whether the layout has offsets of its own tiles, not of a base layout's tiles or of whole blocks of them."""
    if "offsets" not in type(layout).__fields__ or getattr(layout.offsets, "ndim", 1) != 1:
        return False
    tiles, atoms = int(layout.max_tiles), int(layout.max_atoms)
    return len(layout.offsets) == tiles + 1 and int(layout.offsets[tiles]) == atoms


@hook
def measured_on_gpu(layout: LayoutInstance) -> Sums:
    """Return the same sums for a layout on a GPU, by one small kernel."""
    raise NotImplementedError
