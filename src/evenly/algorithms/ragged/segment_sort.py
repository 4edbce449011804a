"""Sort each list, stably.

A merge sort of all lists at once: runs of 32 elements are sorted by counting, then neighbouring runs of a list are
merged until the longest list is one run. Each element finds its place by a binary search in the other run, so that all
threads have equal work, and no element waits for another. Source: the merge sort of Satish, Harris, Garland, "Designing
Efficient Sorting Algorithms for Manycore GPUs" (2009).
"""

from __future__ import annotations

from typing import Any

import evenly as ev
from evenly import kit

RUN = 32  # elements that are sorted by counting


@ev.func
def before(a, b, descending):
    """Whether key a comes before key b; nan is last in both orders."""
    if a != a or b != b:
        return a == a
    return a > b if descending else a < b


@ev.func
def how_many_before(keys, low, high, key, with_equals, descending):
    """How many of the sorted keys[low:high] come before `key`, or are equal to it and are counted, too."""
    first = low
    while low < high:
        middle = (low + high) // 2
        if with_equals:
            comes = not before(key, keys[middle], descending)
        else:
            comes = before(keys[middle], key, descending)
        if comes:
            low = middle + 1
        else:
            high = middle
    return low - first


@ev.func
def place_among(keys, begin, end, k, width, descending):
    """Where keys[k] goes when the sorted runs of `width`, a power of two, in keys[begin:end] are merged two by two."""
    own = begin + ((k - begin) & -width)
    other = begin + (((k - begin) & -width) ^ width)
    low, high = min(other, end), min(other + width, end)
    passed = how_many_before(keys, low, high, keys[k], other < own, descending)
    return min(own, other) + (k - own) + passed


@ev.kernel
def sort(R, keys, descending, sorted_, order, sorted_too, order_too):
    longest = 0
    for t in R.tiles():
        longest = max(longest, R.end(t) - R.begin(t))
    for t in R.tiles():
        for k in R.atoms(t):
            first = k - (k - R.begin(t)) % RUN
            earlier = sum(1 for i in range(first, k) if not before(keys[k], keys[i], descending))
            last = min(first + RUN, R.end(t))
            later = sum(1 for i in range(k + 1, last) if before(keys[i], keys[k], descending))
            sorted_[first + earlier + later] = keys[k]
            order[first + earlier + later] = k
    width = RUN
    while width < longest:
        for t in R.tiles():
            for k in R.atoms(t):
                place = place_among(sorted_, R.begin(t), R.end(t), k, width, descending)
                sorted_too[place] = sorted_[k]
                order_too[place] = order[k]
        width *= 2
        for t in R.tiles():
            for k in R.atoms(t):
                place = place_among(sorted_too, R.begin(t), R.end(t), k, width, descending)
                sorted_[place] = sorted_too[k]
                order[place] = order_too[k]
        width *= 2


def group_for(longest: int) -> ev.GroupMapped:
    """The group that sorts such lists on a GPU: so many threads that adjacent ones store in the same 32 bytes."""
    size = 8
    while 8 * size < longest and size < 128:
        size *= 2
    return ev.GroupMapped(size)


def segment_sort(
    keys: Any,
    offsets: Any,
    values: Any = None,
    *,
    descending: bool = False,
    schedule: Any = "auto",
    target: str = "auto",
) -> tuple[Any, Any]:
    """Return (keys, values), both sorted by key within each list. Equal keys keep their order.

    keys: (n,), real numbers or bool, the elements of all lists, one list after the other.
    offsets: as of `ev.ragged.segment_reduce`.
    values: an array (n,) of any dtype on the same device, or a tuple of such arrays. Default: the positions 0 .. n-1 of
      the elements, as int32 if that suffices, else int64. The second result is then the order that sorts the keys.
    descending: the greatest keys of each list first. Equal keys keep their order then, too.
    schedule, target: as of `ev.spmv`.

    NaN comes last in both orders, and all NaN are equal. -0.0 and 0.0 are equal. The results are new arrays of the same
    library and on the same device. It takes temporary memory of the size of the keys and the order.

    Raises InputError if lengths, dtypes or devices do not match, if keys are complex, and for offsets that do not
    ascend.

    >>> import numpy as np, evenly as ev
    >>> keys, order = ev.ragged.segment_sort(np.array([3, 1, 2, 0]), np.array([0, 3, 4]))
    >>> keys.tolist(), order.tolist()
    ([1, 2, 3, 0], [1, 2, 0, 3])
    """
    keys = kit.vector(keys, "keys")
    kit.check_real(keys, "keys", numbers=False)
    given = kit.vectors(values, keys, "keys")
    n = len(keys)
    R = kit.as_lists(offsets, n, keys, "keys")
    sorted_, sorted_too = (kit.empty(keys, (n,), kit.dtype(keys)) for _ in range(2))
    order, order_too = (kit.empty(keys, (n,), kit.index_type(n)) for _ in range(2))
    if schedule == "auto" and kit.on_gpu(keys) and (longest := kit.alike(R)):
        schedule = group_for(longest)
    with kit.renamed(R="offsets"):
        sort[schedule].on(target)(R, keys, bool(descending), sorted_, order, sorted_too, order_too)
    moved = tuple(kit.take(x, order) for x in given) or (order,)
    return sorted_, moved if isinstance(values, tuple) else moved[0]
