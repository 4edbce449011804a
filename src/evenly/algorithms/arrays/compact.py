"""Select elements by a condition (stream compaction), in their order."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def count(E, keep, found):
    kept = 0
    for i in E.tiles():
        kept += 1 if keep[i] else 0
    found[0] = kept


@ev.kernel
def select(W, keep, x, out):
    for tile in W.tiles():
        for k in W.atoms(tile):
            place = ev.rank(keep[k])
            if keep[k]:
                out[place] = x[k]


@ev.kernel
def select_positions(W, keep, out):
    for tile in W.tiles():
        for k in W.atoms(tile):
            place = ev.rank(keep[k])
            if keep[k]:
                out[place] = k


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
    kept = (by_kernels if kit.on_gpu(keep) else by_numpy)(keep, given)
    return kept[: len(values)] if isinstance(values, tuple) else kept[0]


def by_numpy(keep: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Select from arrays in CPU memory. Without values, return the positions."""
    chosen = kit.to_numpy(keep)
    if values:
        return tuple(kit.from_numpy(kit.to_numpy(x)[chosen], x) for x in values)
    positions = np.flatnonzero(chosen).astype(kit.index_type(len(chosen)))
    return (kit.from_numpy(positions, keep),)


def by_kernels(keep: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Select by kernels. Without values, return the positions."""
    n, found = len(keep), kit.empty(keep, (1,), np.int64)
    count[ev.ThreadMapped()](kit.each(n), keep, found)
    kept = kit.entry(found, 0)
    if not values:
        out = kit.empty(keep, (kept,), kit.index_type(n))
        select_positions(kit.whole(n), keep, out)
        return (out,)
    outs = tuple(kit.empty(x, (kept,), kit.dtype(x)) for x in values)
    for x, out in zip(values, outs, strict=True):
        select(kit.whole(n), keep, x, out)
    return outs
