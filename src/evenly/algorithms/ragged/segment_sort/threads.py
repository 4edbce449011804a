"""Sort short lists: a thread each, in registers. The threads of a block load and store these together."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev

from .blocks import in_order

LISTS = 128  # of a block, a thread each


@functools.cache
def sorting_short(each: int, T: Any, coding: Any, P: Any) -> Any:
    """Return the kernel that sorts lists of at most `each` elements, an even number.

    T, coding: as of `kit.coding`. P: the type of positions.
    """
    code_of, bits_of = coding
    slot = each + 1  # odd: neighbours then read different banks
    last = int(np.iinfo(T).max)

    @ev.func
    def place_of(thread, turn):
        """Which list of the block, and which of its elements, a thread moves: neighbours move neighbours."""
        at = thread + np.int32(turn * LISTS)
        return at // each, at % each

    @ev.kernel
    def sort(B, lists, count, offsets, bits, sorted_, order):
        """B: teams of LISTS threads. lists: which ones, so many; None: all."""
        for item in B.items():
            begins = ev.scratch(LISTS, P, zeros=False)
            lengths = ev.scratch(LISTS, np.int32, zeros=False)
            codes = ev.scratch(LISTS * slot, T, zeros=False)
            places = ev.scratch(LISTS * slot, np.int16, zeros=False)
            for tile in B.tiles(item):
                thread = np.int32(tile - B.item_begin(item))
                i = min(tile, count - 1)
                t = i if lists is None else lists[i]
                first, stop = offsets[t], offsets[t + 1]
                begins[ev.distinct(thread)] = first
                lengths[ev.distinct(thread)] = stop - first if tile < count else 0
            for tile in B.tiles(item):
                thread = np.int32(tile - B.item_begin(item))
                loaded = ev.local(each, T)
                for turn in range(each):  # all loads, then all stores
                    which, k = place_of(thread, turn)
                    k = min(k, max(lengths[which] - 1, np.int32(0)))
                    loaded[turn] = bits[begins[which] + k]
                for turn in range(each):
                    which, k = place_of(thread, turn)
                    codes[ev.distinct(which * slot + k)] = code_of(loaded[turn])
            for tile in B.tiles(item):
                thread = np.int32(tile - B.item_begin(item))
                n, begin = lengths[thread], thread * slot
                keys = ev.local(each, T)
                at = ev.local(each, np.int32)
                for i in range(each):
                    keys[i] = codes[begin + i] if i < n else T(last)
                    at[i] = i
                for turn in range(each):
                    if turn < n:
                        for pair in range((each - turn % 2) // 2):
                            i = 2 * pair + turn % 2
                            keys[i], keys[i + 1], at[i], at[i + 1] = in_order(
                                keys[i], keys[i + 1], at[i], at[i + 1]
                            )
                for i in range(each):
                    places[ev.distinct(begin + i)] = at[i]
            for tile in B.tiles(item):
                thread = np.int32(tile - B.item_begin(item))
                for turn in range(each):
                    which, k = place_of(thread, turn)
                    if k < lengths[which]:
                        to = begins[which] + k
                        place = places[which * slot + k]
                        code, from_ = codes[which * slot + place], begins[which] + place
                        sorted_[ev.distinct(to)] = bits_of(code, bits, from_)
                        order[ev.distinct(to)] = from_

    return sort
