"""Rows of few products: their columns are sorted by buckets, in scratch memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev

from .products import factor_of, partner_of


@ev.func
def bucket_of(column, low, scale, most):
    """The bucket of a column, of so many: they ascend with the columns."""
    return min(np.int32(np.float32(column - low) * scale), np.int32(most - 1))


@ev.func
def scale_of(low, high, buckets):
    return np.float32(buckets) / (np.float32(high - low) + np.float32(1))


@ev.func
def put_into_buckets(P, tile, start, found, low, scale, n, left, ends, slots):
    """Put the products of a tile into slots, by the bucket of their columns `found`. ends: of the buckets.

    start: the tile's first atom. low, scale, n: see `bucket_of`.
    """
    for p in P.atoms(tile):
        ev.atomic_add(left, bucket_of(found[p - start], low, scale, n), 1)
    for p in P.atoms(tile):
        ends[p - start] = ev.scan(left[p - start])
    for p in P.atoms(tile):
        bucket = bucket_of(found[p - start], low, scale, n)
        place = ends[bucket] - ev.atomic_add(left, bucket, -1)
        slots[place] = p - start


@ev.func
def count_different(P, tile, start, found, low, scale, n, ends, slots):
    """How many different columns the products of a tile have."""
    distinct = 0
    for p in P.atoms(tile):
        column = found[p - start]
        bucket = bucket_of(column, low, scale, n)
        new = 1
        for at in range(ends[bucket - 1] if bucket > 0 else 0, ends[bucket]):
            if found[slots[at]] == column and slots[at] < p - start:
                new = 0
        distinct += new
    return distinct


@ev.func
def put_in_order(P, tile, start, found, low, scale, n, ends, slots, order):
    """order: the products of a tile by their columns, those of one column as they come."""
    for p in P.atoms(tile):
        column = found[p - start]
        bucket = bucket_of(column, low, scale, n)
        place = ends[bucket - 1] if bucket > 0 else 0
        for at in range(ends[bucket - 1] if bucket > 0 else 0, ends[bucket]):
            other = found[slots[at]]
            if other < column or (other == column and slots[at] < p - start):
                place += 1
        order[place] = p - start


def sorting(most: int) -> Any:
    """Return the kernel that sorts products, to count or to fill in rows of at most so many."""

    @ev.kernel
    def sort_short(P, rows, A, B, first, steps, counts, offsets, columns, values):
        """counts[row]: how many different columns the products of the rows P have. counts None: fill in these rows."""
        for tile in P.tiles():
            row = tile if rows is None else rows[tile]
            start, begin = P.begin(tile), first[A.begin(row)]
            n = first[A.end(row)] - begin
            found = ev.scratch(most, np.int32)  # the column of each product
            left = ev.scratch(most, np.int32)  # in a bucket, of those to be put
            ends = ev.scratch(most, np.int32)  # of buckets
            slots = ev.scratch(most, np.int32)  # the products, by bucket
            low, high = np.int32(2**31 - 1), np.int32(0)
            for p in P.atoms(tile):
                product = begin + (p - start)
                k = factor_of(A, first, steps, row, product)
                column = np.int32(B.column(partner_of(A, B, first, k, product)))
                found[p - start] = column
                low = min(low, column)
                high = max(high, column)
            scale = scale_of(low, high, n)
            put_into_buckets(P, tile, start, found, low, scale, n, left, ends, slots)
            if counts is not None:
                counts[row] = count_different(P, tile, start, found, low, scale, n, ends, slots)
            else:  # from here on, `left` has the products in order
                put_in_order(P, tile, start, found, low, scale, n, ends, slots, left)
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

    return sort_short
