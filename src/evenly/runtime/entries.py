"""Find the first wrong entry of offsets and indices on a GPU, for `layouts.entries`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenly import targets
from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.streams import current
from evenly.interop.transfer import to_numpy
from evenly.layouts.each import Each
from evenly.schedules import ThreadMapped

from .kernel import kernel

each = functools.lru_cache(128)(Each)  # a call is quicker with the layout of an earlier one


# Both store how many entries there are from the first wrong one to the end.


@kernel
def outside(E, entries, lowest, bound, found):
    wrong = 0
    for i in E.tiles():
        if entries[i] < lowest or entries[i] >= bound:
            wrong = max(wrong, len(entries) - i)
    found[0] = wrong


@kernel
def unsound(E, entries, last, found):
    wrong = 0
    for i in E.tiles():
        bad = entries[i] != 0 if i == 0 else entries[i] < entries[i - 1]
        if i == len(entries) - 1 and last >= 0 and entries[i] != last:
            bad = True
        if bad:
            wrong = max(wrong, len(entries) - i)
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
    check[ThreadMapped()].on(target)(each(len(array)), array, *numbers, found)
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
