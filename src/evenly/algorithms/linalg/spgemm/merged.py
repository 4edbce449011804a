"""Rows of few nonzeros and products: a thread merges the rows of B."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev

from .products import FEW

LAST = 2**31 - 1  # greater than any column


def merging(T: Any) -> Any:
    """Return the kernel that merges the rows of B of such rows. It adds up numbers of the type T."""

    @ev.kernel
    def merge(E, rows, A, B, counts, offsets, columns, values):
        """counts[row]: how many different columns its products have. counts None: fill in these rows."""
        for tile in E.tiles():
            row = tile if rows is None else rows[tile]
            begin, to = A.begin(row), 0 if offsets is None else offsets[row]
            now = ev.local(FEW, np.int32)
            left = ev.local(FEW, np.int32)
            at = ev.local(FEW, np.int64)
            least = np.int32(LAST)
            for i in range(FEW):
                now[i] = LAST
                if i < A.end(row) - begin:
                    at[i] = B.begin(A.column(begin + i))
                    left[i] = B.end(A.column(begin + i)) - at[i]
                    if left[i] > 0:
                        now[i] = B.column(at[i])
                least = min(least, now[i])
            while least < LAST:
                total = T(0)
                following = np.int32(LAST)
                for i in range(FEW):
                    while now[i] == least:
                        if counts is None:
                            total += A.value(begin + i) * B.value(at[i])
                        at[i] += 1
                        left[i] -= 1
                        now[i] = LAST
                        if left[i] > 0:
                            now[i] = B.column(at[i])
                    following = min(following, now[i])
                if counts is None:
                    columns[to] = least
                    values[to] = total
                to += 1
                least = following
            if counts is not None:
                counts[row] = to

    return merge
