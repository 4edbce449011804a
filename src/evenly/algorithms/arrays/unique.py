"""The distinct elements of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

EACH = ev.ThreadMapped()  # a thread for each group


@ev.kernel
def count_and_locate(E, offsets, order, index, counts):
    for g in E.tiles():
        index[g] = order[offsets[g]]
        counts[g] = offsets[g + 1] - offsets[g]


@ev.kernel
def number(R, order, inverse):
    for g in R.tiles():
        for k in R.atoms(g):
            inverse[order[k]] = g


def unique(
    x: Any,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    """Return the distinct elements of x, ascending; with more, as numpy.unique does: a tuple in this order.

    x: (n,), real numbers or bool. NaN is distinct from all numbers and equal to NaN; -0.0 equals 0.0.
      Of equal elements, the first one is returned.
    return_index: the position at which each comes first, (g,).
    return_inverse: which of the distinct elements each x is, (n,).
    return_counts: how often each occurs, (g,).

    Positions and counts are int32 if that suffices, else int64. The results are of the same library
    as x and on the same device, which needs cuda-cccl if it is a GPU. There, g is read back: the call
    waits for it.

    Raises InputError for complex x.

    >>> import numpy as np, evenly as ev
    >>> found, counts = ev.unique(np.array([7, 3, 7, 7]), return_counts=True)
    >>> found.tolist(), counts.tolist()
    ([3, 7], [1, 3])
    """
    with kit.renamed(keys="x"):
        groups = ev.group_by(x)
    found = [groups.keys]
    describe = by_kernels if kit.on_gpu(groups.keys) else by_numpy
    if return_index or return_counts or return_inverse:
        index, inverse, counts = describe(groups, return_inverse)
        found += [index] * return_index + [inverse] * return_inverse + [counts] * return_counts
    return tuple(found) if len(found) > 1 else found[0]


def by_numpy(groups: Any, inverse: bool) -> tuple[Any, Any, Any]:
    """Return where each group comes first, the group of each element, and the lengths, in CPU memory."""
    offsets, order = kit.to_numpy(groups.offsets), kit.to_numpy(groups.order)
    counts = np.diff(offsets)
    of_each = np.empty_like(order)
    if inverse:
        of_each[order] = np.repeat(np.arange(len(counts), dtype=order.dtype), counts)
    return tuple(kit.from_numpy(a, groups.keys) for a in (order[offsets[:-1]], of_each, counts))


def by_kernels(groups: Any, inverse: bool) -> tuple[Any, Any, Any]:
    """Return where each group comes first, the group of each element, and the lengths, by kernels."""
    g, order = len(groups.keys), groups.order
    index, counts = (kit.empty(order, (g,), kit.dtype(order)) for _ in range(2))
    count_and_locate[EACH](kit.each(g), groups.offsets, order, index, counts)
    of_each = kit.empty(order, (len(order),), kit.dtype(order))
    if inverse:
        R = ev.ragged(groups.offsets, num_atoms=len(order), check=False)
        number[ev.NonzeroSplit()](R, order, of_each)
    return index, of_each, counts
