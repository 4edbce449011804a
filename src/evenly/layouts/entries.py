"""Check the entries of offsets and indices, and find the first one that is wrong.

In CPU memory NumPy checks them. On a GPU a small kernel does, and up to 24 KiB are read back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError, UnavailableError
from evenly.hooks import hook
from evenly.interop.vectors import entry

CHUNK = 1 << 16  # entries compared at once: they fit into the processor's cache


def check_offsets(offsets: Any, name: str, last: int | None = None) -> None:
    """Raise InputError, naming the entry, unless offsets start at 0, never decrease, and end at `last`."""
    at, _ = _faults(offsets, None, name, last, 0, 0)
    _refuse_offset(at, offsets, name, last)


def check_range(indices: Any, bound: Any, name: str, what: str, lowest: int = 0) -> None:
    """Raise InputError, naming the first, if an index does not lie in lowest .. bound-1."""
    _, at = _faults(None, indices, "", None, lowest, int(bound))
    _refuse_index(at, indices, lowest, int(bound), name, what)


def check_compressed(A: Any, bound: Any, name: str, what: str) -> None:
    """Check the offsets of a layout, which end with its indices, then these. On a GPU both are looked at at once."""
    offsets, indices, bound, named = A.offsets, A.indices, int(bound), f"{name}.offsets"
    unsound, outside = _faults(offsets, indices, named, len(indices), 0, bound)
    _refuse_offset(unsound, offsets, named, len(indices))
    _refuse_index(outside, indices, 0, bound, f"{name}.indices", what)


def _faults(
    offsets: Any, indices: Any, name: str, last: int | None, lowest: int, bound: int
) -> tuple[int | None, int | None]:
    """Return the positions of the first wrong offset and the first wrong index. None for an array: there is none.

    They are looked at on their device, or as copies in CPU memory if no kernel can run on their GPU. name: of offsets.
    """
    if offsets is not None and len(offsets) == 0:
        raise InputError(name, expected="at least one offset", given="none")
    indices = None if indices is None or len(indices) == 0 else indices
    if any(x is not None and type(x) is not np.ndarray for x in (offsets, indices)):
        from evenly.interop.transfer import to_numpy

        try:
            return faults_on_gpu(offsets, indices, last, lowest, bound)
        except UnavailableError:
            offsets, indices = (None if x is None else to_numpy(x) for x in (offsets, indices))
    unsound = None if offsets is None else _first_unsound(offsets, last)
    outside = None if indices is None else _first_outside(indices, lowest, bound)
    return unsound, outside


def _refuse_offset(at: int | None, offsets: Any, name: str, last: int | None) -> None:
    """Raise the error for offsets of which that at `at` is the first wrong one; None: none is."""
    if at is None:
        return
    if last is not None and at and entry(offsets, at - 1) > last >= entry(offsets, at):
        at -= 1  # blame the entry that exceeds the end, not the correct one after it
        expected = f"offsets of at most {last}"
        raise InputError(name, expected=expected, given=f"offsets[{at}]={entry(offsets, at)}")
    given = f"offsets[{at}]={entry(offsets, at)}"
    if at == 0 and entry(offsets, 0) != 0:
        raise InputError(name, expected="offsets[0]=0", given=given)
    if at and entry(offsets, at) < entry(offsets, at - 1):
        given = f"{given} after {entry(offsets, at - 1)}"
        raise InputError(name, expected="non-decreasing offsets", given=given)
    raise InputError(name, expected=f"a last offset of {last}", given=given)


def _refuse_index(
    at: int | None, indices: Any, lowest: int, bound: int, name: str, what: str
) -> None:
    """The same for indices."""
    if at is not None:
        part = name.rpartition(".")[2]
        expected = f"{what} in {lowest}..{bound - 1}" if bound > lowest else f"no {what} at all"
        given = f"{part}[{at}]={entry(indices, at)}"
        raise InputError(name, expected=expected, given=given)


def check_distinct(indices: Any, name: str, what: str) -> None:
    """Raise InputError, naming the first, if an index occurs twice. For arrays in CPU memory only."""
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


@hook
def faults_on_gpu(
    offsets: Any, indices: Any, last: int | None, lowest: int, bound: int
) -> tuple[int | None, int | None]:
    """Return what `_first_unsound` and `_first_outside` say of arrays on a GPU; None for an array: there is none."""
    raise NotImplementedError


def _first_outside(indices: Any, lowest: int, bound: int) -> int | None:
    """Return the position of the first index that is not in lowest .. bound-1, or None."""
    if lowest == 0 and indices.dtype.kind == "i":
        # As an unsigned number, a negative index is large, so one comparison checks both bounds.
        limit = min(bound, int(np.iinfo(indices.dtype).max) + 1)
        if int(indices.view(f"u{indices.itemsize}").max()) < limit:
            return None
    elif lowest <= int(indices.min()) and int(indices.max()) < bound:
        return None
    return int(np.flatnonzero((indices < lowest) | (indices >= bound))[0])


def _first_unsound(offsets: Any, last: int | None) -> int | None:
    """Return the position of the first offset that breaks a rule of `check_offsets`, or None."""
    if offsets[0] != 0:
        return 0
    for start in range(0, len(offsets) - 1, CHUNK):
        part = offsets[start : start + CHUNK + 1]
        falls = part[1:] < part[:-1]
        if falls.any():
            return start + int(falls.argmax()) + 1
    return None if last is None or offsets[-1] == last else len(offsets) - 1
