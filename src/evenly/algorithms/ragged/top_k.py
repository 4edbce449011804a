"""The k greatest or least elements of each list."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


def selection(largest: bool) -> Any:
    """Make the kernel: the next of each list is looked for k times."""

    @ev.func
    def first_of(a, b):
        """The one of two elements that comes first. At position -1 there is none."""
        if a[1] < 0 or (b[1] >= 0 and kit.precedes(b, a, largest)):
            return b
        return a

    @ev.kernel
    def select(R, data, padding, values, indices):
        for t in R.tiles():
            last = (padding, -1)
            for i in range(values.shape[1]):
                last = ev.reduce(
                    first_of,
                    (
                        (data[k], k)
                        for k in R.atoms(t)
                        if i == 0 or (last[1] >= 0 and kit.precedes(last, (data[k], k), largest))
                    ),
                    (0, -1),
                )
                values[t, i] = last[0] if last[1] >= 0 else padding
                indices[t, i] = last[1]

    return select


SELECT = {largest: selection(largest) for largest in (True, False)}


@kit.plannable
def top_k(
    data: Any,
    k: int,
    offsets: Any,
    *,
    largest: bool = True,
    padding_value: Any = 0,
    out: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Return the k greatest elements of each list, the greatest first, and their positions in data: (m, k) both.

    data: (n,), real numbers, the elements of all lists, one list after the other.
    k: how many of each list. A list is looked through k times.
    offsets: as of `ev.ragged.segment_reduce`.
    largest: False: the least ones, the least first.
    padding_value: the values of lists with fewer elements. Their positions are -1.
    out: (values, positions), arrays for the results. Default: new arrays, of the dtype of data and of int64.
    schedule, target: as of `ev.spmv`; the schedule gives whole lists to a thread or a group.

    Of equal elements the first one comes first; nan comes last, as `ev.ragged.segment_sort` has it.

    Raises InputError if shapes, dtypes or devices do not match, and for offsets that do not ascend.

    >>> import numpy as np, evenly as ev
    >>> ev.ragged.top_k(np.array([1.0, 3.0, 2.0, 4.0]), 2, np.array([0, 3, 4]))
    (array([[3., 2.],
           [4., 0.]]), array([[ 1,  2],
           [ 3, -1]]))
    """
    data = kit.vector(data, "data")
    kit.check_real(data, "data")
    wanted = kit.count_of(k, "k")
    R = kit.as_lists(offsets, len(data), data)
    padding = kit.number_of(padding_value, kit.held_as(data), "padding_value")
    given = (None, None) if out is None else out
    if not isinstance(given, tuple) or len(given) != 2:
        expected = "a tuple: an array for values, and one for positions"
        raise ev.InputError("out", expected=expected, given=type(out).__name__)
    types = kit.dtype(data), np.dtype(np.int64)
    shape = (R.num_tiles, wanted)
    values, indices = (
        kit.result(x, data, shape, made, "k of each list", exact=True)
        for x, made in zip(given, types, strict=True)
    )
    kernel = SELECT[bool(largest)][kit.of_whole_lists(schedule)].on(target)
    args = R, data, padding, values, indices
    return kit.Call(kernel, args, (values, indices), {"R": "offsets"})
