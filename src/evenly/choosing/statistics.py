"""The statistics of a layout's tiles, from which a schedule is chosen."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenly.language.members import growing
from evenly.layouts.contract import LayoutInstance, is_layout
from evenly.layouts.positions import ItemWork

from .lengths import Sums, sums
from .walks import Walks


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts, and for the atoms of a tile: mean, greatest, standard deviation, and the share of empty tiles.

    moment: the sum of each length times the tile's position. It changes if the same lengths come in another order.
    walks: a sample of the lengths.
    """

    tiles: int
    atoms: int
    mean: float
    greatest: int
    deviation: float
    empty: float
    moment: float = 0.0
    walks: Walks | None = field(default=None, compare=False, repr=False)

    @property
    def spread(self) -> float:
        """The coefficient of variation: standard deviation over mean."""
        return self.deviation / self.mean if self.mean else 0.0

    @property
    def early(self) -> float:
        """How far before the middle tile the mean atom lies: 1 if it is in the first one, 0 from the middle on.

        It is 0, too, for a single tile, and where no lengths are known.
        """
        last = self.atoms * (self.tiles - 1)
        return max(0.0, 1 - 2 * self.moment / last) if last and self.greatest else 0.0


_known: weakref.WeakKeyDictionary[Any, Statistics] = weakref.WeakKeyDictionary()
_some: weakref.WeakKeyDictionary[Any, tuple[Statistics, Statistics]] = weakref.WeakKeyDictionary()
_work: weakref.WeakKeyDictionary[Any, Statistics] = weakref.WeakKeyDictionary()  # of its items


def statistics(layout: Any) -> Statistics:
    """Return the statistics of a layout's tiles. They are remembered as long as the layout lives."""
    base = judged_by(layout)
    if base is not layout:
        return _of_some(layout, statistics(base))
    if layout not in _known:
        keep(layout, _sums(layout))
    return _known[layout]


def _of_some(layout: Any, base: Statistics) -> Statistics:
    """Return the statistics of some tiles of a base: how many they are is known, and they count as its mean ones.

    How many a frontier has, nobody knows.
    """
    tiles = int(layout.max_tiles)
    if growing(type(layout)) or tiles == base.tiles:
        return base
    known = _some.get(layout)
    if known is None or known[0] is not base:
        made = replace(base, tiles=tiles, atoms=round(tiles * base.mean))
        known = _some[layout] = base, made
    return known[1]


def judged_by(layout: Any) -> Any:
    """Return the layout whose lengths and columns are looked at: itself, or its base.

    A frontier is made anew for each step, on the device. With the base layout's statistics nothing is read back.
    """
    base = getattr(type(layout), "delegate", None)
    own = "offsets" in type(layout).__fields__
    on_gpu = own and type(layout.offsets) is not np.ndarray
    if base is not None and (on_gpu or growing(type(layout))):
        return judged_by(getattr(layout, base))
    return layout


def known(layout: LayoutInstance) -> bool:
    return layout in _known


def keep(layout: LayoutInstance, found: Sums | None) -> None:
    """Keep what was measured of a layout as its statistics."""
    _known[layout] = _of_sums(layout, found)


def work_of_items(layout: LayoutInstance) -> Statistics:
    """Return the statistics of a layout's items as tiles, whose atoms are their work. They are remembered, too."""
    found = _work.get(layout)
    if found is None:
        work = ItemWork(layout)
        found = _work[layout] = _of_sums(work, _sums(work))
    return found


def forget(values: Iterable[Any]) -> None:
    """Forget the statistics of the layouts in `values`: their offsets may have been changed in place."""
    for value in values:
        if is_layout(value):
            _known.pop(judged_by(value), None)
            _work.pop(value, None)


def _sums(layout: LayoutInstance) -> Sums | None:
    return sums(layout) if int(layout.max_tiles) else None


def _of_sums(layout: LayoutInstance, found: Sums | None) -> Statistics:
    tiles, atoms = int(layout.max_tiles), int(layout.max_atoms)
    mean = atoms / tiles if tiles else 0.0
    if found is None:
        return Statistics(tiles, atoms, mean, 0, 0.0, 0.0)
    deviation = math.sqrt(max(0.0, found.squares / tiles - mean * mean))
    rest = found.moment, found.walks
    return Statistics(tiles, atoms, mean, found.greatest, deviation, found.empty / tiles, *rest)
