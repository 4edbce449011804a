"""The lists that the rows of an array begin with, one after the other."""

from __future__ import annotations

from typing import Any

import evenly as ev
from evenly import kit


@ev.kernel
def pack(R, padded, zero, out):
    for t in R.tiles():
        for k in R.atoms(t):
            i = k - R.begin(t)
            out[k] = padded[t, i] if i < padded.shape[1] else zero


@ev.kernel
def pack_rows(R, padded, zero, out):
    for t in R.tiles():
        for k in R.atoms(t):
            i = k - R.begin(t)
            for j in ev.lanes(out.shape[1]):
                out[k, j] = padded[t, i, j] if i < padded.shape[1] else zero


@kit.plannable
def padded_to_jagged(
    padded: Any, offsets: Any, *, out: Any = None, schedule: Any = "auto", target: str = "auto"
) -> Any:
    """Return the lists that the rows of an array begin with, one after the other: (n,) or (n, d).

    padded: (m, length) or (m, length, d).
    offsets: (m + 1,), as of `ev.ragged.segment_reduce`; the last one, n, is read, which waits for a GPU. A layout of
      `ev.ragged` knows it.
    out: an array for the result. Default: a new array of the library and the dtype of padded. Elements of lists beyond
      the length of the rows are 0.
    schedule, target: as of `ev.spmv`.

    Raises InputError if shapes, dtypes or devices do not match, and for offsets that do not ascend.

    >>> import numpy as np, evenly as ev
    >>> ev.ragged.padded_to_jagged(np.array([[1, 2], [0, 0], [3, 0]]), np.array([0, 2, 2, 3]))
    array([1, 2, 3])
    """
    padded = kit.vector(padded, "padded", axes=3)
    shape = tuple(padded.shape)
    if len(shape) == 1:
        expected = "an array (lists, length) or (lists, length, d)"
        raise ev.InputError("padded", expected=expected, given=f"shape {shape}")
    R = kit.as_lists(offsets, None, padded, "padded")
    if R.num_tiles != shape[0]:
        expected = f"offsets of {shape[0]} lists, the rows of padded"
        raise ev.InputError("offsets", expected=expected, given=f"those of {R.num_tiles}")
    about = kit.dtype(padded), "the elements of all lists", "padded"
    out = kit.result(out, padded, (R.num_atoms, *shape[2:]), *about, exact=True)
    kernel = (pack, pack_rows)[len(shape) - 2][schedule].on(target)
    args = R, padded, kit.held_as(padded).type(0), out
    return kit.Call(kernel, args, out, {"R": "offsets"})
