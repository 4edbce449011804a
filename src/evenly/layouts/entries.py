"""The entries of offsets and indices: the first one that is wrong, where the array lies.

In host memory NumPy reduces them; on a GPU a small kernel does, and 8 bytes are read back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evenly.errors import InputError, UnavailableError
from evenly.hooks import hook
from evenly.interop import arrays

CHUNK = 1 << 16  # entries compared at once: what is compared stays in a cache

Look = Callable[..., int | None]


def check_offsets(offsets: Any, name: str, last: int | None = None) -> None:
    """Offsets start at 0, do not decrease and end at `last`; InputError names the entry."""
    if len(offsets) == 0:
        raise InputError(name, expected="at least one offset", given="none")
    at = _anywhere(_first_unsound, unsound_on_gpu, offsets, last)
    if at is None:
        return
    if last is not None and at and entry(offsets, at - 1) > last >= entry(offsets, at):
        at -= 1  # the one that leads beyond the end, not the right one after it
        expected = f"offsets of at most {last}"
        raise InputError(name, expected=expected, given=f"offsets[{at}]={entry(offsets, at)}")
    given = f"offsets[{at}]={entry(offsets, at)}"
    if at == 0 and entry(offsets, 0) != 0:
        raise InputError(name, expected="offsets[0]=0", given=given)
    if at and entry(offsets, at) < entry(offsets, at - 1):
        given = f"{given} after {entry(offsets, at - 1)}"
        raise InputError(name, expected="non-decreasing offsets", given=given)
    raise InputError(name, expected=f"a last offset of {last}", given=given)


def check_range(indices: Any, bound: Any, name: str, what: str, lowest: int = 0) -> None:
    """Every index lies in lowest .. bound-1; InputError names the first that does not."""
    bound = int(bound)
    if len(indices) == 0:
        return
    at = _anywhere(_first_outside, outside_on_gpu, indices, lowest, bound)
    if at is not None:
        part = name.rpartition(".")[2]
        expected = f"{what} in {lowest}..{bound - 1}" if bound > lowest else f"no {what} at all"
        given = f"{part}[{at}]={entry(indices, at)}"
        raise InputError(name, expected=expected, given=given)


def check_distinct(indices: Any, name: str, what: str) -> None:
    """No index comes twice (host memory only); InputError names the first that does."""
    if type(indices) is not np.ndarray or bool((indices[1:] > indices[:-1]).all()):
        return
    order = np.argsort(indices, kind="stable")
    sorted_ = indices[order]
    twice = order[1:][sorted_[1:] == sorted_[:-1]]
    if len(twice):
        at = int(twice.min())
        part = name.rpartition(".")[2]
        first = int(np.flatnonzero(indices == indices[at])[0])
        given = f"{indices[at]} at {part}[{first}] and at {part}[{at}]"
        raise InputError(name, expected=f"distinct {what}", given=given)


def entry(array: Any, at: int) -> int:
    """One entry of an array of integers, wherever it lies."""
    from evenly.interop.transfer import to_numpy

    whole = type(array) is np.ndarray or arrays.kind(array) == "device"  # which has no slices
    return int(to_numpy(array)[at] if whole else to_numpy(array[at : at + 1])[0])


def _anywhere(here: Look, on_gpu: Look, array: Any, *bounds: Any) -> int | None:
    """What a look finds, beside the array; by a copy where no kernel can run on its GPU."""
    if type(array) is not np.ndarray:
        from evenly.interop.transfer import to_numpy

        try:
            return on_gpu(array, *bounds)
        except UnavailableError:
            array = to_numpy(array)
    return here(array, *bounds)


@hook
def outside_on_gpu(indices: Any, lowest: int, bound: int) -> int | None:
    """`_first_outside` of an array on a GPU."""
    raise NotImplementedError


@hook
def unsound_on_gpu(offsets: Any, last: int | None) -> int | None:
    """`_first_unsound` of an array on a GPU."""
    raise NotImplementedError


def _first_outside(indices: Any, lowest: int, bound: int) -> int | None:
    """Where an index below `lowest` or not below `bound` stands first."""
    if lowest == 0 and indices.dtype.kind == "i":
        # As a number without a sign a negative one is large: one pass tells both.
        limit = min(bound, int(np.iinfo(indices.dtype).max) + 1)
        if int(indices.view(f"u{indices.itemsize}").max()) < limit:
            return None
    elif lowest <= int(indices.min()) and int(indices.max()) < bound:
        return None
    return int(np.flatnonzero((indices < lowest) | (indices >= bound))[0])


def _first_unsound(offsets: Any, last: int | None) -> int | None:
    """Where an offset stands first that is not 0 at the start, falls, or is not `last` at the end."""
    if offsets[0] != 0:
        return 0
    for start in range(0, len(offsets) - 1, CHUNK):
        part = offsets[start : start + CHUNK + 1]
        falls = part[1:] < part[:-1]
        if falls.any():
            return start + int(falls.argmax()) + 1
    return None if last is None or offsets[-1] == last else len(offsets) - 1
