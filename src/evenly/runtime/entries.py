"""Find the first wrong entry of offsets and indices on a GPU, for `layouts.entries`.

One launch and one copy look at both where both are given, as in `looking.py`. The host takes the greatest of what
the parts have found.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenly import targets
from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.streams import current
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import LayoutInstance, layout
from evenly.schedules import GroupMapped

from .kernel import kernel

PARTS, LEAST = 1024, 2048  # how many at most, and how many entries each has at least
TEAMS = GroupMapped(256)  # one for each part
NUMBERS = 3  # of a part


@layout
class Parts(LayoutInstance):
    """Parts of the entries of two arrays, first `offsets` of the one: a tile is a part, an atom an entry."""

    num_tiles: int
    num_atoms: int
    share: int
    offsets: int

    def begin(self, tile):
        return tile * self.share

    def end(self, tile):
        return min((tile + 1) * self.share, self.num_atoms)


@functools.lru_cache(128)  # a call is quicker with the layout of an earlier one
def parts_of(offsets: int, indices: int) -> Parts:
    count = offsets + indices
    share = max(LEAST, -(-count // PARTS))
    return Parts(-(-count // share), count, share, offsets)


@kernel
def faults(P, offsets, indices, lowest, bound, found):
    """Store for each part how many entries there are from the first wrong one to the end, of offsets and of indices.

    Store the last offset, too.
    """
    for part in P.tiles():
        unsound = 0
        outside = 0
        for k in P.atoms(part):
            if offsets is not None and k < P.offsets:
                bad = offsets[k] != 0 if k == 0 else offsets[k] < offsets[k - 1]
                unsound = max(unsound, P.offsets - k if bad else 0)
            if indices is not None and k >= P.offsets:
                i = k - P.offsets
                bad = indices[i] < lowest or indices[i] >= bound
                outside = max(outside, len(indices) - i if bad else 0)
        found[3 * part] = unsound
        found[3 * part + 1] = outside
        if offsets is not None:
            found[3 * part + 2] = offsets[P.offsets - 1]


def first_faults(
    offsets: Any, indices: Any, last: int | None, lowest: int, bound: int, target: str = "auto"
) -> tuple[int | None, int | None]:
    """Return the positions of the first wrong offset and of the first wrong index, by one launch.

    offsets: wrong where they are not 0 at the start, decrease, or are not `last` at the end. indices: where they are
    below `lowest`, or not below `bound`. None for an array: there is none.

    The host compares the last offset, so that looks at offsets of any `last` are one call.
    """
    count, size = (0 if one is None else len(one) for one in (offsets, indices))
    if count + size == 0:
        return None, None
    given = indices if offsets is None else offsets
    if arrays.view(given).device != "cpu":
        outside_captures(given)
    parts, limit = parts_of(count, size), min(bound, int(np.iinfo(np.int64).max))
    found = arrays.empty(given, (NUMBERS * parts.num_tiles,), np.int64)
    numbers = np.int64(lowest), np.int64(limit)
    # A call, which is remembered: the next look at arrays of these lengths only launches.
    faults[TEAMS].on(target)(parts, offsets, indices, *numbers, found)
    held = to_numpy(found).reshape(-1, NUMBERS)
    unsound, outside = held[:, 0].max(), held[:, 1].max()
    if offsets is not None and not unsound and last not in (None, held[0, 2]):
        unsound = 1
    return _first(unsound, count), _first(outside, size)


def _first(wrong: Any, count: int) -> int | None:
    """Return the position of an entry from which on `wrong` of all `count` lie; None for 0."""
    return count - int(wrong) if wrong else None


def outside_captures(
    array: Any,
    what: str = "a matrix is looked at for the first time",
    hint: str = "make its layout before, A = ev.csr(matrix), or with check=False",
) -> None:
    """Raise InputError if the array's stream is being captured, since nothing can be read back then.

    what: what cannot be captured. hint: what to do instead.
    """
    view = arrays.view(array)
    targets.get(view.device)
    from cuda.bindings import driver

    handle = current([array], view.device_id)
    error, status = driver.cuStreamIsCapturing(driver.CUstream(handle))
    captured = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    if not error and status != captured:
        raise InputError(
            "stream",
            expected=f"no capture while {what}",
            given="a stream that is captured",
            hint=hint,
        )
