"""Sort lists on a GPU, bin by bin."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

from .bins import SHORT, TEAMS, Bins
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
    T = kit.code_type(keys)
    position: Any = kit.dtype(order).type
    size = np.dtype(T).itemsize
    teams, short = teams or TEAMS[size], short or SHORT[size]
    bins = Bins(R, (short, *(size * each for size, each in teams)), target)
    given = T, kit.coding(keys, descending)
    arrays = kit.as_integers(keys), kit.as_integers(sorted_), order
    lists, parts, greatest = bins.survey  # all else before it: now the GPU waits
    if lists[0]:
        items = teams_of(-(-lists[0] // LISTS), LISTS)
        sort = sorting_short(short, *given, position)[schedule_of(LISTS)].on(target)
        sort(items, bins.lists(0), lists[0], R.offsets, *arrays)
    for i, (size, each) in enumerate(teams, 1):
        if lists[i]:
            items = teams_of(lists[i], size)
            sort = sorting(size, each, *given)[schedule_of(size)].on(target)
            sort(items, bins.lists(i), None, R.offsets, *arrays, None, None)
    if not parts:
        return
    size, each = teams[-1]
    own = teams_of(parts, size), *bins.parts(), R.offsets
    spare = kit.empty(keys, (len(keys),), kit.dtype(arrays[0]))
    spare_order = kit.empty(keys, (len(keys),), kit.dtype(order))
    aside = *arrays, spare, spare_order
    sorting(size, each, *given)[schedule_of(size)].on(target)(*own, *aside)
    merge = merging(size, each, *given, position)[schedule_of(size)].on(target)
    found = kit.empty(keys, (parts,), kit.dtype(order))
    each_part, done = kit.each(parts), kit.zeros(keys, (1,), np.int32)
    for _ in range((-(-greatest // (size * each)) - 1).bit_length()):
        merge(*own, *aside, each_part, done, found)
