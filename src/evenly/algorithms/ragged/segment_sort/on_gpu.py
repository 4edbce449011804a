"""Sort lists on a GPU, bin by bin."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

from .bins import SHORT, TEAMS, Bins
from .blocks import Teams, sorting
from .merged import counting
from .passes import merging


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
    short: int = SHORT,
) -> None:
    """Sort the keys of the lists R into `sorted_`, and their positions into `order`.

    teams: as of TEAMS. short: lists of at most so many elements are sorted by counting.
    """
    if not len(keys):
        return
    T = kit.code_type(keys)
    position: Any = kit.dtype(order).type
    teams = teams or TEAMS[np.dtype(T).itemsize]
    bins = Bins(R, (short, *(size * each for size, each in teams)), target)
    lists, parts, greatest = bins.survey
    if lists[0]:
        schedule = ev.GroupMapped(8) if greatest <= short and kit.alike(R) else "auto"
        counting(descending, position)[schedule].on(target)(R, keys, short, sorted_, order)
    given = T, kit.coding(keys, descending)
    arrays = kit.as_integers(keys), kit.as_integers(sorted_), order
    for i, (size, each) in enumerate(teams, 1):
        if lists[i]:
            items = Teams(lists[i], size)
            sort = sorting(size, each, *given)[schedule_of(size)].on(target)
            sort(items, bins.lists(i), None, R.offsets, *arrays, None, None)
    if not parts:
        return
    size, each = teams[-1]
    own = Teams(parts, size), *bins.parts(), R.offsets
    spare = kit.empty(keys, (len(keys),), kit.dtype(arrays[0]))
    spare_order = kit.empty(keys, (len(keys),), kit.dtype(order))
    aside = *arrays, spare, spare_order
    sorting(size, each, *given)[schedule_of(size)].on(target)(*own, *aside)
    merge = merging(size, each, *given, position)[schedule_of(size)].on(target)
    found = kit.empty(keys, (parts,), kit.dtype(order))
    for done in range((-(-greatest // (size * each)) - 1).bit_length()):
        merge(*own, *aside, kit.each(parts), np.int32(done), found)
