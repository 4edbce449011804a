"""Rows of few nonzeros and products: a thread merges the rows of B."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev

from .products import FEW

LAST = 2**31 - 1  # greater than any column


@ev.kernel
def count_merge(E, rows, A, B, counts):
    """counts[row]: how many different columns its products have. The rows of B, at most FEW, are merged."""
    for tile in E.tiles():
        row = tile if rows is None else rows[tile]
        begin = A.begin(row)
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
        distinct = 0
        while least < LAST:
            distinct += 1
            following = np.int32(LAST)
            for i in range(FEW):
                while now[i] == least:
                    at[i] += 1
                    left[i] -= 1
                    now[i] = LAST
                    if left[i] > 0:
                        now[i] = B.column(at[i])
                following = min(following, now[i])
            least = following
        counts[row] = distinct


def filling_merged(T: Any) -> Any:
    """Return the kernel that fills in such rows, and adds up numbers of the type T."""

    @ev.kernel
    def fill_merge(E, rows, A, B, offsets, columns, values):
        for tile in E.tiles():
            row = tile if rows is None else rows[tile]
            begin, to = A.begin(row), offsets[row]
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
                        total += A.value(begin + i) * B.value(at[i])
                        at[i] += 1
                        left[i] -= 1
                        now[i] = LAST
                        if left[i] > 0:
                            now[i] = B.column(at[i])
                    following = min(following, now[i])
                columns[to] = least
                values[to] = total
                to += 1
                least = following

    return fill_merge
