"""Rows of many products: cut into windows of columns, each with its sums in scratch memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev

from .products import factor_of, partner_of

WIDTH = 1024  # columns of a window
AT_ONCE = 32  # nonzeros of A whose rows of B are looked up together
BITS = 3
PART = 1 << BITS  # nonzeros of each of these rows in a window that are loaded together
MAP = 1 << 17  # columns of a bit map


@ev.layout
class Windows:
    """`num_tiles` windows of `width` columns each."""

    num_tiles: int
    width: ev.Static

    @property
    def num_atoms(self):
        return self.num_tiles * self.width

    def begin(self, tile):
        return tile * self.width

    def end(self, tile):
        return (tile + 1) * self.width

    def tile_of(self, atom):
        return atom // self.width


@ev.kernel
def cut_rows(B, windows, cuts):
    """cuts[row, w]: where the part of a row of B begins that lies in window w and behind, for w = 0 .. windows."""
    for row in B.tiles():
        for k in B.atoms(row):
            own = B.column(k) // WIDTH
            for w in range(B.column(k - 1) // WIDTH + 1 if k > B.begin(row) else 0, own + 1):
                cuts[row, w] = k
            if k == B.end(row) - 1:
                for w in range(own + 1, windows + 1):
                    cuts[row, w] = k + 1
        if B.begin(row) == B.end(row):
            for w in range(windows + 1):
                cuts[row, w] = B.begin(row)


@ev.func
def cut_of(cuts, B, row, window):
    """The same as an element of `cuts`; where that is None, by a binary search."""
    if cuts is not None:
        return np.int64(cuts[row, window])
    low, high = np.int64(B.begin(row)), np.int64(B.end(row))
    while low < high:
        middle = (low + high) // 2
        if B.column(middle) < window * WIDTH:
            low = middle + 1
        else:
            high = middle
    return low


@ev.kernel
def count_windows(E, rows, lows, words, firsts, counts):
    """Of long rows, the window in which their columns begin, and how many windows they reach over."""
    for i in E.tiles():
        low, count = lows[rows[i]], words[rows[i]]
        firsts[i] = low // WIDTH
        counts[i] = (low + 64 * count - 1) // WIDTH - low // WIDTH + 1


@ev.kernel
def number_windows(R, places):
    for tile in R.tiles():
        for window in R.atoms(tile):
            places[window] = tile


@ev.kernel
def count_long(P, rows, firsts, starts, A, B, first, steps, counts, inside):
    """counts[row]: how many different columns the products of the rows P have. inside[starts[tile] ..]: by window."""
    for tile in P.tiles():
        seen = ev.scratch(MAP // 32, np.int32)
        row, start, found = rows[tile], P.begin(tile), 0
        windows = starts[tile + 1] - starts[tile]
        for done in range(0, windows, MAP // WIDTH):
            low = (firsts[tile] + done) * WIDTH
            for p in P.atoms(tile):
                product = first[A.begin(row)] + (p - start)
                k = factor_of(A, first, steps, row, product)
                column = B.column(partner_of(A, B, first, k, product)) - low
                if column >= 0 and column < MAP:
                    ev.atomic_or(seen, column >> 5, np.int32(1) << np.int32(column & 31))
            for w in ev.lanes(min(windows - done, MAP // WIDTH)):
                bits = 0
                for i in range(WIDTH // 32):  # each thread begins at another bank of shared memory
                    bits += ev.popcount(seen[w * (WIDTH // 32) + ((i + w) & (WIDTH // 32 - 1))])
                inside[starts[tile] - starts[0] + done + w] = bits
                found += bits
            if done + MAP // WIDTH < windows:
                for i in ev.lanes(MAP // 32):
                    seen[i] = 0
        counts[row] = found


def filling_long(T: Any) -> Any:
    """Return the kernel that fills in windows of long rows, and adds up numbers of the type T."""

    @ev.kernel
    def fill_long(W, places, rows, firsts, starts, A, B, cuts, begins, offsets, columns, values):
        """Fill in windows of rows[places[0]] .. begins: where a window begins among the nonzeros of all."""
        for tile in W.tiles():
            place = places[tile]
            row, own = rows[place], starts[place] - starts[0]
            window = firsts[place] + (tile - own)
            sums = ev.scratch(WIDTH, T)
            seen = ev.scratch(WIDTH // 32, np.int32)
            factors = ev.scratch(AT_ONCE, T)
            heads = ev.scratch(AT_ONCE, np.int64)
            lengths = ev.scratch(AT_ONCE, np.int32)
            found = ev.scratch(AT_ONCE * PART, np.int32)
            partners = ev.scratch(AT_ONCE * PART, T)
            low = np.int32(window * WIDTH)
            end = A.end(row) if begins[tile] < begins[tile + 1] else A.begin(row)
            for k in range(A.begin(row), end, AT_ONCE):
                n = min(AT_ONCE, end - k)
                for i in ev.lanes(n):
                    b = A.column(k + i)
                    begin = cut_of(cuts, B, b, window)
                    factors[i] = A.value(k + i)
                    heads[i] = begin
                    lengths[i] = cut_of(cuts, B, b, window + 1) - begin
                for i in ev.lanes(n * PART):  # short parts of rows of B are loaded together
                    if i & (PART - 1) < lengths[i >> BITS]:
                        found[i] = np.int32(B.column(heads[i >> BITS] + (i & (PART - 1)))) - low
                        partners[i] = B.value(heads[i >> BITS] + (i & (PART - 1)))
                for i in range(n):
                    for j in ev.lanes(lengths[i]):
                        if j < PART:
                            column = found[i * PART + j]
                            partner = partners[i * PART + j]
                        else:
                            column = np.int32(B.column(heads[i] + j)) - low
                            partner = T(B.value(heads[i] + j))
                        alone = ev.distinct(column)
                        sums[alone] += factors[i] * partner
                        ev.atomic_or(seen, alone >> 5, np.int32(1) << (alone & 31))
            to = offsets[row] + begins[tile] - begins[own]
            if begins[tile] < begins[tile + 1]:
                for c in W.atoms(tile):
                    column = np.int32(c - tile * WIDTH)
                    there = (seen[column >> 5] >> (column & 31)) & 1
                    at = ev.rank(there == 1)
                    if there == 1:
                        columns[to + at] = low + column
                        values[to + at] = sums[column]

    return fill_long
