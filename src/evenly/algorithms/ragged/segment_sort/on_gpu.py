"""Sort lists on a GPU, bin by bin."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

from .bins import SHORT, TEAMS, Bins, surveyed
from .blocks import sorting, teams_of
from .passes import merging
from .threads import LISTS, sorting_short


@functools.cache
def schedule_of(size: int) -> ev.Schedule:
    """Return the schedule that gives a team of `size` threads to each item."""
    return ev.GroupMapped(size, block=128) if size <= 32 else ev.BlockMapped(size)


def sort_on_gpu(
    keys: Any,
    R: Any,
    sorted_: Any,
    order: Any,
    descending: bool,
    target: str,
    teams: Any = None,
    short: int = 0,
) -> None:
    """Sort the keys of the lists R into `sorted_`, and their positions into `order`.

    teams: as of TEAMS. short: as of SHORT.
    """
    if not len(keys):
        return
    size = np.dtype(kit.code_type(keys)).itemsize
    teams, short = teams or TEAMS[size], short or SHORT[size]
    limits = (short, *(size * each for size, each in teams))
    for expected, ranges in surveyed(R, limits, target):
        bins = Bins(R, limits, expected, ranges, target)
        sort_bins(keys, bins, sorted_, order, descending, teams)


def sort_bins(
    keys: Any, bins: Bins, sorted_: Any, order: Any, descending: bool, teams: Any
) -> None:
    """The same, for lists in bins."""
    R, target, ranges, ids = bins.R, bins.target, bins.ranges, bins.ids
    lists, parts, passes, _ = bins.expected
    given = kit.code_type(keys), kit.coding(keys, descending)
    position: Any = kit.dtype(order).type
    arrays = kit.as_integers(keys), kit.as_integers(sorted_), order
    if lists[0]:
        items = teams_of(-(-lists[0] // LISTS), LISTS)
        sort = sorting_short(bins.limits[0], *given, position)[schedule_of(LISTS)].on(target)
        sort(items, ranges[0], ids, R.offsets, *arrays)
    for i, (size, each) in enumerate(teams, 1):
        if lists[i]:
            items = teams_of(lists[i], size)
            sort = sorting(size, each, *given)[schedule_of(size)].on(target)
            sort(items, ranges[i], ids, None, R.offsets, *arrays, None, None)
    if not parts:
        return
    size, each = teams[-1]
    items, own = teams_of(parts, size), (*bins.parts(), R.offsets)
    spare = kit.empty(keys, (len(keys),), kit.dtype(arrays[0]))
    spare_order = kit.empty(keys, (len(keys),), kit.dtype(order))
    aside = *arrays, spare, spare_order
    sorting(size, each, *given)[schedule_of(size)].on(target)(items, None, *own, *aside)
    merge = merging(size, each, *given, position)[schedule_of(size)].on(target)
    found = kit.empty(keys, (parts,), kit.dtype(order))
    each_part, done = kit.each(parts), kit.zeros(keys, (parts,), np.int32)
    for _ in range(passes):
        merge(items, *own, *aside, each_part, done, found)
