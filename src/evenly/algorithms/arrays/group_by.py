"""Group positions by equal keys, and the distinct keys of an array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly import kit

EACH = ev.ThreadMapped()  # a thread for each element


class Groups(NamedTuple):
    """Positions, grouped by equal keys: group g is order[offsets[g]] .. order[offsets[g + 1] - 1], ascending.

    keys: the key of each group (g,), ascending. None where keys were numbers of groups.
    offsets: (g + 1,). order: (n,), a permutation of the positions.
    """

    keys: Any
    offsets: Any
    order: Any


@ev.func
def begins(keys, k):
    """Whether the sorted keys[k] differs from the key before it. NaN equals NaN."""
    before = keys[k - 1 if k > 0 else k]
    numbers = keys[k] == keys[k] or before == before
    return k == 0 or (numbers and keys[k] != before)


@ev.kernel
def count(E, keys, found):
    groups = 0
    for i in E.tiles():
        groups += 1 if begins(keys, i) else 0
    found[0] = groups


@ev.kernel
def put_groups(W, keys, distinct, offsets):
    for tile in W.tiles():
        offsets[len(offsets) - 1 + tile] = len(keys)
        for k in W.atoms(tile):
            first = begins(keys, k)
            group = ev.rank(first)
            if first:
                distinct[group] = keys[k]
                offsets[group] = k


@ev.func
def first_not_below(keys, g):
    low = 0
    high = len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < g:
            low = middle + 1
        else:
            high = middle
    return low


@ev.kernel
def find_starts(E, keys, offsets):
    for g in E.tiles():
        offsets[g] = first_not_below(keys, g)


def group_by(keys: Any, num_groups: int | None = None, *, check: bool = True) -> Groups:
    """Group the positions of equal keys. Return (keys, offsets, order), a named tuple.

    keys: (n,), real numbers or bool.
    num_groups: the keys are integers in 0 .. num_groups-1, and each of these is a group, which may
      be empty. Default: a group for each distinct key, in ascending order, at least one position each.
    check: with num_groups, check every key. On a GPU, the call waits for it. False: do not check.

    Group g has the positions order[offsets[g]:offsets[g + 1]], in ascending order. keys are the
    distinct keys (None with num_groups), each as it comes first; offsets (groups + 1,) and order (n,)
    are int32 if that suffices, else int64. `ev.ragged(offsets)` is a layout with a tile for each
    group. NaN and -0.0 are as in `ev.sort_by_key`, whose needs this has, too.

    The arrays are of the same library and on the same device. On a GPU, without num_groups, their length
    is read back: the call waits for it.

    Raises InputError for keys beyond num_groups, and as `ev.sort_by_key` does.

    >>> import numpy as np, evenly as ev
    >>> groups = ev.group_by(np.array([7, 3, 7, 7]))
    >>> groups.keys.tolist(), groups.offsets.tolist(), groups.order.tolist()
    ([3, 7], [0, 1, 4], [1, 0, 2, 3])
    """
    keys = kit.vector(keys, "keys")
    if num_groups is not None:
        return _numbered(keys, kit.count_of(num_groups, "num_groups"), check)
    sorted_, order = ev.sort_by_key(keys)
    if len(keys) == 0:
        return Groups(sorted_, kit.zeros(keys, (1,), np.int32), order)
    distinct, offsets = (by_kernels if kit.on_gpu(keys) else by_numpy)(sorted_)
    return Groups(distinct, offsets, order)


def by_numpy(keys: Any) -> tuple[Any, Any]:
    """Return the distinct keys of sorted ones, at least one, in CPU memory, and the offsets of each."""
    numbers = kit.numbers(keys)
    this, before = numbers[1:], numbers[:-1]
    differs = (this != before) & ((this == this) | (before == before))
    starts = np.flatnonzero(np.concatenate([[True], differs]))
    offsets = np.append(starts, len(numbers)).astype(kit.index_type(len(numbers)))
    return kit.from_numpy(kit.to_numpy(keys)[starts], keys), kit.from_numpy(offsets, keys)


def by_kernels(keys: Any) -> tuple[Any, Any]:
    """Return the distinct keys of sorted ones, at least one, and the offsets of each."""
    n, found = len(keys), kit.empty(keys, (1,), np.int64)
    count[EACH](kit.each(n), keys, found)
    groups = kit.entry(found, 0)
    distinct = kit.empty(keys, (groups,), kit.dtype(keys))
    offsets = kit.empty(keys, (groups + 1,), kit.index_type(n))
    put_groups[ev.NonzeroSplit()](kit.whole(n), keys, distinct, offsets)
    return distinct, offsets


def _numbered(keys: Any, num_groups: int, check: bool) -> Groups:
    if check:
        kit.check_indices(keys, num_groups, "keys")
    number = number_by_radix if kit.on_gpu(keys) else number_by_counting
    return Groups(None, *number(keys, num_groups))


def number_by_counting(keys: Any, num_groups: int) -> tuple[Any, Any]:
    """Return the offsets and the order of groups in CPU memory."""
    try:
        offsets, order = kit.stable_order(kit.to_numpy(keys), num_groups)
    except (ValueError, MemoryError):
        expected = "groups whose offsets fit into memory"
        raise ev.InputError("num_groups", expected=expected, given=f"{num_groups:,}") from None
    type_ = kit.index_type(len(keys))
    return tuple(kit.from_numpy(x.astype(type_, copy=False), keys) for x in (offsets, order))


def number_by_radix(keys: Any, num_groups: int) -> tuple[Any, Any]:
    """Return the offsets and the order of groups, by `kit.radix_sort` and a search for each group."""
    with kit.renamed(out="num_groups"):
        offsets = kit.empty(keys, (num_groups + 1,), kit.index_type(len(keys)))
    positions = kit.positions(keys, len(keys))
    sorted_, order = (kit.empty(x, (len(keys),), kit.dtype(x)) for x in (keys, positions))
    bits = max(1, (num_groups - 1).bit_length())
    kit.radix_sort(keys, positions, sorted_, order, bits=bits)
    find_starts[EACH](kit.each(num_groups + 1), sorted_, offsets)
    return offsets, order
