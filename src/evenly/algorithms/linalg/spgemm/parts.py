"""Rows on the CPU: made one after the other in sums for all columns, which the rows of a part share (Gustavson 1978).

A bit map tells which columns a row has. Few are then sorted. Many are found in order by two maps above it, of the words
that are not 0: as in a tree of 64 branches. What a row leaves behind is cleared as it is found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev

FEW = 24  # columns that are sorted, by insertion


@ev.func
def bit(i):
    return np.uint64(1) << np.uint64(i & 63)


@ev.func
def lowest(word):
    """The place of the lowest bit of a word that is not 0."""
    return ev.popcount(~word & (word - 1))


@ev.kernel
def count_row_products(A, B, products):
    """products[row]: how many products it has."""
    for row in A.tiles():
        products[row] = sum(
            np.int64(B.end(A.column(k)) - B.begin(A.column(k))) for k in A.atoms(row)
        )


@ev.kernel
def count_parts(P, starts, A, B, width, counts):
    """counts[row]: how many different columns its products have. starts: the first row of each part of P."""
    for part in P.tiles():
        seen = ev.scratch((width + 63) // 64, np.uint64)
        touched = ev.scratch((width + 63) // 64 + 1, np.int32)  # its words, and room for one more
        for row in range(starts[part], starts[part + 1]):
            count, words = 0, 0
            for k in range(A.begin(row), A.end(row)):
                for t in range(B.begin(A.column(k)), B.end(A.column(k))):
                    column = B.column(t)
                    word = seen[column >> 6]
                    if word & bit(column) == 0:
                        touched[words] = column >> 6
                        words += 1 if word == 0 else 0
                        seen[column >> 6] = word | bit(column)
                        count += 1
            counts[row] = count
            for i in range(words):
                seen[touched[i]] = 0


def filling_parts(T: Any) -> Any:
    """Return the kernel that fills in the rows of parts, and adds up numbers of the type T."""

    @ev.kernel
    def fill_parts(P, starts, A, B, width, offsets, columns, values):
        for part in P.tiles():
            sums = ev.scratch(width, T)
            found = ev.scratch(FEW + 1, np.int32)  # the first columns of a row
            seen = ev.scratch((width + 63) // 64, np.uint64)
            above = ev.scratch((width + 4095) // 4096, np.uint64)  # words of `seen`
            top = ev.scratch((width + 262143) // 262144, np.uint64)  # words of `above`
            for row in range(starts[part], starts[part + 1]):
                n, low, high = 0, len(top), 0
                for k in range(A.begin(row), A.end(row)):
                    factor = A.value(k)
                    for t in range(B.begin(A.column(k)), B.end(A.column(k))):
                        column = B.column(t)
                        sums[column] += factor * B.value(t)
                        word = seen[column >> 6]
                        if word & bit(column) == 0:
                            seen[column >> 6] = word | bit(column)
                            above[column >> 12] |= bit(column >> 6)
                            top[column >> 18] |= bit(column >> 12)
                            low = min(low, column >> 18)
                            high = max(high, column >> 18)
                            found[min(n, FEW)] = column
                            n += 1
                to = offsets[row]
                if n <= FEW:
                    for i in range(n):
                        column = found[i]
                        seen[column >> 6] = 0
                        above[column >> 12] = 0
                        top[column >> 18] = 0
                        j = i
                        while j > 0 and found[max(j - 1, 0)] > column:
                            found[j] = found[j - 1]
                            j -= 1
                        found[j] = column
                    for i in range(n):
                        columns[to + i] = found[i]
                        values[to + i] = sums[found[i]]
                        sums[found[i]] = 0
                else:
                    for h in range(low, high + 1):
                        highest = top[h]
                        top[h] = 0
                        while highest != 0:
                            i = 64 * h + lowest(highest)
                            highest &= highest - 1
                            over = above[i]
                            above[i] = 0
                            while over != 0:
                                j = 64 * i + lowest(over)
                                over &= over - 1
                                word = seen[j]
                                seen[j] = 0
                                while word != 0:
                                    column = 64 * j + lowest(word)
                                    word &= word - 1
                                    columns[to] = column
                                    values[to] = sums[column]
                                    sums[column] = 0
                                    to += 1

    return fill_parts
