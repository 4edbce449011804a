"""Columns by families. Those of a row are sorted, and none comes twice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from . import kinds
from .draws import below, gap, gaps, hashed
from .lengths import PER_KEY

# Bits of a position that count the atoms of a row. Longer rows have some positions in common with the rows after them.
PER_ROW = np.uint64(20)


@njit(nogil=True)
def cell(k: int, parts: int, width: int, word: Any) -> Any:
    """Return a random member of the k-th of `parts` equal parts of 0 .. width - 1; parts are at most width."""
    low = k * width // parts
    return low + below(word, (k + 1) * width // parts - low)


@njit(nogil=True)
def around(center: int, width: int, columns: int) -> int:
    """Return the first column of a window of this width that has the center in its middle where there is room."""
    return min(max(center - width // 2, 0), columns - width)


@njit(nogil=True)
def apart(column: int, least: int, most: int) -> int:
    """Return the column, moved to what columns before and after it leave: least .. most."""
    return min(max(column, least), most)


@njit(nogil=True)
def scatter(out: Any, center: int, columns: int, window: int, seed: Any, at: Any) -> None:
    """Scatter the row over a window."""
    length = len(out)
    width = min(max(window, 2 * length), columns)
    start = around(center, width, columns)
    least, end, reached = start, start + width - length, 0.0
    each = width / gaps(length, seed, at)
    for k in range(length):
        reached += gap(hashed(seed, at + np.uint64(k)))
        out[k] = apart(start + int(reached * each), least, end + k)
        least = out[k] + 1


@njit(nogil=True)
def runs(out: Any, center: int, columns: int, window: int, bands: int, seed: Any) -> None:
    """Fill `bands` runs of adjacent columns. They begin at the same distances from the diagonal in all rows."""
    length = len(out)
    k = end = 0
    for band in range(bands):
        stop = (band + 1) * length // bands
        begin = center - window // 2 + cell(band, bands, window, hashed(seed, np.uint64(band)))
        column = max(min(begin, columns - (length - k)), end)
        while k < stop:
            out[k] = column
            column += 1
            k += 1
        end = column


@njit(nogil=True)
def shared(
    out: Any, longest: int, center: int, columns: int, window: int, width: int, seed: Any, at: Any
) -> None:
    """Take runs of `width` adjacent columns out of those of a group of rows, whose longest row takes all of them."""
    length = len(out)
    size = min(max(window, 2 * longest), columns)
    start = around(center, size, columns)
    units, of_group, own = size // width, -(-longest // width), -(-length // width)
    k = 0
    for run in range(own):
        which = run * of_group // own
        if of_group > units:  # no room for runs apart: all columns from the first
            column = start + run * width
        else:
            column = start + width * cell(
                which, of_group, units, hashed(seed, at + np.uint64(which))
            )
        stop = min(k + width, length)
        while k < stop:
            out[k] = column
            column += 1
            k += 1


@njit(nogil=True)
def power_law(out: Any, columns: int, quarters: int, seed: Any, at: Any) -> None:
    """Take columns n u**(quarters / 4) of uniform u: the first ones are in most long rows."""
    length = len(out)
    least, reached = 0, 0.0
    each = 1 / gaps(length, seed, at)
    for k in range(length):
        reached += gap(hashed(seed, at + np.uint64(k)))
        root, power = math.sqrt(math.sqrt(reached * each)), 1.0
        for _ in range(quarters):
            power *= root
        out[k] = apart(int(columns * power), least, columns - (length - k))
        least = out[k] + 1


@njit(nogil=True)
def shuffle(out: Any, columns: int, bits: int, seed: Any) -> None:
    """Number the columns anew by a permutation of 0 .. columns - 1, and sort them.

    It permutes 0 .. 2**bits - 1, the least power that is not below, again and again until the column is a small one.
    """
    half = np.uint64((bits + 1) // 2)
    mask = np.uint64((1 << bits) - 1)
    first, second = seed | np.uint64(1), (seed >> np.uint64(32)) | np.uint64(1)
    for k in range(len(out)):
        at = np.uint64(out[k])
        while True:
            at = (at * first) & mask
            at ^= at >> half
            at = (at * second) & mask
            at ^= at >> half
            if at < np.uint64(columns):
                break
        out[k] = at
    out.sort()


@njit(nogil=True)
def longest_of(offsets: Any, first: int, last: int) -> int:
    """Return the greatest length of the rows first .. last - 1."""
    greatest = 0
    for row in range(first, last):
        greatest = max(greatest, offsets[row + 1] - offsets[row])
    return greatest


@njit(nogil=True)
def fill(
    first: int, last: int, seed: Any, kind: int, window: int, group: int, a: int,
    item_of: Any, row_starts: Any, column_starts: Any, keys: Any, offsets: Any, found: Any,
) -> None:  # fmt: skip
    """Write the columns of the rows first .. last - 1 into found, (nnz,) int32.

    window: in how many columns around the diagonal a row lies. group: how many adjacent rows share their columns.
    a: RUNS: the number of runs. SHARED: their width. POWER_LAW, SHUFFLED: four times the power.
    item_of, row_starts, column_starts, keys: the blocks on the diagonal, as for `lengths.draw`.
    """
    before, longest = (-1, -1), 0
    for row in range(first, last):
        out = found[offsets[row] : offsets[row + 1]]
        if len(out) == 0:
            continue
        item = item_of[row]
        begin, start = row_starts[item], column_starts[item]
        rows, columns = row_starts[item + 1] - begin, column_starts[item + 1] - start
        local = row - begin - (row - begin) % group
        key = (np.int64(keys[item]) << PER_KEY) + local
        at = np.uint64(key) << PER_ROW
        center = local * columns // rows
        if kind == kinds.SCATTER:
            scatter(out, center, columns, min(window, columns), seed, at)
        elif kind == kinds.RUNS:
            runs(out, center, columns, min(max(window, a), 1 << 30), a, seed)
        elif kind == kinds.SHARED:
            if before != (item, local):
                before = (item, local)
                longest = longest_of(offsets, begin + local, begin + min(local + group, rows))
            shared(out, longest, center, columns, window, a, seed, at)
        else:
            power_law(out, columns, a, seed, at)
            if kind == kinds.SHUFFLED:
                bits = 0
                while (1 << bits) < columns:
                    bits += 1
                shuffle(out, columns, bits, seed)
        for k in range(len(out)):
            out[k] += start


@njit(nogil=True)
def values(first: int, last: int, seed: Any, found: Any) -> None:
    """Write numbers of 0 .. 1 into found[first : last], (nnz,) float32."""
    for k in range(first, last):
        found[k] = np.float32(
            np.float32(hashed(seed, np.uint64(k)) >> np.uint64(40)) * np.float32(2.0**-24)
        )
