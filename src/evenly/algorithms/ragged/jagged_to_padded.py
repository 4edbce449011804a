"""Lists of unequal length as the rows of one array."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.layout
class Places:
    """`num_tiles` rows of `size` places each."""

    num_tiles: int
    size: int

    @property
    def num_atoms(self):
        return self.num_tiles * self.size

    def begin(self, tile):
        return tile * self.size

    def end(self, tile):
        return tile * self.size + self.size

    def tile_of(self, atom):
        return atom // self.size


@functools.lru_cache(maxsize=32)
def places(num_tiles: int, size: int) -> Any:
    """Return the same layout for the same numbers: by it a chosen schedule and an earlier call are found."""
    return Places(num_tiles, size)


@ev.kernel
def pad(P, R, data, padding, out):
    for t in P.tiles():
        first, last = R.begin(t), R.end(t)
        for place in P.atoms(t):
            k = first + place - P.begin(t)
            out[place] = data[k] if k < last else padding


@ev.kernel
def pad_rows(P, R, data, padding, out):
    for t in P.tiles():
        first, last = R.begin(t), R.end(t)
        for place in P.atoms(t):
            k = first + place - P.begin(t)
            for j in ev.lanes(out.shape[1]):
                out[place, j] = data[k, j] if k < last else padding


@ev.kernel
def longest(R, found):
    most = 0
    for t in R.tiles():
        most = max(most, R.end(t) - R.begin(t))
    found[0] = most


@kit.plannable
def jagged_to_padded(
    data: Any,
    offsets: Any,
    max_length: int | None = None,
    *,
    padding_value: Any = 0,
    out: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Return lists as the rows of one array, (m, max_length) or (m, max_length, d), filled up at their ends.

    data: (n,) or (n, d), the elements of all lists, one list after the other.
    offsets, schedule, target: as of `ev.ragged.segment_reduce`.
    max_length: the length of the rows; what longer lists have beyond it is left out. Default: the length of the longest
      list; on a GPU it is read back, and the call waits for it.
    padding_value: a number, for the places without an element.
    out: an array for the result. Default: a new array of the library and the dtype of data.

    Raises InputError if shapes, dtypes or devices do not match, and for offsets that do not ascend.

    >>> import numpy as np, evenly as ev
    >>> ev.ragged.jagged_to_padded(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    array([[1, 2],
           [0, 0],
           [3, 0]])
    """
    data = kit.vector(data, "data", axes=2)
    R = kit.as_lists(offsets, len(data), data)
    size = _longest(R, target) if max_length is None else kit.count_of(max_length, "max_length")
    rows = tuple(data.shape)[1:]
    wanted = "a row for each list"
    out = kit.result(out, data, (R.num_tiles, size, *rows), kit.dtype(data), wanted, exact=True)
    padding = kit.number_of(padding_value, kit.held_as(data), "padding_value")
    kernel = (pad, pad_rows)[len(rows)][schedule].on(target)
    args = places(int(R.num_tiles), size), R, data, padding, kit.merged(out, "out")
    return kit.Call(kernel, args, out, {"R": "offsets"})


def _longest(R: Any, target: str) -> int:
    found = kit.empty(R.offsets, (1,), np.int64)
    longest.on(target)(R, found)
    return kit.entry(found, 0)
