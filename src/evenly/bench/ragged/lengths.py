"""The lengths of lists to measure: equal, power laws, one list that has nearly everything, mostly none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def equal(size: int) -> Callable[[int], Array]:
    return lambda count: np.full(max(count // size, 1), size)


def power_law(count: int) -> Array:
    """Lengths from 1 up, the share of those above n falling as n to the power -1.1."""
    drawn = (np.random.default_rng(0).pareto(1.1, count) + 1).astype(np.int64)
    return drawn[: int(np.searchsorted(np.cumsum(drawn), count)) + 1]


def capped(count: int) -> Array:
    """Lengths of the same law, up to 4000."""
    drawn = np.minimum(np.random.default_rng(0).pareto(1.1, count) + 1, 4000).astype(np.int64)
    return drawn[: int(np.searchsorted(np.cumsum(drawn), count)) + 1]


def one_huge(count: int) -> Array:
    """One list has nine tenths of all elements, and lists of 16 have the others."""
    small = np.full(max(count // 160, 2), 16)
    small[len(small) // 2] = count - count // 10
    return small


def mostly_empty(count: int) -> Array:
    """Nine lists in ten are empty; the others have up to 40 elements."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 41, max(count // 2, 10))
    return np.where(rng.random(len(lengths)) < 0.9, 0, lengths)


LENGTHS: dict[str, Callable[[int], Array]] = {
    "equal 16": equal(16),
    "equal 1000": equal(1000),
    "power law": power_law,
    "capped law": capped,
    "one huge": one_huge,
    "mostly empty": mostly_empty,
}


def offsets_of(name: str, count: int) -> Array:
    """Return offsets of about `count` elements, int32 if they fit."""
    ends = np.cumsum(LENGTHS[name](count))
    made = np.concatenate([[0], ends])
    return made.astype(np.int32 if made[-1] < 2**31 else np.int64)
