"""What layouts share whose rows are padded (ELL, sliced ELL): conversion to CSR."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.layouts.contract import leaves
from evenly.layouts.csr import Csr
from evenly.layouts.defaults import LayoutInstance
from evenly.layouts.moving import device_of, move


class Padded(LayoutInstance):
    """A base class for layouts with `indices` and `values` of slots, in which column -1 is padding."""

    def tocsr(self) -> Csr:
        """Return this matrix as CSR without padding, on its device. Duplicates are kept, and the order within a row.

        From a GPU, the arrays are copied for it.
        """
        return unpadded(self)


def unpadded(A: Any) -> Csr:
    host: Any = move(A, "cpu")
    tiles = np.arange(int(host.num_tiles))
    owners = np.repeat(tiles, host.end(tiles) - host.begin(tiles))
    slots = host._slot(owners, np.arange(int(host.num_atoms)))
    filled = host.indices[slots] >= 0
    owners, slots = owners[filled], slots[filled]
    if not leaves(type(host), "tile_id"):
        rows = host.tile_id(owners)
        order = np.argsort(rows, kind="stable")
        owners, slots = rows[order], slots[order]
    kind = np.int32 if len(slots) <= np.iinfo(np.int32).max else np.int64
    offsets = np.zeros(len(tiles) + 1, kind)
    np.cumsum(np.bincount(owners, minlength=len(tiles)), out=offsets[1:])
    made = Csr(offsets, host.indices[slots], host.values[slots], int(host.num_columns))
    return move(made, device_of(A))
