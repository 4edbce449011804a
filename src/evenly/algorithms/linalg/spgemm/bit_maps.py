"""Rows on the CPU: a bit map of their columns."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev


@ev.kernel
def count_map(P, A, B, lows, words, counts):
    for row in P.tiles():
        seen = ev.scratch(words[row], np.uint64)
        low = lows[row]
        for k in range(A.begin(row), A.end(row)):
            for t in range(B.begin(A.column(k)), B.end(A.column(k))):
                column = B.column(t) - low
                seen[column >> 6] |= np.uint64(1) << np.uint64(column & 63)
        counts[row] = sum(ev.popcount(seen[i]) for i in ev.lanes(len(seen)))


def filling_map(T: Any) -> Any:
    """Return the kernel that fills in rows by their bit maps, and adds up numbers of the type T."""

    @ev.kernel
    def fill_map(P, A, B, products, lows, words, offsets, columns, values):
        """A row has a sum for each column of its map, if these are few, else for each nonzero."""
        for row in P.tiles():
            seen = ev.scratch(words[row], np.uint64)
            before = ev.scratch(words[row], np.int32)
            few = words[row] <= products[row]
            sums = ev.scratch(64 * words[row] if few else offsets[row + 1] - offsets[row], T)
            low, to = lows[row], offsets[row]
            for k in range(A.begin(row), A.end(row)):
                factor = A.value(k)
                for t in range(B.begin(A.column(k)), B.end(A.column(k))):
                    column = B.column(t) - low
                    seen[column >> 6] |= np.uint64(1) << np.uint64(column & 63)
                    if few:
                        sums[column] += factor * B.value(t)
            at = np.int32(0)
            for i in range(len(seen)):
                before[i] = at
                left = seen[i]
                while left != 0:
                    column = 64 * i + ev.popcount((left & (~left + 1)) - 1)
                    columns[to + at] = low + column
                    if few:
                        values[to + at] = sums[column]
                    left &= left - 1
                    at += 1
            if not few:
                for k in range(A.begin(row), A.end(row)):
                    factor = A.value(k)
                    for t in range(B.begin(A.column(k)), B.end(A.column(k))):
                        column = B.column(t) - low
                        below = (np.uint64(1) << np.uint64(column & 63)) - 1
                        place = before[column >> 6] + ev.popcount(seen[column >> 6] & below)
                        sums[place] += factor * B.value(t)
                for i in range(len(sums)):
                    values[to + i] = sums[i]

    return fill_map
