"""Row lengths by families: a distribution, and the order in which the rows have what was drawn from it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from . import kinds
from .draws import exp, hashed, ln, normal, unit

PER_KEY = 32  # bits of a position that count the rows of a pattern


@njit(nogil=True)
def quantile(kind: int, mean: float, a: float, b: float, u: float) -> Any:
    """Return the length that the share u of all rows exceeds.

    a, b: NORMAL: standard deviation over mean. LOG_NORMAL: sigma. PARETO: alpha. BIMODAL: the share of long rows, and
    how many times as long they are. MOSTLY_EMPTY: the share of empty rows, and the greatest length of the others,
    which are equally often of any length up to it.
    """
    if kind == kinds.NORMAL:
        return mean * (1 - a * normal(u))
    if kind == kinds.GEOMETRIC:
        return math.floor(ln(u) / ln(mean / (1 + mean)))
    if kind == kinds.LOG_NORMAL:
        return mean * exp(-a * normal(u) - a * a / 2)
    if kind == kinds.PARETO:
        return mean * (a - 1) / a * exp(-ln(u) / a)
    if kind == kinds.BIMODAL:
        return mean / (1 - a + a * b) * (b if u < a else 1.0)
    if kind == kinds.MOSTLY_EMPTY:
        return 1 + math.floor(b * u / (1 - a)) if u < 1 - a else 0.0
    return mean


@njit(nogil=True)
def draw(
    first: int, last: int, seed: Any, kind: int, mean: float, a: float, b: float, order: int,
    run: int, item_of: Any, begins: Any, keys: Any, limit: int, found: Any,
) -> None:  # fmt: skip
    """Write the lengths of the rows first .. last - 1 into found, (rows,) int64; none is above limit.

    order: SCATTERED, CLUSTERED in runs of adjacent rows, or DESCENDING. item_of: (rows,) the block of each row.
    begins: (blocks + 1,) the first row of each. keys: (blocks,): blocks of one key have equal rows.
    """
    rows = len(found)
    for row in range(first, last):
        item = item_of[row]
        local = row - begins[item]
        key = np.uint64((np.int64(keys[item]) << PER_KEY) + local)
        if order == kinds.CLUSTERED:
            u = unit(hashed(seed, np.uint64(local // run)))
        elif order == kinds.DESCENDING:
            u = (row + 0.5) / rows
        else:
            u = unit(hashed(seed, key))
        length = quantile(kind, mean, a, b, u)
        # Round up as often as the fraction says, so that the mean stays: half a nonzero a row is one in every other.
        length = math.floor(length + unit(hashed(~seed, key)))
        found[row] = min(max(length, 0), limit)
