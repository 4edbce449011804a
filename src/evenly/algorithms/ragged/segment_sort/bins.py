"""Lists in bins by their lengths: how many there are in each, and which ones."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly import kit

from .blocks import teams_of

EACH = ev.ThreadMapped()  # a thread for each list
SCANNED = ev.NonzeroSplit()  # so that nothing is measured of parts
LOOKED = 16  # lists that a thread looks at to count them, so that their offsets are loaded together
TEAM, PLACED = 256, 8  # threads of a block that numbers lists, and how many neighbours each has
NUMBERED = ev.BlockMapped(TEAM)
BINS, COLUMNS = 10, TEAM + 1  # an odd distance: bins then lie in different banks

# A thread sorts lists of at most so many elements, for codes of 4 and of 8 bytes.
SHORT = {4: 16, 8: 12}
# The threads of a team, and how many elements each has, for codes of 4 and of 8 bytes: what both sort together fits in
# the shared memory of a block. Longer lists than the last team sorts are merged from parts of that length.
TEAMS = {
    4: ((4, 9), (4, 15), (8, 15), (16, 15), (32, 15), (96, 11), (128, 15), (256, 13)),
    8: ((4, 9), (4, 13), (8, 15), (16, 15), (32, 15), (64, 15), (96, 13), (128, 15)),
}


class Expected(NamedTuple):
    """What lists are launched for.

    lists: how many are in each bin at most. The first bin has short lists, the last those longer than `room`. Empty
    lists are in no bin. parts: how many parts of `room` elements the lists of the last bin have in all, at most.
    passes: how many it takes to merge them by twos. every: whether all lists are in one bin.
    """

    lists: tuple[int, ...]
    parts: int
    passes: int
    every: bool


@functools.cache
def surveying(limits: tuple[int, ...]) -> Any:
    """Return the kernel that counts lists by their length, the parts of long ones, and finds the longest list."""
    l0, l1, l2, l3, l4, l5, l6, l7, l8, room = limits

    @ev.kernel
    def survey(E, offsets, most, found, ranges):
        """found[i]: how many lists are longer than limits[i]. Then the parts of the last bin, the longest list, and
        whether all that is as expected.

        most: how many lists there may be in each bin, how many parts, how long a list may be, and how many lists must
        have elements.
        ranges[2 * i]: how many lists are in bins before bin i, and behind it how many are in it; 0 in all bins, if
        there are more of anything than expected.
        """
        a, b, c, d, e, f, g, h, i, j = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        parts, greatest = 0, 0
        last = len(offsets) - 2
        for tile in E.tiles():
            for turn in range(LOOKED):
                t = tile + turn * E.num_tiles
                n = offsets[min(t, last) + 1] - offsets[min(t, last)]
                n = n if t <= last else 0
                a += 1 if n > l0 else 0
                b += 1 if n > l1 else 0
                c += 1 if n > l2 else 0
                d += 1 if n > l3 else 0
                e += 1 if n > l4 else 0
                f += 1 if n > l5 else 0
                g += 1 if n > l6 else 0
                h += 1 if n > l7 else 0
                i += 1 if n > l8 else 0
                j += 1 if n > room else 0
                parts += (n - 1) // room + 1 if n > room else 0
                greatest = max(greatest, n)
        found[0], found[1], found[2], found[3], found[4] = a, b, c, d, e
        found[5], found[6], found[7], found[8], found[9] = f, g, h, i, j
        found[10], found[11] = parts, greatest
        few = (a - b <= most[0]) & (b - c <= most[1]) & (c - d <= most[2]) & (d - e <= most[3])
        few = few & (e - f <= most[4]) & (f - g <= most[5]) & (g - h <= most[6])
        few = few & (h - i <= most[7]) & (i - j <= most[8]) & (j <= most[9])
        few = few & (parts <= most[10]) & (greatest <= most[11]) & (a >= most[12])
        found[12] = 1 if few else 0
        ranges[0], ranges[2], ranges[4], ranges[6], ranges[8] = 0, a - b, a - c, a - d, a - e
        ranges[10], ranges[12], ranges[14], ranges[16], ranges[18] = (
            a - f,
            a - g,
            a - h,
            a - i,
            a - j,
        )
        every = 1 if few else 0
        ranges[1], ranges[3], ranges[5] = every * (a - b), every * (b - c), every * (c - d)
        ranges[7], ranges[9], ranges[11] = every * (d - e), every * (e - f), every * (f - g)
        ranges[13], ranges[15], ranges[17] = every * (g - h), every * (h - i), every * (i - j)
        ranges[19] = every * j

    return survey


@functools.cache
def numbering(limits: tuple[int, ...], P: Any) -> Any:
    """Return the kernel that puts the numbers of lists into bins.

    Longer lists than limits[i], and none than limits[i + 1], are in bin i. P: the type of numbers of lists.
    """
    _, l1, l2, l3, l4, l5, l6, l7, l8, room = limits

    @ev.func
    def bin_of(n):
        i = 0
        i += 1 if n > l1 else 0
        i += 1 if n > l2 else 0
        i += 1 if n > l3 else 0
        i += 1 if n > l4 else 0
        i += 1 if n > l5 else 0
        i += 1 if n > l6 else 0
        i += 1 if n > l7 else 0
        i += 1 if n > l8 else 0
        i += 1 if n > room else 0
        return i

    @ev.func
    def bin_at(offsets, t):
        """The bin of list t; -1 if it has no elements, or if there are fewer lists."""
        last = len(offsets) - 2
        n = offsets[min(t, last) + 1] - offsets[min(t, last)]
        return bin_of(n) if t <= last and n > 0 else -1

    @ev.kernel
    def number(B, offsets, places, ids):
        """Count the lists of each bin that a team has, or put their numbers where its place in the bin is.

        places: (BINS * teams,), the counts if `ids` is None; else where the lists of each bin and team begin in `ids`.
        """
        for item in B.items():
            counts = ev.scratch(BINS * COLUMNS, P)
            for tile in B.tiles(item):
                thread = tile - B.item_begin(item)
                for turn in range(PLACED):
                    i = bin_at(offsets, tile * PLACED + turn)
                    if i >= 0:
                        counts[ev.distinct(i * COLUMNS + thread)] += 1
            for tile in B.tiles(item):
                i = tile - B.item_begin(item)
                if i < BINS:
                    before = P(0) if ids is None else places[i * B.num_items + item]
                    for column in range(TEAM):
                        count = counts[i * COLUMNS + column]
                        counts[ev.distinct(i * COLUMNS + column)] = before
                        before += count
                    if ids is None:
                        places[ev.distinct(i * B.num_items + item)] = before
            if ids is not None:
                for tile in B.tiles(item):
                    thread = tile - B.item_begin(item)
                    for turn in range(PLACED):
                        i = bin_at(offsets, tile * PLACED + turn)
                        if i >= 0:
                            at = i * COLUMNS + thread
                            ids[ev.distinct(counts[at])] = tile * PLACED + turn
                            counts[ev.distinct(at)] += 1

    return number


@ev.kernel
def sum_parts(W, range_, ids, offsets, room, starts):
    """starts: where the parts of each list of the last bin begin, and how many there are. W: an atom for each list."""
    for tile in W.tiles():
        starts[tile] = 0
        for i in W.atoms(tile):
            n = np.int64(0)
            if i < range_[1]:
                t = i if ids is None else ids[range_[0] + i]
                n = np.int64(offsets[t + 1] - offsets[t])
            starts[i + 1] = ev.scan((n + room - 1) // room)


@ev.kernel
def number_parts(E, range_, ids, starts, list_of, part_of):
    """The list of each part, and which of its parts it is. E: the parts. list_of: -1 where there are fewer."""
    for k in E.tiles():
        i, last = 0, len(starts) - 2
        while i < last:
            half = (i + last + 1) >> 1
            i, last = half if starts[half] <= k else i, last if starts[half] <= k else half - 1
        list_of[k] = -1
        if k < starts[i + 1]:
            list_of[k] = i if ids is None else ids[range_[0] + i]
            part_of[k] = k - starts[i]


class Found(NamedTuple):
    """Arrays that a survey stores to, and parts of them: a range for each bin."""

    counts: Any
    ranges: Any
    of_bins: tuple[Any, ...]


class Memory(NamedTuple):
    """What is kept between calls for so many lists, by one thread on one stream.

    expected: an `Expected`, and the same on the device; empty, if there was no call. free: arrays that no call uses. (A
    call is quicker with arrays of an earlier one.)
    """

    expected: list[Any]
    free: list[Found]


@functools.lru_cache(64)
def memory(place: Any, thread: int, limits: tuple[int, ...], lists: int) -> Memory:
    return Memory([], [])


def surveyed(R: Any, limits: tuple[int, ...], target: str) -> Iterator[tuple[Expected, Any]]:
    """Yield what lists R, of which there are some, are launched for, and the range of each bin (`surveying`).

    First that is what as many lists were at an earlier call, so that a GPU has its work before the host knows what
    these are. If they are more, there is nothing in the ranges, and what they are follows.
    """
    known, free = memory(kit.place(R.offsets), get_ident(), limits, R.num_tiles)
    found = free.pop() if free else new_arrays(R)
    survey = surveying((0, *limits))[EACH].on(target)
    args = kit.each(-(-R.num_tiles // LOOKED)), R.offsets
    if not known:
        survey(*args, kit.zeros(R.offsets, (BINS + 3,), np.int64), found.counts, found.ranges)
        known[:] = expectation(R, limits, kit.to_numpy(found.counts).tolist())
    as_expected = False
    while not as_expected:
        expected, most = known
        survey(*args, most, found.counts, found.ranges)
        answer = kit.ask(found.counts)
        yield expected, found.of_bins
        *counts, as_expected = answer().tolist()
        if not as_expected:
            known[:] = expectation(R, limits, counts)
    free.append(found)


def new_arrays(R: Any) -> Found:
    counts = kit.empty(R.offsets, (BINS + 3,), np.int64)
    ranges = kit.empty(R.offsets, (2 * BINS,), kit.index_type(R.num_tiles))
    return Found(counts, ranges, tuple(kit.part(ranges, 2 * i, 2 * i + 2) for i in range(BINS)))


def expectation(R: Any, limits: tuple[int, ...], found: list[int]) -> tuple[Expected, Any]:
    """Return what to expect of as many lists as R has, of which that was found: somewhat more, and as many passes."""
    longer, (parts, greatest), room = found[:BINS], found[BINS : BINS + 2], limits[-1]
    counts = [more - fewer for more, fewer in zip(longer, [*longer[1:], 0], strict=True)]
    every = R.num_tiles in counts
    lists = counts if every else [*map(somewhat_more, counts)]
    passes = (max(greatest - 1, 0) // room).bit_length()
    expected = Expected(tuple(lists), somewhat_more(parts), passes, every)
    most = [*lists, expected.parts, room << passes, R.num_tiles if every else 0]
    return expected, kit.to_where(R.offsets, np.array(most, np.int64))


def somewhat_more(count: int) -> int:
    return count and count + count // 8 + 32


class Bins:
    """The lists R in bins whose limits are given, ascending. expected, ranges: as `surveyed` yields them."""

    def __init__(
        self, R: Any, limits: tuple[int, ...], expected: Expected, ranges: Any, target: str
    ) -> None:
        self.R, self.limits, self.target = R, limits, target
        self.expected, self.ranges = expected, ranges

    @functools.cached_property
    def ids(self) -> Any:
        """The numbers of all lists that have elements, bin by bin; None: all lists are in one bin."""
        if self.expected.every:
            return None
        offsets, lists = self.R.offsets, self.R.num_tiles
        teams = teams_of(-(-lists // (TEAM * PLACED)), TEAM)
        P: Any = kit.index_type(lists).type
        number = numbering((0, *self.limits), P)[NUMBERED].on(self.target)
        counts = kit.empty(offsets, (BINS * teams.num_items,), P)
        ids = kit.empty(offsets, (lists,), P)
        number(teams, offsets, counts, None)
        number(teams, offsets, ev.prefix_sum(counts, include_initial=True, dtype=P), ids)
        return ids

    def parts(self) -> tuple[Any, Any]:
        """Return the list of each part of the lists of the last bin, and which of its parts it is."""
        count, parts, room = self.expected.lists[-1], self.expected.parts, np.int64(self.limits[-1])
        offsets, given = self.R.offsets, (self.ranges[-1], self.ids)
        starts = kit.empty(offsets, (count + 1,), kit.index_type(parts))
        sum_parts[SCANNED].on(self.target)(kit.whole(count), *given, offsets, room, starts)
        list_of = kit.empty(offsets, (parts,), kit.index_type(self.R.num_tiles))
        # As wide as positions: where a part begins is a multiple of its number.
        part_of = kit.empty(offsets, (parts,), kit.index_type(self.R.num_atoms))
        number = number_parts[EACH].on(self.target)
        number(kit.each(parts), *given, starts, list_of, part_of)
        return list_of, part_of
