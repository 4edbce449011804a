"""Sum up the lengths of a layout's tiles on its GPU, for `choosing.lengths`."""

from __future__ import annotations

import numpy as np

from evenly.choosing.lengths import Sums
from evenly.choosing.walks import RUNS, Sampled, Walks, placed
from evenly.gpus.gpu import WARP
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.moving import an_array, device_of
from evenly.layouts.positions import Positions
from evenly.schedules import ThreadMapped

from .kernel import kernel

SUMS = 4  # numbers in front of the lengths


@kernel
def measure(L, every, found):
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
        run = tile // WARP
        index = run // every
        if index < RUNS and run - index * every == placed(index, every):
            found[SUMS + index * WARP + tile % WARP] = length
    found[0] = squares
    found[1] = greatest
    found[2] = empty
    found[3] = moment


def measured(layout: LayoutInstance, target: str = "") -> Sums:
    """Run one small kernel, and read up to 16 KiB back."""
    sample = Sampled(int(layout.max_tiles))
    # Zeros stand for tiles that the sample has places for, but the layout lacks.
    found = arrays.zeros(an_array(layout), (SUMS + sample.runs * WARP,), np.float64)
    place = target or device_of(layout)
    measure[ThreadMapped()].on(place).once(Positions(layout), sample.every, found)
    held = to_numpy(found)
    squares, greatest, empty, moment = map(float, held[:SUMS])
    walks = Walks(held[SUMS:].reshape(-1, WARP))
    return Sums(squares, int(greatest), int(empty), moment, walks)
