"""Column indices of small matrices in 8 or 16 bits, and integers with a number added, on their device."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.hooks import hook
from evenly.interop import arrays

LIMIT = 2**31 - 1  # the greatest int32


def index_type(most: Any) -> np.dtype[Any]:
    """Return the dtype of numbers 0 .. most: int32 if it suffices, else int64."""
    return np.dtype(np.int32 if most <= LIMIT else np.int64)


def narrow_type(count: int) -> np.dtype[Any]:
    """Return the dtype of the indices 0 .. count-1 of a small matrix: uint8 or uint16 if it suffices."""
    if count <= 2**16:
        return np.dtype(np.uint8 if count <= 2**8 else np.uint16)
    return index_type(count)


def narrowed(indices: Any, count: int) -> Any:
    """Return indices 0 .. count-1, (n,), in the narrowest type; themselves if they have it."""
    return shifted(indices, 0, narrow_type(count))


def shifted(numbers: Any, by: int, dtype: np.dtype[Any]) -> Any:
    """Return integers + by as integers of another type, which holds the sums. Themselves if nothing changes."""
    if by == 0 and arrays.dtype_of(numbers) == dtype:
        return numbers
    if type(numbers) is np.ndarray:
        return (numbers + by if by else numbers).astype(dtype)
    return renumbered(numbers, np.array([0, len(numbers)]), np.array([by]), dtype)


def renumbered(numbers: Any, starts: Any, by: Any, dtype: np.dtype[Any]) -> Any:
    """Return integers + by[part], in a type that holds the sums. starts: where the parts begin, (parts + 1,)."""
    if type(numbers) is np.ndarray:
        return (numbers + np.repeat(by, np.diff(starts))).astype(dtype)
    out = arrays.empty(numbers, tuple(numbers.shape), dtype)
    numbered_on_gpu(numbers, starts, by, out)
    return out


@hook
def numbered_on_gpu(numbers: Any, starts: Any, first: Any, out: Any) -> None:
    """Store numbers + first[item] in `out`. starts: where the items begin in both, (items + 1,). first: (items,)."""
    raise NotImplementedError
