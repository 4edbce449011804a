"""Sort what fits in shared memory: a thread sorts its share in registers, a team of threads merges the shares.

Shares are merged two runs at a time. Each thread merges as many elements as it has sorted: by a binary search it finds
where they begin in both runs (the merge path: Odeh, Green, Mwassi, Shmueli, Birk, "Merge Path", IPDPSW 2012; in blocks
of GPUs: Green, McColl, Bader, ICS 2012). So an element is read and written once for each doubling of the runs.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev


@ev.layout
class Teams:
    """Teams of `size` threads. An item is what a team works on, a tile the share of a thread. There are no atoms."""

    num_items: int
    size: int

    @property
    def num_tiles(self):
        return self.num_items * self.size

    @property
    def num_atoms(self):
        return 0

    def item_begin(self, item):
        return item * self.size

    def item_end(self, item):
        return item * self.size + self.size

    def begin(self, tile):
        return 0

    def end(self, tile):
        return 0


teams_of = functools.lru_cache(64)(Teams)  # a call is quicker with the layout of an earlier one


@ev.func
def in_order(x, y, p, q):
    """Keys x and y, and their places p and q, the lesser key first; equal ones stay."""
    return min(x, y), max(x, y), q if y < x else p, p if y < x else q


@ev.func
def merge_path(keys, begin, middle, end, at):
    """How many of the first `at` elements come from keys[begin:middle], if it is merged with keys[middle:end].

    Of equal keys those of the first run come first.
    """
    low = max(at - (end - middle), np.int32(0))
    high = min(at, middle - begin)
    while low < high:
        half = (low + high) >> 1
        if keys[begin + half] <= keys[middle + at - 1 - half]:
            low = half + 1
        else:
            high = half
    return low


@ev.func
def next_of(keys, x, i, middle, y, j, end, last):
    """Take the next of key x, at place i of a run up to `middle`, and key y, at place j of a run up to `end`.

    Returns it, its place, and what i, j, x and y are after that. last: the last place that `keys` has.
    """
    ahead = j >= end or (i < middle and x <= y)
    key, place = x if ahead else y, i if ahead else j
    i, j = i + (1 if ahead else 0), j + (0 if ahead else 1)
    z = keys[min(i if ahead else j, last)]
    return key, place, i, j, z if ahead else x, y if ahead else z


@ev.func
def runs_of(thread, width, used, share):
    """Where two runs, of `width` shares each, begin, meet and end, and the place at which a thread begins to merge."""
    begin = (thread & -(2 * width)) * share
    middle = min(begin + width * share, used)
    return begin, middle, min(middle + width * share, used), thread * share


@ev.func
def parts_of(first, stop, room):
    """How many parts of at most `room` elements a list has, which has some."""
    return np.int32((stop - first - 1) // room) + np.int32(1)


@ev.func
def passes_of(parts):
    """How many times neighbouring runs are merged, two at a time, until so many are one."""
    return np.int32(32) - ev.clz(parts - np.int32(1)) if parts > 1 else 0


@functools.cache
def sorting(size: int, each: int, T: Any, coding: Any) -> Any:
    """Return the kernel that sorts lists of at most size * each elements, or such parts of longer lists.

    size: the threads of a team. each: how many elements a thread has, odd: neighbours then read different banks.
    T, coding: as of `kit.coding`.
    """
    code_of, bits_of = coding
    room = size * each
    # What the teams of a block have lies side by side if each part is a multiple of 16 bytes. Then neighbouring threads
    # have different banks, whatever their teams are.
    A = np.int16 if room % 8 == 0 else np.int32
    last = int(np.iinfo(T).max)
    share = np.int32(each)
    most = np.int32(room)

    @ev.func
    def merge_by_twos(B, item, width, shares, used, codes, places, merged, merged_places):
        """Store what the runs of `codes` and their places are, when they are merged by twos."""
        for tile in B.tiles(item):
            thread = np.int32(tile - B.item_begin(item))
            if thread < shares:
                begin, middle, end, place = runs_of(thread, width, used, share)
                i = begin + merge_path(codes, begin, middle, end, place - begin)
                j = middle + place - i
                x, y = codes[min(i, used - 1)], codes[min(j, used - 1)]
                keys, at = ev.local(each, T), ev.local(each, np.int32)
                for s in range(each):
                    keys[s], at[s], i, j, x, y = next_of(codes, x, i, middle, y, j, end, used - 1)
                for s in range(each):
                    at[s] = places[at[s]]
                for s in range(each):
                    merged[ev.distinct(place + s)] = keys[s]
                    merged_places[ev.distinct(place + s)] = at[s]

    @ev.kernel
    def sort(B, lists, parts, offsets, bits, sorted_, order, spare, spare_order):
        """lists: the list of each item; None: it is the item. parts: which part of the list it is; None: all of it.

        Whole lists go to `sorted_` and `order`. Parts go where the passes begin that merge them, and keep their codes.
        """
        for item in B.items():
            t = item if lists is None else lists[item]
            first, stop = offsets[t], offsets[t + 1]
            aside = False
            if parts is not None:
                aside = passes_of(parts_of(first, stop, room)) % 2 == 1
                first += parts[item] * most
            n = np.int32(min(stop - first, room))
            shares = (n + share - np.int32(1)) // share
            used = shares * share  # behind n are keys that come after all others
            a, b = ev.scratch(room, T, zeros=False), ev.scratch(room, T, zeros=False)
            at_a = ev.scratch(room, A, zeros=False)
            at_b = ev.scratch(room, A, zeros=False)
            for tile in B.tiles(item):  # neighbours read side by side
                thread = np.int32(tile - B.item_begin(item))
                for i in range(each):
                    place = thread + np.int32(i * size)
                    code = code_of(bits[first + min(place, n - 1)])
                    a[ev.distinct(place)] = code if place < n else T(last)
            for tile in B.tiles(item):
                thread = np.int32(tile - B.item_begin(item))
                begin = thread * share
                keys = ev.local(each, T)
                at = ev.local(each, np.int32)
                if thread < shares:
                    for i in range(each):
                        keys[i] = a[begin + i]
                        at[i] = begin + i
                    for turn in range(each):
                        for pair in range(each // 2):
                            i = 2 * pair + turn % 2
                            keys[i], keys[i + 1], at[i], at[i + 1] = in_order(
                                keys[i], keys[i + 1], at[i], at[i + 1]
                            )
                    for i in range(each):
                        b[ev.distinct(begin + i)] = keys[i]
                        at_b[ev.distinct(begin + i)] = at[i]
            width = np.int32(1)  # of runs, in shares
            while width < shares:
                merge_by_twos(B, item, width, shares, used, b, at_b, a, at_a)
                width *= 2
                if width < shares:
                    merge_by_twos(B, item, width, shares, used, a, at_a, b, at_b)
                    width *= 2
            odd = passes_of(shares) % 2 == 1
            for tile in B.tiles(item):
                thread = np.int32(tile - B.item_begin(item))
                for i in range(each):
                    place = thread + np.int32(i * size)
                    if place < n:
                        code = a[place] if odd else b[place]
                        from_ = first + np.int32(at_a[place] if odd else at_b[place])
                        if parts is None:
                            sorted_[ev.distinct(first + place)] = bits_of(code, bits, from_)
                            order[ev.distinct(first + place)] = from_
                        elif aside:
                            spare[ev.distinct(first + place)] = code
                            spare_order[ev.distinct(first + place)] = from_
                        else:
                            sorted_[ev.distinct(first + place)] = code
                            order[ev.distinct(first + place)] = from_

    return sort
