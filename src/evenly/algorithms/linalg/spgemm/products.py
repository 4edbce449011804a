"""The products of each row: how many there are, bins of rows by that, and whose nonzeros a product is of."""

from __future__ import annotations

import numpy as np

import evenly as ev

# On a GPU: a row of at most so many products belongs to a group of this size. Its four arrays lie in shared memory.
BINS = (
    (32, ev.GroupMapped(32, block=128)),
    (256, ev.GroupMapped(32, block=128)),
    (1024, ev.BlockMapped(block=128)),
)
SIZES = tuple(most for most, _ in BINS)
FEW = 16  # a row of at most so many nonzeros, and as many products as in the first bin, belongs to a thread
LONGEST = 16384  # rows of more products than that come first
STEP = 256  # products between those whose factors are looked up beforehand


@ev.layout
class Rows:
    """Rows whose atoms are products. They lie one after the other, and the first need not be at offsets[0] == 0."""

    offsets: ev.Array[ev.Index]  # (num_tiles + 1,)
    num_atoms: int

    @property
    def num_tiles(self):
        return len(self.offsets) - 1

    def begin(self, tile):
        return self.offsets[tile] - self.offsets[0]

    def end(self, tile):
        return self.offsets[tile + 1] - self.offsets[0]


@ev.func
def in_bin(products, nonzeros, few):
    """0: a row that a thread merges; 1 to 3: the bins; 4, 5: the longest and long rows; 6: a row without products."""
    long = 4 if products > LONGEST else 5
    binned = 1 if products <= SIZES[0] else 2 if products <= SIZES[1] else 3
    sorted_ = binned if products <= SIZES[2] else long
    found = 0 if nonzeros <= few and products <= SIZES[0] else sorted_
    return found if products > 0 else 6


@ev.func
def last_before(first, low, high, p):
    """The last k in low .. high - 1 with first[k] <= p. first ascends, and first[low] <= p."""
    while high - low > 1:
        middle = (low + high) // 2
        if first[middle] <= p:
            low = middle
        else:
            high = middle
    return low


@ev.func
def factor_of(A, first, steps, row, p):
    """The nonzero of A of product p, which is in this row."""
    low = max(A.begin(row), steps[p // STEP])
    return last_before(first, low, min(A.end(row), steps[p // STEP + 1] + 1), p)


@ev.func
def partner_of(A, B, first, k, p):
    """The nonzero of B of product p, whose factor of A is k."""
    return B.begin(A.column(k)) + (p - first[k])


@ev.kernel
def survey(A, E, B, products, found):
    """products[row]: how many it has. found: the rows of each bin, the products of each, whether rows of B descend, and
    whether they have a column twice. E: the rows of A."""
    for row in A.tiles():
        products[row] = sum(
            np.int64(B.end(A.column(k)) - B.begin(A.column(k))) for k in A.atoms(row)
        )
    a, b, c, d, e, f = 0, 0, 0, 0, 0, 0
    p, q, r, s, t, u = 0, 0, 0, 0, 0, 0
    for row in E.tiles():
        kind = in_bin(products[row], A.end(row) - A.begin(row), FEW)
        a += 1 if kind == 0 else 0
        b += 1 if kind == 1 else 0
        c += 1 if kind == 2 else 0
        d += 1 if kind == 3 else 0
        e += 1 if kind == 4 else 0
        f += 1 if kind == 5 else 0
        p += products[row] if kind == 0 else 0
        q += products[row] if kind == 1 else 0
        r += products[row] if kind == 2 else 0
        s += products[row] if kind == 3 else 0
        t += products[row] if kind == 4 else 0
        u += products[row] if kind == 5 else 0
    descends, equal = False, False
    for row in B.tiles():
        for k in B.atoms(row):
            if k > B.begin(row):
                descends = descends or B.column(k - 1) > B.column(k)
                equal = equal or B.column(k - 1) == B.column(k)
    found[0], found[1], found[2], found[3], found[4], found[5] = a, b, c, d, e, f
    found[6], found[7], found[8], found[9], found[10], found[11] = p, q, r, s, t, u
    found[12], found[13] = 1 if descends else 0, 1 if equal else 0


@ev.kernel
def order_rows(W, A, products, few, b, c, d, e, f, order):
    """order: the rows of bin 0, then those of bin 1, which begin at b, and so on."""
    for tile in W.tiles():
        for row in W.atoms(tile):
            kind = in_bin(products[row], A.offsets[row + 1] - A.offsets[row], few)
            at0, at1, at2 = ev.rank(kind == 0), ev.rank(kind == 1), ev.rank(kind == 2)
            at3, at4, at5 = ev.rank(kind == 3), ev.rank(kind == 4), ev.rank(kind == 5)
            if kind == 0:
                order[at0] = row
            elif kind == 1:
                order[b + at1] = row
            elif kind == 2:
                order[c + at2] = row
            elif kind == 3:
                order[d + at3] = row
            elif kind == 4:
                order[e + at4] = row
            elif kind == 5:
                order[f + at5] = row


@ev.kernel
def count_products(A, B, products):
    """products[k]: how many products the nonzero k of A has."""
    for row in A.tiles():
        for k in A.atoms(row):
            products[k] = B.end(A.column(k)) - B.begin(A.column(k))


@ev.kernel
def find_factors(E, first, total, steps):
    """steps[i]: the nonzero of A of product i * STEP, or of the last one."""
    for i in E.tiles():
        steps[i] = last_before(first, 0, len(first) - 1, min(i * STEP, total - 1))


@ev.kernel
def span_rows(A, B, least, greatest, products, lows, words):
    """How many products a row has, its least column, and the words of a bit map from there to its greatest one.

    least, greatest: the columns of each row of B, which they get first.
    """
    for row in B.tiles():
        least[row] = min((B.column(k) for k in B.atoms(row)), default=2**31 - 1)
        greatest[row] = max((B.column(k) for k in B.atoms(row)), default=-1)
    for row in A.tiles():
        count = sum(B.end(A.column(k)) - B.begin(A.column(k)) for k in A.atoms(row))
        low = min((least[A.column(k)] for k in A.atoms(row)), default=2**31 - 1)
        high = max((greatest[A.column(k)] for k in A.atoms(row)), default=-1)
        products[row] = count
        lows[row] = low
        words[row] = (np.int64(high) - low + 64) // 64 if count > 0 else 0
