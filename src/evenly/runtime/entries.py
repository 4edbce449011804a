"""Find the first wrong entry of offsets and indices on a GPU, for `layouts.entries`."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly import targets
from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.streams import current
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import Array, Index, layout
from evenly.schedules import ThreadMapped

from .kernel import kernel


@layout
class Entries:
    """A layout with one tile for each entry of an array. The tile's only atom is the entry."""

    entries: Array[Index]

    @property
    def num_tiles(self):
        return len(self.entries)

    @property
    def num_atoms(self):
        return len(self.entries)

    def begin(self, tile):
        return tile

    def end(self, tile):
        return tile + 1


# Both store how many entries there are from the first wrong one to the end.


@kernel
def outside(E, lowest, bound, found):
    wrong = 0
    for i in E.tiles():
        if E.entries[i] < lowest or E.entries[i] >= bound:
            wrong = max(wrong, len(E.entries) - i)
    found[0] = wrong


@kernel
def unsound(E, last, found):
    wrong = 0
    for i in E.tiles():
        bad = E.entries[i] != 0 if i == 0 else E.entries[i] < E.entries[i - 1]
        if i == len(E.entries) - 1 and last >= 0 and E.entries[i] != last:
            bad = True
        if bad:
            wrong = max(wrong, len(E.entries) - i)
    found[0] = wrong


def first_outside(indices: Any, lowest: int, bound: int, target: str = "auto") -> int | None:
    """Return the position of the first index below `lowest`, or not below `bound`."""
    limit = min(bound, int(np.iinfo(np.int64).max))
    return _first(outside, indices, target, np.int64(lowest), np.int64(limit))


def first_unsound(offsets: Any, last: int | None, target: str = "auto") -> int | None:
    """Return the position of the first offset that is not 0 at the start, decreases, or is not `last` at the end."""
    return _first(unsound, offsets, target, np.int64(-1 if last is None else last))


def _first(check: Any, array: Any, target: str, *numbers: Any) -> int | None:
    if arrays.view(array).device != "cpu":
        outside_captures(array)
    found = arrays.empty(array, (1,), np.int64)
    check[ThreadMapped()].on(target).once(Entries(array), *numbers, found)
    wrong = int(to_numpy(found)[0])
    return len(array) - wrong if wrong else None


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
