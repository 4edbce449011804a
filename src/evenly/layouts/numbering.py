"""How the columns of a batch are numbered where they are stored: through the batch, or from a column nearby."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenly.layouts.items import Starts
from evenly.layouts.narrow import index_type, narrow_type

RUN_BITS = 8
RUN = 1 << RUN_BITS  # adjacent atoms that count their columns from one column


class Numbering(NamedTuple):
    """What is added to the columns of each item. An item has one or two parts, one after another.

    starts: where the parts begin in the atoms, (parts + 1,). first: what is added in each, (parts,). dtype: that of the
    sums. bases: the column from which each RUN atoms count; None: all count from column 0 of the batch.
    """

    starts: np.ndarray[Any, Any]
    first: np.ndarray[Any, Any]
    dtype: np.dtype[Any]
    bases: np.ndarray[Any, Any] | None = None


def through(starts: Starts) -> Numbering:
    """Number the columns of all items through."""
    return Numbering(starts.atoms, starts.columns[:-1], index_type(starts.columns[-1]))


def nearby(starts: Starts) -> Numbering | None:
    """Count the columns of each RUN atoms from the first column of the first one's item. None: 16 bits do not suffice.

    So an item's columns are those within it, except for its first atoms if they share a run with another item's.
    """
    count = int(starts.atoms[-1])
    runs = np.arange(0, count, RUN)
    bases = starts.columns[_items_of(starts, runs)]
    ends = starts.columns[_items_of(starts, np.minimum(runs + RUN, count) - 1) + 1]
    dtype = narrow_type(int((ends - bases).max(initial=0)))
    if dtype.itemsize > 2:
        return None
    return Numbering(*parts_nearby(starts, slice(None)), dtype, bases)


def parts_nearby(starts: Starts, items: slice) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return where the parts of some items begin, and what is added in each.

    The first part are the atoms that share a run with those of an earlier item, the second the others.
    """
    begin, end, columns = (
        one[items] for one in (starts.atoms[:-1], starts.atoms[1:], starts.columns[:-1])
    )
    bases = starts.columns[_items_of(starts, begin // RUN * RUN)]
    shared = np.minimum(-(-begin // RUN) * RUN, end)
    first = np.stack([np.where(begin < shared, columns - bases, 0), np.zeros_like(begin)], axis=1)
    parts = np.stack([begin, shared], axis=1).reshape(-1)
    return np.append(parts, end[-1] if len(end) else 0), first.reshape(-1)


def _items_of(starts: Starts, atoms: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.searchsorted(starts.atoms, atoms, side="right") - 1
