"""SpGEMM, C = A B for sparse A and B: count the nonzeros of each row of C, then fill the rows in, in order.

Four ways, by how many products a row has:

- Few nonzeros of A: a thread merges the rows of B.
- Few products: they are numbered in the order of the row of A, and so are the atoms of a tile. Their columns are sorted
  by buckets in scratch memory. Equal ones are then side by side, in the order of their products, and are added up so.
- Many products: the row is cut into windows of columns. Each has sums in scratch memory, to which its owner adds the
  rows of B one after the other. The columns of a row of B differ, so its threads do not meet.
- On the CPU: a row is a bit map of its columns, and a column's place the number of bits before it.

So products of one place are added up in one order, without atomics on floats, whoever owns a row.
Sources: Gustavson (1978); rows in bins by their products: Nagasaka, Nukada, Matsuoka (ICPP 2017); products as atoms:
Dalton, Olson, Bell (ACM TOMS 2015).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, cast

import numpy as np

import evenly as ev
from evenly import kit

# On a GPU: a row of at most so many products belongs to a group of this size. Its four arrays lie in shared memory.
BINS = (
    (32, ev.GroupMapped(32, block=128)),
    (256, ev.GroupMapped(32, block=128)),
    (1024, ev.BlockMapped(block=128)),
)
SIZES = tuple(most for most, _ in BINS)
FEW = 16  # a row of at most so many nonzeros, and as many products as in the first bin, belongs to a thread
LONG = ev.BlockMapped(block=128), ev.GroupMapped(32, block=64)  # longer rows: to count, to fill
LONGEST = 16384  # rows of more products than that come first
EACH, EVENLY = ev.ThreadMapped(), ev.MergePath()
STEP = 256  # products between those whose factors are looked up beforehand
WIDTH = 1024  # columns of a window
AT_ONCE = 32  # nonzeros of A whose rows of B are looked up together
BITS = 3
PART = 1 << BITS  # nonzeros of each of these rows in a window that are loaded together
MAP = 1 << 17  # columns of a bit map
TABLES = 1 << 30  # bytes for tables of long rows, where the caller does not say
LAST = 2**31 - 1  # greater than any column


class Estimate(NamedTuple):
    """What a product of sparse matrices is going to be.

    nonzeros: of the result, exactly. bytes: of its three arrays. products: multiplications of two nonzeros.
    """

    nonzeros: int
    bytes: int
    products: int


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


@ev.func
def bucket_of(column, low, scale, most):
    """The bucket of a column, of so many: they ascend with the columns."""
    return min(np.int32(np.float32(column - low) * scale), np.int32(most - 1))


@ev.func
def scale_of(low, high, buckets):
    return np.float32(buckets) / (np.float32(high - low) + np.float32(1))


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


def counting(most: int) -> Any:
    """Return the kernel that counts the columns of rows of at most so many products; 0: of any number."""

    @ev.kernel
    def count_short(P, rows, A, B, first, steps, counts):
        """counts[row]: how many different columns the products of the rows P have."""
        for tile in P.tiles():
            row = tile if rows is None else rows[tile]
            start, begin = P.begin(tile), first[A.begin(row)]
            n = first[A.end(row)] - begin
            found = ev.scratch(most if most > 0 else n, np.int32)  # the column of each product
            left = ev.scratch(most if most > 0 else n, np.int32)  # in a bucket, of those to be put
            ends = ev.scratch(most if most > 0 else n, np.int32)  # of buckets
            slots = ev.scratch(most if most > 0 else n, np.int32)  # the products, by bucket
            low, high = np.int32(2**31 - 1), np.int32(0)
            for p in P.atoms(tile):
                product = begin + (p - start)
                k = factor_of(A, first, steps, row, product)
                column = np.int32(B.column(partner_of(A, B, first, k, product)))
                found[p - start] = column
                low = min(low, column)
                high = max(high, column)
            scale = scale_of(low, high, n)
            for p in P.atoms(tile):
                ev.atomic_add(left, bucket_of(found[p - start], low, scale, n), 1)
            for p in P.atoms(tile):
                ends[p - start] = ev.scan(left[p - start])
            for p in P.atoms(tile):
                bucket = bucket_of(found[p - start], low, scale, n)
                place = ends[bucket] - ev.atomic_add(left, bucket, -1)
                slots[place] = p - start
            distinct = 0
            for p in P.atoms(tile):
                column = found[p - start]
                bucket = bucket_of(column, low, scale, n)
                new = 1
                for at in range(ends[bucket - 1] if bucket > 0 else 0, ends[bucket]):
                    if found[slots[at]] == column and slots[at] < p - start:
                        new = 0
                distinct += new
            counts[row] = distinct

    return count_short


def filling(most: int) -> Any:
    """Return the kernel that fills in rows of at most so many products; 0: of any number."""

    @ev.kernel
    def fill_short(P, rows, A, B, first, steps, offsets, columns, values):
        """Fill in the rows P of A B. The sort is that of `count_short`."""
        for tile in P.tiles():
            row = tile if rows is None else rows[tile]
            start, begin = P.begin(tile), first[A.begin(row)]
            n = first[A.end(row)] - begin
            found = ev.scratch(most if most > 0 else n, np.int32)
            left = ev.scratch(most if most > 0 else n, np.int32)
            ends = ev.scratch(most if most > 0 else n, np.int32)
            slots = ev.scratch(most if most > 0 else n, np.int32)
            low, high = np.int32(2**31 - 1), np.int32(0)
            for p in P.atoms(tile):
                product = begin + (p - start)
                k = factor_of(A, first, steps, row, product)
                column = np.int32(B.column(partner_of(A, B, first, k, product)))
                found[p - start] = column
                low = min(low, column)
                high = max(high, column)
            scale = scale_of(low, high, n)
            for p in P.atoms(tile):
                ev.atomic_add(left, bucket_of(found[p - start], low, scale, n), 1)
            for p in P.atoms(tile):
                ends[p - start] = ev.scan(left[p - start])
            for p in P.atoms(tile):
                bucket = bucket_of(found[p - start], low, scale, n)
                place = ends[bucket] - ev.atomic_add(left, bucket, -1)
                slots[place] = p - start
            for p in P.atoms(tile):  # from here on, `left` has the products in order
                column = found[p - start]
                bucket = bucket_of(column, low, scale, n)
                place = ends[bucket - 1] if bucket > 0 else 0
                for at in range(ends[bucket - 1] if bucket > 0 else 0, ends[bucket]):
                    other = found[slots[at]]
                    if other < column or (other == column and slots[at] < p - start):
                        place += 1
                left[place] = p - start
            to = offsets[row]
            for p in P.atoms(tile):
                place = p - start
                column = found[left[place]]
                new = place == 0 or found[left[max(place - 1, 0)]] != column
                at = ev.rank(new)
                if new:
                    k = factor_of(A, first, steps, row, begin + left[place])
                    partner = partner_of(A, B, first, k, begin + left[place])
                    total = A.value(k) * B.value(partner) + 0  # not -0
                    place += 1
                    while place < n and found[left[min(place, n - 1)]] == column:
                        k = factor_of(A, first, steps, row, begin + left[place])
                        partner = partner_of(A, B, first, k, begin + left[place])
                        total += A.value(k) * B.value(partner)
                        place += 1
                    columns[to + at] = column
                    values[to + at] = total

    return fill_short


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
        words[row] = (high - low + 64) // 64 if count > 0 else 0


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


MADE: dict[tuple[Any, Any], Any] = {}


def made(make: Any, given: Any) -> Any:
    """Return the kernel that `make` returns for a constant or a type. It is made once."""
    if (make, given) not in MADE:
        MADE[make, given] = make(given)
    return MADE[make, given]


def sums_of(values: Any) -> Any:
    """Return the type that sums of `values` have in a kernel. Narrow integers wrap as wide ones do."""
    held = kit.held_as(values)
    return (held if held.itemsize >= 4 else np.dtype(np.int64)).type


@ev.kernel
def fill_with_ones(E, out):
    for i in E.tiles():
        out[i] = 1


def estimate(
    A: Any,
    B: Any,
    *,
    max_workspace: int | None = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Estimate:
    """Count the nonzeros of A B, as `ev.linalg.spgemm(A, B, ...)` counts them before it makes any.

    Returns an `Estimate` of nonzeros, bytes and products.
    """
    work = _work(A, B, max_workspace, schedule, target)
    offsets, total = work.counted()
    size = kit.dtype(offsets).itemsize * len(offsets) + (4 + work.found.itemsize) * total
    return Estimate(total, size, work.products)


class WithEstimate(Protocol):
    """What `spgemm` is: a function that has an `estimate`."""

    estimate: Any

    def __call__(self, A: Any, B: Any, **how: Any) -> Any: ...


def with_estimate(function: Any) -> WithEstimate:
    function.estimate = estimate
    return cast(WithEstimate, function)


@with_estimate
def spgemm(
    A: Any,
    B: Any,
    *,
    max_workspace: int | None = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Compute C = A B for sparse matrices, as the layout of `ev.csr`. Columns ascend in its rows, and none is twice.

    Its arrays are of the library of A's, on the same device; NumPy's for a tensor of PyTorch in host memory.

    A: (m, n), B: (n, k): sparse matrices of SciPy, CuPy or PyTorch, or layouts of `ev.csr`, `ev.csc` or `ev.coo`,
      on one device. Others than CSR are converted at each call. C has an entry wherever both factors of
      some product are stored, also where products add up to 0.
    max_workspace: the most bytes to use beside A, B and C. Some are needed for each row and each nonzero of A; the
      rest bounds how many long rows are worked on at a time. Default: 1 GiB for long rows.
    schedule: who owns a row, or a window of columns of a long one; one that owns whole tiles. "auto": on a GPU groups
      of 8 threads, warps and blocks, by how many products a row has.
    target: as of `ev.spmv`. On a GPU the call waits.

    C has NumPy's result type of A and B; float16 or bfloat16 if both have, with sums in float32. Products of equal
    places are added up in the order of the row of A, so the same arguments give the same bits under every schedule and
    on every target of one arithmetic. Raises InputError if shapes or devices do not match, for 2**31 - 2 columns and
    more, and if `max_workspace` is too small.

    `ev.linalg.spgemm.estimate(A, B)` counts the nonzeros of C without making it.

    >>> import scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 1.0, 0.0]])
    >>> C = ev.linalg.spgemm(A, A)
    >>> C.offsets.tolist(), C.indices.tolist(), C.values.tolist()
    ([0, 3, 4, 5], [0, 1, 2, 1, 1], [1.0, 2.0, 2.0, 9.0, 3.0])
    """
    work = _work(A, B, max_workspace, schedule, target)
    return work.filled(*work.counted())


def _work(A: Any, B: Any, max_workspace: Any, schedule: Any, target: str) -> _Work:
    """Check the arguments of a product."""
    A, B = kit.as_csr(A, "A"), kit.as_csr(B, "B")
    (_, inner), (depth, columns) = kit.shape(A, "A"), kit.shape(B, "B")
    if inner != depth:
        expected = f"a matrix of {inner} rows, the columns of A"
        raise ev.InputError("B", expected=expected, given=f"shape {(depth, columns)}")
    if columns >= 2**31 - 2:
        raise ev.InputError("B", expected="fewer than 2**31 - 2 columns", given=f"{columns:,}")
    kit.check_beside(B.values, "B", A.values, "A")
    most = None if max_workspace is None else _bytes_of(max_workspace)
    schedule = kit.of_whole_lists(schedule, "rows")
    with kit.renamed(x="A"):
        found = kit.result_type(A, B)
    on_host = not kit.on_gpu(A.values) and target != "simt"
    return (_OnHost if on_host else _OnGpu)(A, B, found, most, schedule, target)


def _bytes_of(given: Any) -> int:
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if not whole or given < 1:
        expected = "a number of bytes, 1 or more"
        raise ev.InputError("max_workspace", expected=expected, given=repr(given))
    return int(given)


class _Work:
    """One product: its operands in CSR, and how it is to be run."""

    products: int  # in all
    needed: int  # bytes beside A, B and C, whatever the rows are

    def __init__(
        self, A: Any, B: Any, found: Any, most: int | None, schedule: Any, target: str
    ) -> None:
        self.A, self.B, self.found, self.most = A, B, found, most
        self.rows, self.columns = A.num_tiles, kit.shape(B, "B")[1]
        self.schedule, self.target = schedule, target
        self.needed = self.bytes_for(A.num_atoms, A.num_tiles, B.num_tiles)
        if most is not None and most <= self.needed:
            raise self.too_little("more")

    def bytes_for(self, nonzeros: int, rows: int, depth: int) -> int:
        """Return how many bytes are needed for the nonzeros and rows of A, and the rows of B."""
        raise NotImplementedError

    def too_little(self, more: str) -> ev.InputError:
        """Return the error that says what more is needed."""
        what = f"for {self.rows:,} rows and {self.A.num_atoms:,} nonzeros of A"
        expected = f"{self.needed:,} bytes {what}, and {more}"
        return ev.InputError("max_workspace", expected=expected, given=f"{self.most:,}")

    def counts(self) -> Any:
        """Return how many nonzeros each row of C has, as int64."""
        raise NotImplementedError

    def fill(self, offsets: Any, columns: Any, values: Any) -> None:
        """Fill in the rows of C, which have these offsets."""
        raise NotImplementedError

    def counted(self) -> tuple[Any, int]:
        """Return the offsets of C's rows, and their last."""
        counts = self.counts()
        dtype = kit.index_type(self.products)  # there are at most as many nonzeros
        offsets = ev.prefix_sum(counts, include_initial=True, dtype=dtype)
        total = kit.entry(offsets, self.rows)
        if kit.index_type(total) != dtype:
            offsets = ev.prefix_sum(counts, include_initial=True, dtype=kit.index_type(total))
        return offsets, total

    def filled(self, offsets: Any, total: int) -> Any:
        """Return C, whose rows have these offsets."""
        columns = kit.empty(offsets, (total,), np.int32)
        values = kit.empty(self.A.values, (total,), self.found)
        if total:
            self.fill(offsets, columns, values)
        shape = self.rows, self.columns
        return ev.csr((values, columns, offsets), shape=shape, check=False)

    def numbered(self) -> tuple[Any, Any]:
        """Number the products. Return the first one of each nonzero of A, and the factors of some (`find_factors`)."""
        count, dtype = self.products // STEP + 2, kit.index_type(self.A.num_atoms)
        self.needed += dtype.itemsize * count
        if self.most is not None and self.most <= self.needed:
            raise self.too_little("more")
        products = kit.empty(self.A.offsets, (self.A.num_atoms,), np.int32)
        count_products[EVENLY].on(self.target)(self.A, self.B, products)
        first = ev.prefix_sum(products, include_initial=True, dtype=np.int64)
        steps = kit.empty(first, (count,), dtype)
        self.each(find_factors, kit.each(count), first, self.products, steps)
        return first, steps

    def run(self, kernel: Any, schedule: Any, *arguments: Any) -> None:
        schedule = schedule if self.schedule == "auto" else self.schedule
        options = {} if self.most is None else {"max_workspace": self.most - self.needed}
        try:
            kernel[schedule].on(self.target, **options)(*arguments)
        except ev.InputError as error:
            if error.argument != "max_workspace":
                raise
            raise self.too_little(error.expected) from None

    def each(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel that does little for each element."""
        kernel[EACH].on(self.target)(*arguments)

    def without_repeats(self) -> Any:
        """Return B with its columns in order, and equal ones of a row added up as those of C are."""
        offsets = kit.positions(self.B.offsets, self.columns + 1)
        dtype = kit.held_as(kit.empty(self.B.values, (1,), self.found))
        ones = kit.empty(self.B.values, (self.columns,), dtype)
        self.each(fill_with_ones, kit.each(self.columns), ones)
        columns, shape = kit.part(offsets, 0, self.columns), (self.columns, self.columns)
        # Its rows need not be looked at.
        identity = ev.csr((ones, columns, offsets), shape=shape, check=False)
        return spgemm(self.B, identity, max_workspace=self.most, target=self.target)


class Lot(NamedTuple):
    """Long rows: their products as atoms; which rows; their first windows; where their windows begin, and how many."""

    layout: Any
    rows: Any
    firsts: Any
    starts: Any
    windows: int


class _OnGpu(_Work):
    """Rows in bins by their products; long ones in windows."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        like = self.A.offsets
        self.row_products = kit.empty(like, (self.rows,), np.int64)
        found = kit.empty(like, (14,), np.int64)
        operands = self.A, kit.each(self.rows), self.B
        survey[EVENLY].on(self.target)(*operands, self.row_products, found)
        *sizes, descends, equal = kit.to_numpy(found).tolist()
        rows, products = sizes[:6], sizes[6:]
        self.products, self.repeats = sum(products), descends or equal
        self.few = FEW
        if descends:  # no rows can be merged
            self.few, rows[:2], products[:2] = 0, [0, sum(rows[:2])], [0, sum(products[:2])]
        self.begins: Any = None  # of the windows of the only lot
        self.in_order: Any = None  # B
        if any(rows[1:]):
            self.first, self.steps = self.numbered()
        self.order, self.offsets = self._order(rows)
        self.merged = (kit.each(rows[0]), self._rows(0, rows[0])) if rows[0] else None
        self.short = list(self._short(rows, products))
        self.lots = list(self._lots(sum(rows[4:]), sum(products[4:])))

    def bytes_for(self, nonzeros: int, rows: int, depth: int) -> int:
        return 12 * nonzeros + 80 * rows + 8 * depth

    @property
    def spare(self) -> int:
        """How many bytes there may be for long rows."""
        return TABLES if self.most is None else self.most - self.needed

    def ascending(self) -> Any:
        """Return B with rows that ascend."""
        if self.in_order is None:
            self.in_order = self.without_repeats() if self.repeats else self.B
        return self.in_order

    def _order(self, sizes: list[int]) -> tuple[Any, Any]:
        """Return the rows by their bins, and where their products begin in this order.

        None: the order of the rows, since all are in one bin; none are needed.
        """
        order, products = None, self.row_products
        if self.rows not in sizes[:4]:
            ends = np.cumsum(sizes).tolist()
            order = kit.empty(products, (ends[-1],), np.int32)
            given = kit.whole(self.rows), self.A, products, self.few, *ends[:-1], order
            order_rows.on(self.target)(*given)
            products = kit.take(products, order)
        offsets = ev.prefix_sum(products, include_initial=True) if any(sizes[1:]) else None
        return order, offsets

    def _rows(self, start: int, stop: int) -> Any:
        """Return which rows these are in the order; None: all of them."""
        return None if self.order is None else kit.part(self.order, start, stop)

    def _short(self, sizes: list[int], products: list[int]) -> Any:
        """Yield the bins of short rows: the most products, the schedule, a layout, and which rows these are."""
        for i, (most, schedule) in enumerate(BINS, 1):
            start, stop = sum(sizes[:i]), sum(sizes[: i + 1])
            if start < stop:
                rows = Rows(kit.part(self.offsets, start, stop + 1), products[i])
                yield most, schedule, rows, self._rows(start, stop)

    def _lots(self, count: int, products: int) -> Any:
        """Yield the long rows, as many at a time as there is memory for."""
        if not count:
            return
        last = len(self.order)
        rows = self._rows(last - count, last)
        firsts, windows = (kit.empty(self.first, (count,), np.int64) for _ in "12")
        self.each(count_windows, kit.each(count), rows, *self._spans(), firsts, windows)
        starts = ev.prefix_sum(windows, include_initial=True)
        offsets = kit.part(self.offsets, last - count, last + 1)
        for low, high, tiles in self._cuts(starts, count):
            if high - low < count:
                products = kit.entry(offsets, high) - kit.entry(offsets, low)
            layout = Rows(kit.part(offsets, low, high + 1), products)
            yield Lot(
                layout,
                kit.part(rows, low, high),
                kit.part(firsts, low, high),
                kit.part(starts, low, high + 1),
                tiles,
            )

    def _spans(self) -> tuple[Any, Any]:
        """Return the least column of each row of C, and the words of a bit map of its columns."""
        like = self.first
        products, lows, words = (kit.empty(like, (self.rows,), np.int64) for _ in "123")
        ends = (kit.empty(like, (self.B.num_tiles,), np.int32) for _ in "12")
        given = self.A, self.B, *ends, products, lows, words
        span_rows[EVENLY].on(self.target)(*given)
        return lows, words

    def _cuts(self, starts: Any, count: int) -> Any:
        """Yield where the long rows are cut into lots, and how many windows each lot has."""
        total, most = kit.entry(starts, count), self.spare // 2 // 16
        if total <= most:
            yield 0, count, total
            return
        host, low = kit.to_numpy(starts), 0
        while low < count:
            high = int(np.searchsorted(host, host[low] + most, "right")) - 1
            if high == low:
                needed = 32 * int(host[low + 1] - host[low])
                raise self.too_little(f"{needed:,} for a row of many products")
            yield low, high, int(host[high] - host[low])
            low = high

    def counts(self) -> Any:
        counts = kit.zeros(self.row_products, (self.rows,), np.int64)
        given = self.A, self.B
        if self.merged:
            self.run(count_merge, EACH, *self.merged, *given, counts)
        for most, schedule, *rows in self.short:
            more = self.first, self.steps, counts
            self.run(made(counting, most), schedule, *rows, *given, *more)
        for lot in self.lots:
            begins = self._count(lot, counts)
            self.begins = begins if len(self.lots) == 1 else None
        return counts

    def _count(self, lot: Any, counts: Any) -> Any:
        """Count the nonzeros of long rows, and return where each window of them begins among all."""
        inside = kit.empty(self.first, (lot.windows,), np.int32)
        given = lot.layout, lot.rows, lot.firsts, lot.starts
        more = self.A, self.B, self.first, self.steps, counts, inside
        self.run(count_long, LONG[0], *given, *more)
        return ev.prefix_sum(inside, include_initial=True, dtype=np.int64)

    def fill(self, offsets: Any, columns: Any, values: Any) -> None:
        given, out = (self.A, self.B), (offsets, columns, values)
        if self.merged:
            kernel = made(filling_merged, sums_of(values))
            self.run(kernel, EACH, *self.merged, *given, *out)
        for most, schedule, *rows in self.short:
            more = self.first, self.steps, *out
            self.run(made(filling, most), schedule, *rows, *given, *more)
        for lot in self.lots:
            begins = self.begins
            if begins is None:
                begins = self._count(lot, kit.zeros(self.first, (self.rows,), np.int64))
            self._fill(lot, begins, out)

    def _fill(self, lot: Any, begins: Any, out: tuple[Any, ...]) -> None:
        B, cuts = self.ascending(), None
        windows = -(-self.columns // WIDTH)
        dtype, shape = kit.index_type(B.num_atoms), (B.num_tiles, windows + 1)
        if dtype.itemsize * shape[0] * shape[1] <= self.spare // 2:
            cuts = kit.empty(self.first, shape, dtype)
            cut_rows[EVENLY].on(self.target)(B, windows, cuts)
        places = kit.empty(self.first, (lot.windows,), np.int32)
        owned = Rows(lot.starts, lot.windows)
        number_windows[EVENLY].on(self.target)(owned, places)
        given = Windows(lot.windows, WIDTH), places, lot.rows, lot.firsts, lot.starts
        kernel = made(filling_long, sums_of(out[2]))
        self.run(kernel, LONG[1], *given, self.A, B, cuts, begins, *out)


class _OnHost(_Work):
    """Rows as bit maps; those whose columns lie far apart by sorting, as on a GPU."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        A, B, like = self.A, self.B, self.A.offsets
        self.maps = tuple(kit.empty(like, (self.rows,), np.int64) for _ in "123")
        products, lows, words = self.maps
        ends = (kit.empty(like, (B.num_tiles,), np.int32) for _ in "12")
        self.each(span_rows, A, B, *ends, products, lows, words)
        offsets = ev.prefix_sum(products, include_initial=True)
        self.products = kit.entry(offsets, self.rows)
        self.P = ev.ragged(offsets, num_atoms=self.products, check=False)
        is_wide = kit.to_numpy(words) > 32 * kit.to_numpy(products) + 64
        wide, narrow = (kit.from_numpy(np.flatnonzero(x), like) for x in (is_wide, ~is_wide))
        self.narrow = ev.subset(self.P, narrow) if len(wide) else self.P
        self.wide: Any = None
        if len(wide):
            self.first, self.steps = self.numbered()
            offsets = ev.prefix_sum(kit.take(products, wide), include_initial=True)
            self.wide = Rows(offsets, kit.entry(offsets, len(wide))), wide

    def bytes_for(self, nonzeros: int, rows: int, depth: int) -> int:
        return 12 * nonzeros + 64 * rows + 8 * depth

    def counts(self) -> Any:
        counts = kit.zeros(self.A.offsets, (self.rows,), np.int64)
        given = self.narrow, self.A, self.B, *self.maps[1:], counts
        self.run(count_map, EACH, *given)
        if self.wide:
            given = *self.wide, self.A, self.B, self.first, self.steps, counts
            self.run(made(counting, 0), EACH, *given)
        return counts

    def fill(self, offsets: Any, columns: Any, values: Any) -> None:
        out = offsets, columns, values
        given = self.narrow, self.A, self.B, *self.maps, *out
        self.run(made(filling_map, sums_of(values)), EACH, *given)
        if self.wide:
            given = *self.wide, self.A, self.B, self.first, self.steps, *out
            self.run(made(filling, 0), EACH, *given)
