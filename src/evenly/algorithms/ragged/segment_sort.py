"""Sort each list, stably.

A merge sort of all lists at once: runs of 32 or 64 elements are sorted by counting, then neighbouring runs of a list
are merged, two or four at a time, until the longest list is one run. Each element finds its place by a binary search in
each of the others, so that all threads have equal work, and no element waits for another. Source: the merge sort of
Satish, Harris, Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs" (2009).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

# On a GPU, on a CPU: how many elements are sorted by counting, and how many runs are merged at a time.
RUN, WAYS = (32, 64), (4, 2)
SHORT = 2**28  # of so many elements four runs are numbered in 32 bits, which GPUs add faster


@functools.cache
def sorting(descending: bool, position: Any, ways: int) -> Any:
    """Make the kernel. position: the integers in which places are computed. ways: how many runs are merged at a time.

    With 4 instead of 2 memory is read and written half as often, for half as many comparisons more.
    """

    @ev.func
    def comes(a, b, with_equals):
        """Whether key a comes before key b, or with it, if `with_equals`; nan is last in both orders.

        All of it is computed, since a branch for each comparison would take longer.
        """
        before = (a > b if descending else a < b) | ((a == a) & (b != b))
        not_after = (a >= b if descending else a <= b) | (b != b)
        return not_after if with_equals else before

    @ev.func
    def further(keys, first, last, n, step, key, with_equals):
        """If n of the sorted keys[first:last] come before `key`: n + step, if so many do, else n."""
        at = first + n + step
        found = comes(keys[min(at, last) - 1], key, with_equals)
        return n + step if (at <= last) & found else n

    @ev.func
    def place_among(keys, begin, end, k, width):
        """Where keys[k] goes when the sorted runs of `width` in keys[begin:end] are merged, `ways` at a time.

        width: a power of two.
        """
        if width >= end - begin:
            return k
        own = begin + ((k - begin) & -width)
        a = begin + ((own - begin) ^ width)  # the other runs begin here
        b = begin + ((own - begin) ^ (2 * width))
        c = begin + ((own - begin) ^ (3 * width))
        of_a, of_b, of_c = position(0), position(0), position(0)
        key, step = keys[k], width
        while step > 0:  # none of the searches waits for another
            of_a = further(keys, a, min(a + width, end), of_a, step, key, a < own)
            if ways == 4:
                of_b = further(keys, b, min(b + width, end), of_b, step, key, b < own)
                of_c = further(keys, c, min(c + width, end), of_c, step, key, c < own)
            step //= 2
        first = begin + ((k - begin) & -(ways * width))
        return first + (k - own) + of_a + of_b + of_c

    @ev.kernel
    def sort(R, keys, run, sorted_, order, sorted_too, order_too):
        longest = 0
        for t in R.tiles():
            longest = max(longest, R.end(t) - R.begin(t))
        for t in R.tiles():
            for k in R.atoms(t):
                begin, end, at = position(R.begin(t)), position(R.end(t)), position(k)
                first = begin + ((at - begin) & -run)
                last, key = min(first + run, end), keys[k]
                i, place = first, first
                while i < last:
                    place += 1 if comes(keys[i], key, i < at) else 0
                    i += 1
                sorted_[place] = key
                order[place] = k
        width = run
        while width < longest:
            for t in R.tiles():
                for k in R.atoms(t):
                    begin, end = position(R.begin(t)), position(R.end(t))
                    place = place_among(sorted_, begin, end, position(k), width)
                    sorted_too[place] = sorted_[k]
                    order_too[place] = order[k]
            width *= ways
            for t in R.tiles():
                for k in R.atoms(t):
                    begin, end = position(R.begin(t)), position(R.end(t))
                    place = place_among(sorted_too, begin, end, position(k), width)
                    sorted_[place] = sorted_too[k]
                    order[place] = order_too[k]
            width *= ways

    return sort


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
    position = np.int32 if n <= SHORT else np.int64
    here = 0 if kit.on_gpu(keys) else 1
    sort = sorting(bool(descending), position, WAYS[here])
    arrays = sorted_, order, sorted_too, order_too
    with kit.renamed(R="offsets"):
        sort[schedule].on(target)(R, keys, position(RUN[here]), *arrays)
    moved = tuple(kit.take(x, order) for x in given) or (order,)
    return sorted_, moved if isinstance(values, tuple) else moved[0]
