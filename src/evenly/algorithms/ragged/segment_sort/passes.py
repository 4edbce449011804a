"""Merge the sorted parts of long lists, two runs at a time, until a list is one run.

A run has `room` elements, and twice as many after each pass. A team makes `room` elements of a merged run. Where its
share of both runs begins is found for all teams beforehand, by binary searches in global memory; the team copies the
share to shared memory, and its threads divide it in the same way (`blocks.merge_path`).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev

from .blocks import merge_path, next_of, parts_of, passes_of


@ev.func
def runs_around(first, stop, part, room, runs):
    """Where the two runs of `runs` parts each begin, meet and end that this part of a list is merged from.

    They are one run if they begin where they meet.
    """
    begin = first + (part & -(2 * runs)) * room
    middle = begin + min(runs * room, stop - begin)
    return begin, middle, middle + min(runs * room, stop - middle)


@ev.func
def remaining(first, stop, room, done):
    """How many passes a list still needs after so many; its elements lie in `spare` where that is odd."""
    return passes_of(parts_of(first, stop, room)) - done


@functools.cache
def merging(size: int, each: int, T: Any, coding: Any, P: Any) -> Any:
    """Return the kernel of a pass: it finds where teams begin in both runs, then merges.

    P: the type of positions. Others: as of `blocks.sorting`.
    """
    bits_of = coding[1]
    room = size * each
    share = np.int32(each)

    @ev.func
    def code_at(sorted_, spare, aside, k):
        return T(spare[k]) if aside else T(sorted_[k])

    @ev.kernel
    def merge(B, lists, parts, offsets, bits, sorted_, order, spare, spare_order, E, done, found):
        """done: (1,), how many passes there were, counted here, so that a call is as the one before. E: the items.

        found[item]: how many elements of the first run come before the item's part of the merged one.
        The last pass over a list leaves its keys in `sorted_`. Others leave codes, in turn in `spare` and there.
        """
        for item in E.tiles():
            runs = P(1) << P(done[0])
            t, part = lists[item], parts[item]
            first, stop = offsets[t], offsets[t + 1]
            left = remaining(first, stop, room, done[0])
            if left > 0:
                begin, middle, end = runs_around(first, stop, part, room, runs)
                at = first + part * room - begin
                low, high = max(at - (end - middle), 0), min(at, middle - begin)
                while low < high:
                    half = (low + high) >> 1
                    x = code_at(sorted_, spare, left % 2 == 1, begin + half)
                    y = code_at(sorted_, spare, left % 2 == 1, middle + at - 1 - half)
                    low, high = half + 1 if x <= y else low, high if x <= y else half
                found[item] = low
        for item in B.items():
            runs = P(1) << P(done[0])
            t, part = lists[item], parts[item]
            first, stop = offsets[t], offsets[t + 1]
            left = remaining(first, stop, room, done[0])
            if left > 0:
                begin, middle, end = runs_around(first, stop, part, room, runs)
                to = first + part * room
                n = np.int32(min(room, end - to))
                before = found[item]
                after = middle - begin if to + n == end else found[item + 1]
                ahead = np.int32(after - before)  # so many are from the first run
                from_a, from_b = begin + before, middle + (to - begin - before) - ahead
                codes = ev.scratch(room, T, zeros=False)
                positions = ev.scratch(room, P, zeros=False)
                at = ev.scratch(room, np.int16, zeros=False)
                for tile in B.tiles(item):
                    thread = np.int32(tile - B.item_begin(item))
                    for i in range(each):
                        place = thread + np.int32(i * size)
                        k = min(place, n - 1) + (from_a if place < ahead else from_b)
                        codes[ev.distinct(place)] = code_at(sorted_, spare, left % 2 == 1, k)
                        positions[ev.distinct(place)] = (
                            spare_order[k] if left % 2 == 1 else order[k]
                        )
                for tile in B.tiles(item):
                    place = np.int32(tile - B.item_begin(item)) * share
                    if place < n:
                        i = merge_path(codes, np.int32(0), ahead, n, place)
                        j = ahead + place - i
                        x, y = codes[min(i, n - 1)], codes[min(j, n - 1)]
                        for s in range(each):
                            _, from_, i, j, x, y = next_of(codes, x, i, ahead, y, j, n, n - 1)
                            at[ev.distinct(place + s)] = from_
                for tile in B.tiles(item):
                    thread = np.int32(tile - B.item_begin(item))
                    for i in range(each):
                        place = thread + np.int32(i * size)
                        if place < n:
                            code, where = codes[at[place]], positions[at[place]]
                            if left == 1:
                                sorted_[ev.distinct(to + place)] = bits_of(code, bits, where)
                                order[ev.distinct(to + place)] = where
                            elif left % 2 == 1:
                                sorted_[ev.distinct(to + place)] = code
                                order[ev.distinct(to + place)] = where
                            else:
                                spare[ev.distinct(to + place)] = code
                                spare_order[ev.distinct(to + place)] = where
        done[0] += 1

    return merge
