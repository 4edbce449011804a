"""Lists in bins by their lengths: how many there are in each, and which ones."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly import kit

from .blocks import teams_of

EACH = ev.ThreadMapped()  # a thread for each list
EVENLY, SCANNED = ev.MergePath(), ev.NonzeroSplit()  # so that nothing is measured of parts
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


class Survey(NamedTuple):
    """lists: how many are in each bin. The first bin has short lists, the last those longer than `room`.

    Empty lists are in no bin. parts: how many parts of `room` elements the lists of the last bin have in all. greatest:
    the longest list.
    """

    lists: tuple[int, ...]
    parts: int
    greatest: int


@functools.cache
def surveying(limits: tuple[int, ...]) -> Any:
    """Return the kernel that counts lists by their length, the parts of long ones, and finds the longest list."""
    l0, l1, l2, l3, l4, l5, l6, l7, l8, room = limits

    @ev.kernel
    def survey(E, offsets, found):
        """found[i]: how many lists are longer than limits[i]. Then the parts of the last bin, and the longest list."""
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
def sum_parts(W, lists, offsets, room, starts):
    """starts: where the parts of each list begin among all, and how many there are. W: an atom for each list."""
    for tile in W.tiles():
        starts[tile] = 0
        for i in W.atoms(tile):
            t = i if lists is None else lists[i]
            n = np.int64(offsets[t + 1] - offsets[t])
            starts[i + 1] = ev.scan((n + room - 1) // room)


@ev.kernel
def number_parts(P, lists, list_of, part_of):
    """The list of each part, and which of its parts it is. P: a tile for each list, an atom for each part."""
    for i in P.tiles():
        t = i if lists is None else lists[i]
        for k in P.atoms(i):
            list_of[k] = t
            part_of[k] = k - P.begin(i)


class Bins:
    """The lists R in bins whose limits are given, ascending; there are lists."""

    def __init__(self, R: Any, limits: tuple[int, ...], target: str) -> None:
        self.R, self.limits, self.target = R, limits, target
        found = kit.empty(R.offsets, (BINS + 2,), np.int64)
        survey = surveying((0, *limits))
        survey[EACH].on(target)(kit.each(-(-R.num_tiles // LOOKED)), R.offsets, found)
        self._surveyed = found

    @functools.cached_property
    def survey(self) -> Survey:
        """What was found; it is read back here, and a GPU is waited for."""
        *longer, parts, greatest = kit.to_numpy(self._surveyed).tolist()
        counts = tuple(more - fewer for more, fewer in zip(longer, [*longer[1:], 0], strict=True))
        return Survey(counts, parts, greatest)

    def lists(self, i: int) -> Any:
        """Return the numbers of the lists of bin i, in order; None: all lists are in it."""
        if self.survey.lists[i] == self.R.num_tiles:
            return None
        first = sum(self.survey.lists[:i])
        return kit.part(self._ids, first, first + self.survey.lists[i])

    @functools.cached_property
    def _ids(self) -> Any:
        """The numbers of all lists that have elements, bin by bin."""
        offsets, lists = self.R.offsets, self.R.num_tiles
        teams = teams_of(-(-lists // (TEAM * PLACED)), TEAM)
        P: Any = kit.index_type(lists).type
        number = numbering((0, *self.limits), P)[NUMBERED].on(self.target)
        counts = kit.empty(offsets, (BINS * teams.num_items,), P)
        ids = kit.empty(offsets, (sum(self.survey.lists),), P)
        number(teams, offsets, counts, None)
        number(teams, offsets, ev.prefix_sum(counts, include_initial=True, dtype=P), ids)
        return ids

    def parts(self) -> tuple[Any, Any]:
        """Return the list of each part of the lists of the last bin, and which of its parts it is."""
        lists, (*_, count) = self.lists(BINS - 1), self.survey.lists
        offsets, room = self.R.offsets, np.int64(self.limits[-1])
        starts = kit.empty(offsets, (count + 1,), kit.index_type(self.survey.parts))
        sum_parts[SCANNED].on(self.target)(kit.whole(count), lists, offsets, room, starts)
        of = ev.ragged(starts, num_atoms=self.survey.parts, check=False)
        list_of = kit.empty(offsets, (self.survey.parts,), kit.index_type(self.R.num_tiles))
        # As wide as positions: where a part begins is a multiple of its number.
        part_of = kit.empty(offsets, (self.survey.parts,), kit.index_type(self.R.num_atoms))
        number_parts[EVENLY].on(self.target)(of, lists, list_of, part_of)
        return list_of, part_of
