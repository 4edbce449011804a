"""The lengths of a layout's tiles, summed up where the layout lies: by NumPy, or by a small kernel on its GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.layouts.moving import device_of
from evenly.layouts.positions import Positions
from evenly.runtime.kernel import kernel
from evenly.schedules import ThreadMapped


class Sums(NamedTuple):
    """Of the numbers of atoms in the tiles: squares, the greatest, how many are 0; `moment`: each times its tile."""

    squares: float
    greatest: int
    empty: int
    moment: float


def sums(layout: Any) -> Sums | None:
    """Of all tiles; None for a layout in host memory that has no offsets to be read."""
    if device_of(layout) == "cuda":
        return measured(layout, "cuda")
    if not has_offsets(layout):
        return None
    lengths = np.diff(to_numpy(layout.offsets)).astype(np.float64)
    moment = float(lengths @ np.arange(len(lengths), dtype=np.float64))
    return Sums(
        float(lengths @ lengths), int(lengths.max(initial=0)), int((lengths == 0).sum()), moment
    )


def has_offsets(layout: Any) -> bool:
    """Whether the layout has offsets of its own tiles, not of a base's or of whole blocks of them."""
    if "offsets" not in type(layout).__fields__ or getattr(layout.offsets, "ndim", 1) != 1:
        return False
    tiles, atoms = int(layout.max_tiles), int(layout.max_atoms)
    return len(layout.offsets) == tiles + 1 and int(layout.offsets[tiles]) == atoms


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


def measured(layout: Any, target: str) -> Sums:
    """By one small kernel, and 32 bytes read back."""
    found = arrays.empty(an_array(layout), (4,), np.float64)
    measure[ThreadMapped()].on(target).once(Positions(layout), found)
    squares, greatest, empty, moment = map(float, to_numpy(found))
    return Sums(squares, int(greatest), int(empty), moment)


def an_array(layout: Any) -> Any:
    """Any array of the layout: what is allocated lies beside it."""
    values = [(spec.kind, getattr(layout, name)) for name, spec in type(layout).__fields__.items()]
    for kind, value in values:
        if kind == "layout":
            return an_array(value)
        if "array" in kind and arrays.is_array(value):
            return value
    raise AssertionError(layout)  # a layout without arrays is in host memory
