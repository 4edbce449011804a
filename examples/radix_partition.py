"""Partition keys by two of their bits: those with 00 first, then 01, 10 and 11, each in the order that they had.

That is one pass of a radix sort. A tile is a stretch of keys. It counts its keys, a prefix sum over the counts of all
tiles says where its keys of each kind go, and a scan says which of them comes first.

Run it: python examples/radix_partition.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev


@ev.kernel
def count(T, keys, shift, counts):
    for tile in T.tiles():
        found = ev.local(4, np.int32)
        for k in T.atoms(tile):
            found[keys[k] >> shift & 3] += 1
        for digit in range(4):
            counts[digit * T.num_tiles + tile] = found[digit]


@ev.kernel
def scatter(T, keys, shift, starts, out):
    """A scan of one number counts four kinds, in 16 bits each. So a tile has fewer than 65,536 keys."""
    for tile in T.tiles():
        for k in T.atoms(tile):
            digit = int(keys[k] >> shift & 3)
            before = ev.scan(np.uint64(1) << np.uint64(16 * digit), exclusive=True)
            place = int(before >> np.uint64(16 * digit) & np.uint64(65535))
            out[starts[digit * T.num_tiles + tile] + place] = keys[k]


def main(schedule="auto", target=None, size=3000, tile=200, shift=7):
    target = target or best()
    host = np.random.default_rng(0).integers(0, 2**32, size, np.uint32)
    tiles = ev.ragged(np.append(np.arange(0, size, tile), size))
    counts = np.empty(4 * tiles.num_tiles, np.int32)
    T, keys, counts, out = put(target, tiles, host, counts, np.empty_like(host))
    count[schedule].on(target)(T, keys, shift, counts)
    starts = ev.prefix_sum(counts, include_initial=True)
    scatter[schedule].on(target)(T, keys, shift, starts, out)
    order = np.argsort(host >> shift & 3, kind="stable")
    np.testing.assert_array_equal(get(out), host[order])


if __name__ == "__main__":
    main()
    print(f"keys on {best()}: in NumPy's order")
