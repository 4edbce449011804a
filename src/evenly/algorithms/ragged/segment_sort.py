"""Sort each list, stably.

In short lists each element counts those that come before it. Longer ones are sorted by key, all at once, and then
grouped by list; both steps are stable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

SHORT = 64  # elements of lists whose elements are counted
EACH = ev.ThreadMapped()  # a thread for each list


@ev.kernel
def longest(R, found):
    most = 0
    for t in R.tiles():
        most = max(most, R.end(t) - R.begin(t))
    found[0] = most


@ev.kernel
def by_counting(R, keys, descending, sorted_, order):
    for t in R.tiles():
        for k in R.atoms(t):
            here = (keys[k], k)
            before = sum(
                1
                for i in range(R.begin(t), R.end(t))
                if kit.precedes((keys[i], i), here, descending)
            )
            sorted_[R.begin(t) + before] = keys[k]
            order[R.begin(t) + before] = k


@ev.kernel
def number(R, list_of):
    for t in R.tiles():
        for k in R.atoms(t):
            list_of[k] = t


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
    schedule, target: as of `ev.spmv`, for the kernel that sorts short lists.

    NaN, -0.0 and the results are as of `ev.sort_by_key`. If lists have more than 64 elements, a GPU needs what that
    needs. On a GPU the length of the longest list is read back: the call waits for it.

    Raises InputError if lengths, dtypes or devices do not match, and for offsets that do not ascend; UnavailableError
    if cuda-cccl is missing.

    >>> import numpy as np, evenly as ev
    >>> keys, order = ev.ragged.segment_sort(np.array([3, 1, 2, 0]), np.array([0, 3, 4]))
    >>> keys.tolist(), order.tolist()
    ([1, 2, 3, 0], [1, 2, 0, 3])
    """
    keys = kit.vector(keys, "keys")
    kit.check_real(keys, "keys", numbers=False)
    given = kit.vectors(values, keys, "keys")
    R = kit.as_lists(offsets, len(keys), keys, "keys")
    found = kit.empty(keys, (1,), np.int64)
    longest.on(target)(R, found)
    if kit.entry(found, 0) <= SHORT:
        sorted_ = kit.empty(keys, (len(keys),), kit.dtype(keys))
        order = kit.empty(keys, (len(keys),), kit.index_type(len(keys)))
        by_counting[schedule].on(target)(R, keys, bool(descending), sorted_, order)
    else:
        order = order_by_key_and_list(R, keys, descending)
        sorted_ = kit.take(keys, order)
    moved = tuple(kit.take(x, order) for x in given) or (order,)
    return sorted_, moved if isinstance(values, tuple) else moved[0]


def order_by_key_and_list(R: Any, keys: Any, descending: bool) -> Any:
    """Return the order that sorts the keys of each list."""
    _, order = ev.sort_by_key(keys, descending=descending)
    list_of = kit.empty(keys, (len(keys),), kit.index_type(R.num_tiles))
    number(R, list_of)
    groups = ev.group_by(kit.take(list_of, order), R.num_tiles, check=False)
    return kit.take(order, groups.order)
