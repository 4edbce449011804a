"""Select elements by a condition (stream compaction), in their order."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

EACH = ev.ThreadMapped()  # a thread for each element


@ev.kernel
def put(E, keep, place, x, out):
    for i in E.tiles():
        if keep[i]:
            out[place[i]] = x[i]


@ev.kernel
def put_positions(E, keep, place, out):
    for i in E.tiles():
        if keep[i]:
            out[place[i]] = i


def compact(keep: Any, values: Any = None) -> Any:
    """Return the elements of `values` for which `keep` is true, in their order.

    keep: (n,), bool.
    values: an array (n,) on the same device, or a tuple of such arrays; then the result is a tuple.
      Default: the positions 0 .. n-1, as int32 if that suffices, else int64 (numpy.flatnonzero).

    The results are new arrays of the same library and on the same device. On a GPU, their length is
    read back: the call waits for it.

    Raises InputError if lengths, dtypes or devices do not match.

    >>> import numpy as np, evenly as ev
    >>> x = np.array([4, -1, 3])
    >>> ev.compact(x > 0, x)
    array([4, 3])
    """
    keep = kit.vector(keep, "keep")
    if kit.dtype(keep).kind != "b":
        found = str(kit.dtype(keep))
        raise ev.InputError("keep", expected="bool", given=found, hint="keep != 0")
    given = kit.vectors(values, keep, "keep")
    select = by_kernels if kit.on_gpu(keep) else by_numpy
    kept = select(keep, given)
    return kept if isinstance(values, tuple) else kept[0]


def by_numpy(keep: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Select from arrays in CPU memory. Without values, return the positions."""
    chosen = kit.to_numpy(keep)
    if values:
        return tuple(kit.from_numpy(kit.to_numpy(x)[chosen], x) for x in values)
    positions = np.flatnonzero(chosen).astype(kit.index_type(len(chosen)))
    return (kit.from_numpy(positions, keep),)


def by_kernels(keep: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Select by kernels. Without values, return the positions."""
    n = len(keep)
    place = ev.prefix_sum(keep, include_initial=True, dtype=kit.index_type(n))
    count = kit.entry(place, n)
    if not values:
        out = kit.empty(keep, (count,), kit.dtype(place))
        put_positions[EACH](kit.each(n), keep, place, out)
        return (out,)
    found = tuple(kit.empty(x, (count,), kit.dtype(x)) for x in values)
    for x, out in zip(values, found, strict=True):
        put[EACH](kit.each(n), keep, place, x, out)
    return found
