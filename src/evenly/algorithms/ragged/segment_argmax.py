"""The position of the greatest or the least element of each list."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def of_greatest(R, data, out):
    for t in R.tiles():
        out[t] = ev.argmax((data[k] for k in R.atoms(t)), default=-1)


@ev.kernel
def of_greatest_of_rows(R, data, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            out[t, j] = ev.argmax((data[k, j] for k in R.atoms(t)), default=-1)


@ev.kernel
def of_least(R, data, out):
    for t in R.tiles():
        out[t] = ev.argmin((data[k] for k in R.atoms(t)), default=-1)


@ev.kernel
def of_least_of_rows(R, data, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            out[t, j] = ev.argmin((data[k, j] for k in R.atoms(t)), default=-1)


@kit.plannable
def segment_argmax(
    data: Any, offsets: Any, *, out: Any = None, schedule: Any = "auto", target: str = "auto"
) -> Any:
    """Return where the greatest element of each list is, (m,) or (m, d): its position in data, the first of equal ones.

    data: (n,) or (n, d), real numbers, the elements of all lists, one list after the other.
    offsets, schedule, target: as of `ev.ragged.segment_reduce`.
    out: an array of integers for the result. Default: a new array of int64 of the library of data.

    It is -1 for a list without elements. nan is greater than all numbers. Positions are those of data, so that
    data[position] is the element; less offsets[:-1], they are those within the list.

    Raises InputError if shapes, dtypes or devices do not match, and for offsets that do not ascend.

    >>> import numpy as np, evenly as ev
    >>> ev.ragged.segment_argmax(np.array([1.0, 3.0, 2.0]), np.array([0, 2, 2, 3]))
    array([ 1, -1,  2])
    """
    return _located((of_greatest, of_greatest_of_rows), data, offsets, out, schedule, target)


@kit.plannable
def segment_argmin(
    data: Any, offsets: Any, *, out: Any = None, schedule: Any = "auto", target: str = "auto"
) -> Any:
    """Return where the least element of each list is, as `ev.ragged.segment_argmax` does. nan is less than all numbers.

    >>> import numpy as np, evenly as ev
    >>> ev.ragged.segment_argmin(np.array([1.0, 3.0, 2.0]), np.array([0, 2, 2, 3]))
    array([ 0, -1,  2])
    """
    return _located((of_least, of_least_of_rows), data, offsets, out, schedule, target)


def _located(
    kernels: tuple[Any, Any], data: Any, offsets: Any, out: Any, schedule: Any, target: str
) -> kit.Call:
    data = kit.vector(data, "data", axes=2)
    kit.check_real(data, "data", numbers=False)
    R = kit.as_lists(offsets, len(data), data)
    rows = tuple(data.shape)[1:]
    made = np.dtype(np.int64)
    out = kit.result(out, data, (R.num_tiles, *rows), made, "a position for each list")
    if kit.dtype(out).kind != "i":
        raise ev.InputError("out", expected="signed integers", given=f"dtype {kit.dtype(out)}")
    if len(data) - 1 > np.iinfo(kit.dtype(out)).max:
        expected = f"a type that holds positions up to {len(data) - 1:,}"
        raise ev.InputError("out", expected=expected, given=str(kit.dtype(out)))
    return kit.Call(kernels[len(rows)][schedule].on(target), (R, data, out), out, {"R": "offsets"})
