"""What is known of a layout's tiles: the numbers that a schedule is chosen by."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.interop.transfer import to_numpy

SAMPLE = 1 << 16  # tiles looked at, where a layout has more


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts, and of the atoms in a tile: mean, greatest, standard deviation, share of empty tiles.

    Of a layout with many tiles, the last two are those of an evenly spaced sample; the greatest is
    the greatest of all: one long tile among millions decides how long a schedule takes.
    moment: the sum of the lengths, each times its place: the same lengths in another order have another.
    """

    tiles: int
    atoms: int
    mean: float
    greatest: int
    deviation: float
    empty: float
    moment: float = 0.0

    @property
    def spread(self) -> float:
        """The coefficient of variation: standard deviation over mean."""
        return self.deviation / self.mean if self.mean else 0.0


_known: weakref.WeakKeyDictionary[Any, Statistics] = weakref.WeakKeyDictionary()


def statistics(layout: Any) -> Statistics:
    """The statistics of a layout's tiles; remembered as long as the layout lives."""
    base = getattr(type(layout), "delegate", None)
    if base is not None and type(getattr(layout, "offsets", None)) is not np.ndarray:
        # Made anew for each frontier, on the device: what is known of the whole serves, and nothing is read back.
        return statistics(getattr(layout, base))
    found = _known.get(layout)
    if found is None:
        found = _known[layout] = _measure(layout)
    return found


def _measure(layout: Any) -> Statistics:
    tiles, atoms = int(layout.max_tiles), int(layout.max_atoms)
    if tiles == 0:
        return Statistics(0, atoms, 0.0, 0, 0.0, 0.0)
    offsets = _offsets(layout)
    if offsets is None:
        return Statistics(tiles, atoms, atoms / tiles, 0, 0.0, 0.0)
    lengths = offsets[1:] - offsets[:-1]
    sample = np.asarray(to_numpy(lengths[:: max(1, tiles // SAMPLE)]), np.int64)
    return Statistics(
        tiles,
        atoms,
        atoms / tiles,
        int(lengths.max()),
        float(sample.std()),
        float((sample == 0).mean()),
        float(sample @ np.arange(len(sample))),
    )


def _offsets(layout: Any) -> Any:
    """Where tiles begin, as an array that computes, wherever it lies; None where no field says so."""
    offsets = getattr(layout, "offsets", None)
    if offsets is None or getattr(offsets, "ndim", 1) != 1:
        return None
    return offsets if hasattr(offsets, "__getitem__") else to_numpy(offsets)
