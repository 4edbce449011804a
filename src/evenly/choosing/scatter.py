"""Measure whether adjacent tiles gather from distant columns.

Lengths do not show it, and it decides what limits a product on a GPU.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from evenly.hooks import hook
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import LayoutInstance, accessors
from evenly.layouts.moving import device_of

from .lengths import has_offsets

EVERY = 64  # one of so many pairs of adjacent tiles is looked at
APART = 64  # columns are far apart if their distance is more than all columns divided by this

_known: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()


def scattered(layout: LayoutInstance) -> float:
    """Return the share of pairs of adjacent tiles whose middle atoms are in columns far apart.

    It is 0.97 for rows in random columns, and about 0 for stencils, bands and meshes in a good order. It is 0 for a
    layout whose columns are unknown. The result is remembered as long as the layout lives.
    """
    found = _known.get(layout)
    if found is None:
        found = _known[layout] = _measured(layout)
    return found


def _measured(layout: LayoutInstance) -> float:
    cls: Any = type(layout)
    if accessors(cls).get("column") != (False, True) or "num_columns" not in cls.__fields__:
        return 0.0
    if device_of(layout) == "cuda":
        return measured_on_gpu(layout)
    return by_numpy(layout) if has_offsets(layout) else 0.0


@hook
def measured_on_gpu(layout: LayoutInstance) -> float:
    """Return the same for a layout on a GPU, by one small kernel."""
    raise NotImplementedError


def by_numpy(layout: Any) -> float:
    offsets = to_numpy(layout.offsets).astype(np.int64)
    one, other, end = offsets[:-2:EVERY], offsets[1:-1:EVERY], offsets[2::EVERY]
    full = (one < other) & (other < end)
    one, other, end = one[full], other[full], end[full]
    here = layout.column(one + (other - one) // 2).astype(np.float64)
    there = layout.column(other + (end - other) // 2).astype(np.float64)
    return float(np.mean(abs(here - there) * APART > layout.num_columns)) if len(one) else 0.0
