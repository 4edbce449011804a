"""Rows on the CPU: made one after the other in sums for all columns, which the rows of a part share (Gustavson 1978).

To count, a row marks its columns with its number, so that nothing has to be cleared. To fill in, a bit map tells which
columns a row has. If the row has as many products as the map has words, the whole map is walked. Else the row keeps a
list of its columns. A few of them are sorted. Many are found in order by two maps above the first, of the words that
are not 0: as in a tree of 64 branches. What a row leaves behind is cleared as it is found.
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


@ev.func
def is_full(words, products):
    """Whether a row has a product for each word of its bit map. Others have fewer columns than the map has words."""
    return words > 0 and words <= products


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
        marks = ev.scratch(width, np.int32)  # of each column, the last row that has it, from 1
        for row in range(starts[part], starts[part + 1]):
            count, mark = 0, np.int32(row - starts[part] + 1)
            for k in range(A.begin(row), A.end(row)):
                for t in range(B.begin(A.column(k)), B.end(A.column(k))):
                    column = B.column(t)
                    count += 1 if marks[column] != mark else 0
                    marks[column] = mark
            counts[row] = count


@ev.func
def fill_word(word, first, to, sums, columns, values):
    """Fill in the columns of a word, whose lowest bit is the column `first`, and clear their sums."""
    while word != 0:
        column = first + lowest(word)
        word &= word - 1
        columns[to] = column
        values[to] = sums[column]
        sums[column] = 0
        to += 1


@ev.func
def fill_few(found, n, to, seen, sums, columns, values):
    """Fill in the columns found, sorted by insertion."""
    for i in range(n):
        column = found[i]
        seen[column >> 6] = 0
        j = i
        while j > 0 and found[max(j - 1, 0)] > column:
            found[j] = found[j - 1]
            j -= 1
        found[j] = column
    for i in range(n):
        columns[to + i] = found[i]
        values[to + i] = sums[found[i]]
        sums[found[i]] = 0


@ev.func
def fill_many(found, n, to, seen, above, top, sums, columns, values):
    """Fill in the columns found, in the order of the maps above their own."""
    low, high = len(top), 0
    for i in range(n):
        above[found[i] >> 12] |= bit(found[i] >> 6)
        top[found[i] >> 18] |= bit(found[i] >> 12)
        low = min(low, found[i] >> 18)
        high = max(high, found[i] >> 18)
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
                fill_word(word, 64 * j, to, sums, columns, values)
                to += ev.popcount(word)


def filling_parts(T: Any) -> Any:
    """Return the kernel that fills in the rows of parts, and adds up numbers of the type T."""

    @ev.kernel
    def fill_parts(P, starts, A, B, before, width, offsets, columns, values):
        for part in P.tiles():
            sums = ev.scratch(width, T)
            seen = ev.scratch((width + 63) // 64, np.uint64)
            found = ev.scratch((width + 63) // 64, np.int32)  # columns of a row that is not full
            above = ev.scratch((width + 4095) // 4096, np.uint64)  # words of `seen`
            top = ev.scratch((width + 262143) // 262144, np.uint64)  # words of `above`
            for row in range(starts[part], starts[part + 1]):
                n, word, to = 0, np.uint64(0), offsets[row]
                if is_full(len(seen), before[row + 1] - before[row]):
                    last = 0
                    for k in range(A.begin(row), A.end(row)):
                        factor = A.value(k)
                        for t in range(B.begin(A.column(k)), B.end(A.column(k))):
                            column = B.column(t)
                            sums[column] += factor * B.value(t)
                            if column >> 6 != last:
                                seen[last] = word
                                last = column >> 6
                                word = seen[last]
                            word |= bit(column)
                    seen[last] = word
                    for j in range(len(seen)):
                        word = seen[j]
                        seen[j] = 0
                        fill_word(word, 64 * j, to, sums, columns, values)
                        to += ev.popcount(word)
                    continue
                for k in range(A.begin(row), A.end(row)):
                    factor = A.value(k)
                    for t in range(B.begin(A.column(k)), B.end(A.column(k))):
                        column = B.column(t)
                        sums[column] += factor * B.value(t)
                        word = seen[column >> 6]
                        if word & bit(column) == 0:
                            seen[column >> 6] = word | bit(column)
                            found[n] = column
                            n += 1
                if n <= FEW:
                    fill_few(found, n, to, seen, sums, columns, values)
                else:
                    fill_many(found, n, to, seen, above, top, sums, columns, values)

    return fill_parts
