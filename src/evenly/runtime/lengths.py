"""Sum up the lengths of a layout's tiles on its GPU, for `choosing.lengths`."""

from __future__ import annotations

import numpy as np

from evenly.choosing.lengths import Sums
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.moving import an_array, device_of
from evenly.layouts.positions import Positions
from evenly.schedules import ThreadMapped

from .kernel import kernel


@kernel
def measure(L, found):
    squares = 0.0
    greatest = 0
    empty = 0
    moment = 0.0
    for tile in L.tiles():
        length = L.end(tile) - L.begin(tile)
        squares += float(length) * float(length)
        moment += float(length) * float(tile)
        greatest = max(greatest, length)
        empty += 1 if length == 0 else 0
    found[0] = squares
    found[1] = greatest
    found[2] = empty
    found[3] = moment


def measured(layout: LayoutInstance, target: str = "") -> Sums:
    """Run one small kernel, and read 32 bytes back."""
    found = arrays.empty(an_array(layout), (4,), np.float64)
    measure[ThreadMapped()].on(target or device_of(layout)).once(Positions(layout), found)
    squares, greatest, empty, moment = map(float, to_numpy(found))
    return Sums(squares, int(greatest), int(empty), moment)
