"""Lists in bins by their lengths: how many there are in each, and which ones."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly import kit

EACH = ev.ThreadMapped()  # a thread for each list
EVENLY = ev.MergePath()  # so that nothing is measured of parts
SHORT = 16  # lists of at most so many elements are sorted by counting

# The threads of a team, and how many elements each has, for codes of 4 and of 8 bytes: what both sort together fits in
# the shared memory of a block. Longer lists than the last team sorts are merged from parts of that length.
TEAMS = {
    4: ((4, 9), (4, 15), (8, 15), (16, 15), (32, 15), (96, 11), (128, 15), (256, 13)),
    8: ((4, 9), (4, 13), (8, 15), (16, 15), (32, 15), (64, 15), (96, 13), (128, 15)),
}


class Survey(NamedTuple):
    """lists: how many are in each bin. The first bin has short lists, the last those longer than `room`.

    parts: how many parts of `room` elements the lists of the last bin have in all. greatest: the longest list.
    """

    lists: tuple[int, ...]
    parts: int
    greatest: int


@functools.cache
def surveying(limits: tuple[int, ...]) -> Any:
    """Return the kernel that counts the lists of each bin, and the parts of long ones."""
    l0, l1, l2, l3, l4, l5, l6, l7, room = limits

    @ev.kernel
    def survey(E, offsets, found):
        a, b, c, d, e, f, g, h, i, j = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        parts, greatest = 0, 0
        for t in E.tiles():
            n = offsets[t + 1] - offsets[t]
            a += 1 if n <= l0 else 0
            b += 1 if l0 < n <= l1 else 0
            c += 1 if l1 < n <= l2 else 0
            d += 1 if l2 < n <= l3 else 0
            e += 1 if l3 < n <= l4 else 0
            f += 1 if l4 < n <= l5 else 0
            g += 1 if l5 < n <= l6 else 0
            h += 1 if l6 < n <= l7 else 0
            i += 1 if l7 < n <= room else 0
            j += 1 if room < n else 0
            parts += (n - 1) // room + 1 if room < n else 0
            greatest = max(greatest, n)
        found[0], found[1], found[2], found[3], found[4] = a, b, c, d, e
        found[5], found[6], found[7], found[8], found[9] = f, g, h, i, j
        found[10], found[11] = parts, greatest

    return survey


@ev.kernel
def choose(W, offsets, ids, least, most, out):
    """The lists of `ids`, None: all, that have from `least` to `most` elements, in order."""
    for tile in W.tiles():
        for k in W.atoms(tile):
            t = k if ids is None else ids[k]
            n = np.int64(offsets[t + 1] - offsets[t])
            chosen = least <= n and n <= most
            place = ev.rank(chosen)
            if chosen:
                out[place] = t


@ev.kernel
def count_parts(E, lists, offsets, room, counts):
    for i in E.tiles():
        t = i if lists is None else lists[i]
        counts[i] = (np.int64(offsets[t + 1] - offsets[t]) + room - 1) // room


@ev.kernel
def number_parts(P, lists, list_of, part_of):
    """The list of each part, and which of its parts it is. P: a tile for each list, an atom for each part."""
    for i in P.tiles():
        t = i if lists is None else lists[i]
        for k in P.atoms(i):
            list_of[k] = t
            part_of[k] = k - P.begin(i)


class Bins:
    """The lists R in bins whose limits are given, ascending."""

    def __init__(self, R: Any, limits: tuple[int, ...], target: str) -> None:
        self.R, self.limits, self.target = R, limits, target
        found = kit.empty(R.offsets, (12,), np.int64)
        surveying(limits)[EACH].on(target)(kit.each(R.num_tiles), R.offsets, found)
        *lists, parts, greatest = kit.to_numpy(found).tolist()
        self.survey = Survey(tuple(lists), parts, greatest)
        self._longer: Any = None

    def lists(self, i: int) -> Any:
        """Return the numbers of the lists of bin i, 1 or more, in order; None: all lists are in it."""
        of = self.survey.lists
        if of[i] == self.R.num_tiles:
            return None
        if self._longer is None and of[0]:
            self._longer = self._chosen(None, self.R.num_tiles, sum(of[1:]), self.limits[0] + 1)
        if sum(of[1:]) == of[i]:
            return self._longer
        most = self.limits[i] if i < len(self.limits) else self.survey.greatest
        count = sum(of[1:]) if of[0] else self.R.num_tiles
        return self._chosen(self._longer, count, of[i], self.limits[i - 1] + 1, most)

    def _chosen(self, ids: Any, count: int, found: int, least: int, most: int | None = None) -> Any:
        out = kit.empty(self.R.offsets, (found,), kit.index_type(self.R.num_tiles))
        bounds = np.int64(least), np.int64(self.survey.greatest if most is None else most)
        choose.on(self.target)(kit.whole(count), self.R.offsets, ids, *bounds, out)
        return out

    def parts(self) -> tuple[Any, Any]:
        """Return the list of each part of the lists of the last bin, and which of its parts it is."""
        lists, (*_, count) = self.lists(len(self.limits)), self.survey.lists
        offsets, room = self.R.offsets, np.int64(self.limits[-1])
        counts = kit.empty(offsets, (count,), np.int64)
        count_parts[EACH].on(self.target)(kit.each(count), lists, offsets, room, counts)
        starts = ev.prefix_sum(
            counts, include_initial=True, dtype=kit.index_type(self.survey.parts)
        )
        of = ev.ragged(starts, num_atoms=self.survey.parts, check=False)
        list_of = kit.empty(offsets, (self.survey.parts,), kit.index_type(self.R.num_tiles))
        # As wide as positions: where a part begins is a multiple of its number.
        part_of = kit.empty(offsets, (self.survey.parts,), kit.index_type(self.R.num_atoms))
        number_parts[EVENLY].on(self.target)(of, lists, list_of, part_of)
        return list_of, part_of
