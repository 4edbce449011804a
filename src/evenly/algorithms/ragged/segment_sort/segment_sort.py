"""Sort each list, stably."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly import kit

from .merged import RUN, SHORT, merging
from .on_gpu import sort_on_gpu
from .on_host import sort_on_host


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
    values: an array (n,) of numbers or bool on the same device, or a tuple of such arrays. Default: the positions
      0 .. n-1 of the elements, as int32 if that suffices, else int64. The second result is then the order that sorts
      the keys.
    descending: the greatest keys of each list first. Equal keys keep their order then, too.
    schedule, target: as of `ev.spmv`.

    NaN comes last in both orders, and all NaN are equal. -0.0 and 0.0 are equal. Keys keep their bits.
    The results are new arrays of the same library and on the same device. It takes temporary memory of about the size
    of the keys and the order; on a GPU only if a list has more than 3,328 elements (1,920 of 8 bytes), else at most 4
    bytes for each list that has elements, 8 from 2**31 lists on; on a CPU of twice the longest list for each thread,
    up to 1 GiB or as much as one thread needs. From a GPU a call reads back how many lists there are of which length,
    so it waits, and cannot be captured into a CUDA graph.

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
    sorted_ = kit.empty(keys, (n,), kit.dtype(keys))
    order = kit.empty(keys, (n,), kit.index_type(n))
    with kit.renamed(R="offsets"):
        if schedule == "auto" and kit.on_gpu(keys):
            sort_on_gpu(keys, R, sorted_, order, bool(descending), target)
        elif schedule == "auto" and target in ("auto", "cpu"):
            sort_on_host(keys, R, sorted_, order, bool(descending), target)
        else:
            too = kit.empty(keys, (n,), kit.dtype(keys)), kit.empty(keys, (n,), kit.dtype(order))
            position = np.int32 if n <= SHORT else np.int64
            sort = merging(bool(descending), position)[schedule].on(target)
            sort(R, keys, position(RUN), sorted_, order, *too)
    if values is None:
        return sorted_, order
    moved = tuple(kit.take(x, order) for x in given)
    return sorted_, moved if isinstance(values, tuple) else moved[0]
