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
def outside(E, indices, lowest, bound, found):
    wrong = 0
    for i in E.tiles():
        if indices[i] < lowest or indices[i] >= bound:
            wrong = max(wrong, len(indices) - i)
    found[0] = wrong


@kernel
def unsound(E, offsets, found):
    wrong = 0
    for i in E.tiles():
        bad = offsets[i] != 0 if i == 0 else offsets[i] < offsets[i - 1]
        if bad:
            wrong = max(wrong, len(offsets) - i)
    found[0] = wrong
    found[1] = offsets[len(offsets) - 1]


def first_outside(indices: Any, lowest: int, bound: int, target: str = "auto") -> int | None:
    """Return the position of the first index below `lowest`, or not below `bound`."""
    limit = min(bound, int(np.iinfo(np.int64).max))
    (wrong,) = _found(outside, 1, indices, target, np.int64(lowest), np.int64(limit))
    return len(indices) - wrong if wrong else None


def first_unsound(offsets: Any, last: int | None, target: str = "auto") -> int | None:
    """Return the position of the first offset that is not 0 at the start, decreases, or is not `last` at the end.

    offsets: at least one. The host compares the last one, so that looks at offsets of any `last` are one call.
    """
    wrong, end = _found(unsound, 2, offsets, target)
    if not wrong and last not in (None, end):
        wrong = 1
    return len(offsets) - wrong if wrong else None


def _found(check: Any, count: int, array: Any, target: str, *numbers: Any) -> list[int]:
    """Return the `count` integers that a check of an array's entries stores."""
    if arrays.view(array).device != "cpu":
        outside_captures(array)
    found = arrays.empty(array, (count,), np.int64)
    # A call, which is remembered: the next look at an array of this length only launches.
    check[ThreadMapped()].on(target)(each(len(array)), array, *numbers, found)
    return [int(number) for number in to_numpy(found)]


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
