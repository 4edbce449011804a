"""A batch of ELL matrices, stored by columns: each item is padded with zeros to its own longest row.

The layout is written as a user would write one with items. Its slots are converted from `ev.batch` by a kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev


@ev.layout
class EllBatch:
    """Matrices padded to rows of one width an item. A tile is a row, an atom a slot; slots are numbered row by row.

    Slot j of row r of an item lies at item_slots[item] + j * (rows of the item) + r. Padding has value 0 and the
    item's first column: it is computed with, as in the paper, so an infinite x[first column] would spread.
    """

    indices: ev.Array[ev.Index]  # (num_atoms,), columns numbered through
    values: ev.Array  # (num_atoms,)
    item_tiles: ev.Array[ev.Index]  # (num_items + 1,), the first row of each item
    item_columns: ev.Array[ev.Index]  # (num_items + 1,), the first column
    item_slots: ev.Array[ev.Index]  # (num_items + 1,), the first slot
    item_widths: ev.Array[ev.Index]  # (num_items,), the slots of a row
    row_items: ev.Array[ev.Index]  # (num_tiles,), the item of each row

    @property
    def num_tiles(self):
        return len(self.row_items)

    @property
    def num_atoms(self):
        return len(self.values)

    @property
    def num_items(self):
        return len(self.item_widths)

    def item_begin(self, item):
        return self.item_tiles[item]

    def item_end(self, item):
        return self.item_tiles[item + 1]

    def columns(self, item):
        """The part of x that belongs to an item."""
        return range(self.item_columns[item], self.item_columns[item + 1])

    def begin(self, tile):
        item = self.row_items[tile]
        return self.item_slots[item] + (tile - self.item_tiles[item]) * self.item_widths[item]

    def end(self, tile):
        return self.begin(tile) + self.item_widths[self.row_items[tile]]

    def _slot(self, tile, k):
        item = self.row_items[tile]
        first, last = self.item_tiles[item], self.item_tiles[item + 1]
        return self.item_slots[item] + (k - self.begin(tile)) * (last - first) + tile - first

    def column(self, tile, k):
        return self.indices[self._slot(tile, k)]

    def value(self, tile, k):
        return self.values[self._slot(tile, k)]


@ev.kernel
def pad(B, item_slots, item_widths, indices, values):
    """Write the nonzeros of a batch, and its padding, where an `EllBatch` has them."""
    for item in B.items():
        first = B.item_begin(item)
        rows = B.item_end(item) - first
        for row in B.tiles(item):
            begin = B.begin(row)
            place = item_slots[item] + row - first
            for k in B.atoms(row):
                indices[place + (k - begin) * rows] = B.column(k)
                values[place + (k - begin) * rows] = B.value(k)
            for j in range(B.end(row) - begin, item_widths[item]):
                indices[place + j * rows] = B.columns_begin(item)
                values[place + j * rows] = 0


def slots(B: Any, widths: Any) -> int:
    """Return how many slots the batch `B` would have. widths: (items,), the longest row of each."""
    return int(np.dot(np.diff(B.starts.tiles), widths))


def ell_batch(B: Any, widths: Any, xp: Any) -> EllBatch:
    """Make an `EllBatch` of `ev.batch([...])`, on its device.

    widths: (items,), the longest row of each item, in CPU memory. xp: NumPy, or CuPy for a batch on a GPU.
    """
    rows = np.diff(B.starts.tiles)
    item_slots = np.concatenate([[0], np.cumsum(rows * widths)])
    kind = np.int32 if item_slots[-1] < 2**31 else np.int64
    starts, wide = xp.asarray(item_slots.astype(kind)), xp.asarray(widths.astype(np.int32))
    indices = xp.empty(int(item_slots[-1]), B.item_columns.dtype)
    values = xp.empty(len(indices), B.values.dtype)
    pad[ev.Nested(ev.BlockMapped(256), ev.ThreadMapped())](B, starts, wide, indices, values)
    items = xp.asarray(np.repeat(np.arange(len(rows), dtype=np.int32), rows))
    return EllBatch(indices, values, B.item_tiles, B.item_columns, starts, wide, items)
