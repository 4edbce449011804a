"""The lengths of a layout's tiles, summed up where the layout lies: by NumPy, or by a small kernel on its GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenly.hooks import hook
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.moving import device_of


class Sums(NamedTuple):
    """Of the numbers of atoms in the tiles: squares, the greatest, how many are 0; `moment`: each times its tile."""

    squares: float
    greatest: int
    empty: int
    moment: float


def sums(layout: Any) -> Sums | None:
    """Of all tiles; None for a layout in host memory that has no offsets to be read."""
    if device_of(layout) == "cuda":
        return measured_on_gpu(layout)
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


@hook
def measured_on_gpu(layout: LayoutInstance) -> Sums:
    """The same of a layout on a GPU, by one small kernel."""
    raise NotImplementedError


def an_array(layout: LayoutInstance) -> Any:
    """Any array of the layout: what is allocated lies beside it."""
    values = [(spec.kind, getattr(layout, name)) for name, spec in type(layout).__fields__.items()]
    for kind, value in values:
        if kind == "layout":
            return an_array(value)
        if "array" in kind and arrays.is_array(value):
            return value
    raise AssertionError(layout)  # a layout without arrays is in host memory
