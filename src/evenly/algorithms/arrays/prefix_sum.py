"""Prefix sums.

In CPU memory NumPy sums. On a GPU a kernel scans one tile that has all elements. Floats are added in an order that
follows from the length and the GPU alone, so they have the same bits on every run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def scan(W, x, zero, first, out):
    for tile in W.tiles():
        if first == 1:
            out[tile] = zero
        for k in W.atoms(tile):
            out[k + first] = ev.scan(x[k] + zero)


def prefix_sum(x: Any, *, include_initial: bool = False, dtype: Any = None, out: Any = None) -> Any:
    """Return the sums x[0], x[0] + x[1], ..., of the same library as x and on the same device.

    x: (n,), numbers or bool.
    include_initial: begin with 0. The result then has n + 1 elements: the offsets of lists with
      the lengths x, for `ev.ragged`.
    dtype: of the result. Default: the dtype of `out`, or that of numpy.cumsum: int64 for integers
      and bool, else that of x. Sums of 16-bit floats are float32, rounded once when they are stored.
    out: an array for the result, (n,) or (n + 1,), on the same device. On a GPU it may not overlap x.

    The same x gives the same bits on every run. Integers wrap around. On a GPU, floats are summed up
    in another order than numpy.cumsum's.

    Raises InputError if shapes, dtypes or devices do not match.

    >>> import numpy as np, evenly as ev
    >>> ev.prefix_sum(np.array([3, 0, 2]), include_initial=True)
    array([0, 3, 3, 5])
    """
    x = kit.vector(x, "x")
    first = int(include_initial)
    if out is None:
        out = kit.empty(x, (len(x) + first,), _type(x, dtype))
    else:
        kit.check_output(
            out, (len(x) + first,), x, "x", "a sum for each element of x" + " and 0" * first
        )
    held = kit.held_as(out)
    kit.check_sums(x, held)
    if kit.on_gpu(x):
        scan(kit.whole(len(x)), x, held.type(0), first, out)
    else:
        sums = np.cumsum(kit.numbers(x), dtype=held)
        kit.store(np.concatenate([np.zeros(first, held), sums]), out)
    return out


def _type(x: Any, dtype: Any) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = kit.dtype(x) if dtype is None else np.dtype(dtype)
    except TypeError:
        raise ev.InputError("dtype", expected="a NumPy dtype", given=repr(dtype)) from None
    if dtype is None and found.kind in "iub":
        found = np.cumsum(np.zeros(0, found)).dtype
    return found
