"""Measure on the GPU whether neighbouring tiles gather from distant columns, for `choosing.scatter`."""

from __future__ import annotations

import numpy as np

from evenly.choosing.scatter import APART, EVERY
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.moving import an_array, device_of
from evenly.layouts.positions import Positions
from evenly.schedules import ThreadMapped

from .kernel import kernel


@kernel
def look(positions, L, found):
    pairs = 0
    far = 0
    for tile in positions.tiles():
        if tile % EVERY == 0 and tile + 1 < L.num_tiles:
            one = L.begin(tile)
            other = L.begin(tile + 1)
            end = L.end(tile + 1)
            if one < other and other < end:
                here = L.column(one + (other - one) // 2)
                there = L.column(other + (end - other) // 2)
                pairs += 1
                far += 1 if abs(float(here) - float(there)) * APART > float(L.num_columns) else 0
    found[0] = pairs
    found[1] = far


def by_kernel(layout: LayoutInstance, target: str = "") -> float:
    """Run one small kernel, and read 16 bytes back."""
    found = arrays.empty(an_array(layout), (2,), np.int64)
    look[ThreadMapped()].on(target or device_of(layout)).once(Positions(layout), layout, found)
    pairs, far = to_numpy(found)
    return float(far / pairs) if pairs else 0.0
