"""Running sums within each list.

Source: Blelloch, "Prefix Sums and Their Applications" (1990); on GPUs Merrill, Garland, "Single-pass Parallel Prefix
Scan with Decoupled Look-back" (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def inclusive(R, data, zero, out):
    for t in R.tiles():
        for k in R.atoms(t):
            out[k] = ev.scan(data[k] + zero)


@ev.kernel
def inclusive_of_rows(R, data, zero, out):
    for t in R.tiles():
        for j in ev.lanes(data.shape[1]):
            for k in R.atoms(t):
                out[k, j] = ev.scan(data[k, j] + zero)


@ev.kernel
def exclusive_(R, data, zero, out):
    for t in R.tiles():
        for k in R.atoms(t):
            out[k] = ev.scan(data[k] + zero, exclusive=True)


@ev.kernel
def exclusive_of_rows(R, data, zero, out):
    for t in R.tiles():
        for j in ev.lanes(data.shape[1]):
            for k in R.atoms(t):
                out[k, j] = ev.scan(data[k, j] + zero, exclusive=True)


KERNELS = {False: (inclusive, inclusive_of_rows), True: (exclusive_, exclusive_of_rows)}


@kit.plannable
def segment_scan(
    data: Any,
    offsets: Any,
    *,
    exclusive: bool = False,
    out: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Return the sums of the elements of each list up to each element: numpy.cumsum within lists, (n,) or (n, d).

    data: (n,) or (n, d), numbers, the elements of all lists, one list after the other.
    offsets, schedule, target: as of `ev.ragged.segment_reduce`.
    exclusive: the sums of the elements before each, 0 for the first of a list.
    out: as data, an array for the result, which may not overlap it; its dtype is that of the sums. Default: a new array
      of the library of data, of the dtype of numpy.cumsum: 64 bits for integers and bool. Sums of 16-bit floats are
      float32, and rounded once.

    The same arguments give the same bits on every run. Columns are scanned one after the other.

    Raises InputError if shapes, dtypes or devices do not match, and for offsets that do not ascend.

    >>> import numpy as np, evenly as ev
    >>> ev.ragged.segment_scan(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 2, 2, 4]))
    array([1., 3., 3., 7.])
    """
    data = kit.vector(data, "data", axes=2)
    R = kit.as_lists(offsets, len(data), data)
    made = kit.dtype(data)
    if made.kind in "iub":
        made = np.cumsum(np.zeros(0, made)).dtype
    out = kit.result(out, data, tuple(data.shape), made, "as data has it")
    held = kit.held_as(out)
    kit.check_sums(data, held)
    kernel = KERNELS[bool(exclusive)][len(data.shape) - 1]
    args = R, data, held.type(0), out
    return kit.Call(kernel[schedule].on(target), args, out, {"R": "offsets"})
