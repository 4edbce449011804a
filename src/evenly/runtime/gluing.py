"""Check and renumber the offsets and columns of a batch's items on a GPU, for `layouts.gluing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.interop import arrays
from evenly.interop.transfer import to_numpy, to_where
from evenly.layouts.items import Starts
from evenly.layouts.ragged import Ragged
from evenly.schedules import NonzeroSplit

from .entries import outside_captures
from .kernel import kernel


@kernel
def unsound_offsets(R, heads, tails, sizes, wrong):
    """A tile is an item, an atom a row. heads: the items' first offsets. tails: all of their others."""
    for item in R.tiles():
        falls = any(
            tails[k] < (heads[item] if k == R.begin(item) else tails[k - 1]) for k in R.atoms(item)
        )
        last = heads[item]
        if R.begin(item) < R.end(item):
            last = tails[R.end(item) - 1]
        wrong[item] = 1 if falls or heads[item] != 0 or last != sizes[item] else 0


@kernel
def unsound_columns(R, columns, counts, wrong):
    """A tile is an item, an atom a nonzero. counts: the items' numbers of columns."""
    for item in R.tiles():
        outside = any(columns[k] < 0 or columns[k] >= counts[item] for k in R.atoms(item))
        wrong[item] = 1 if outside else 0


@kernel
def number_through(R, numbers, first, out):
    for item in R.tiles():
        for k in R.atoms(item):
            out[k] = numbers[k] + first[item]


def first_wrong(
    check: Any, starts: Any, given: tuple[Any, ...], sizes: Any, target: str = "auto"
) -> int | None:
    """Return the first item in which `check`, one of the kernels above, finds a wrong entry, or None.

    starts: where the items' rows or nonzeros begin, (items + 1,). given: the arrays to look at, on one device.
    sizes: (items,). Both are in CPU memory.
    """
    like = given[-1]
    if arrays.view(like).device != "cpu":
        outside_captures(like)
    R, sizes = items_of(starts, like), to_where(like, sizes)
    wrong = arrays.empty(like, (len(starts) - 1,), np.int8)
    check[NonzeroSplit()].on(target).once(R, *given, sizes, wrong)
    found = np.flatnonzero(to_numpy(wrong))
    return int(found[0]) if len(found) else None


def unsound(
    heads: Any, tails: Any, indices: Any, starts: Starts, target: str = "auto"
) -> int | None:
    """Return the first item with a wrong offset or column, or None."""
    atoms = np.diff(starts.atoms)
    at = first_wrong(unsound_offsets, starts.tiles, (heads, tails), atoms, target)
    if at is None:
        at = first_wrong(unsound_columns, starts.atoms, (indices,), np.diff(starts.columns), target)
    return at


def numbered(numbers: Any, starts: Any, first: Any, out: Any, target: str = "auto") -> None:
    """Store numbers + first[item] in `out`, all (n,). starts: where the items begin, (items + 1,). first: (items,)."""
    number_through[NonzeroSplit()].on(target).once(
        items_of(starts, out), numbers, to_where(out, first), out
    )


def items_of(starts: Any, like: Any) -> Ragged:
    return Ragged(to_where(like, starts), int(starts[-1]))
