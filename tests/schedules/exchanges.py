"""Schedules of a user's whose groups exchange numbers in setup."""

from __future__ import annotations

from typing import Any

import evenly as ev


class EvenShares:
    """Owner "share": a group takes consecutive tiles, and its members equal parts of their atoms."""

    def launch(self, layout):
        return 1 + layout.num_tiles // (2 * self.block), self.block

    def atoms(self, state, tile):
        layout, start, stop, _, _ = state
        return range(max(layout.begin(tile), start), min(layout.end(tile), stop))

    def tiles(self, state):
        _, _, _, first, last = state
        return range(first, last)


@ev.func
def run_of(ends, size, atom):
    """Which member's run has `atom`: the first whose atoms end after it. size: none of them."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if ends[middle] <= atom:
            low = middle + 1
        else:
            high = middle
    return low


@ev.func
def tiles_ended(layout, first, last, atom):
    """How many tiles end at or before `atom`, which is one of theirs: between `first` and `last`."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if layout.end(middle) <= atom:
            low = middle + 1
        else:
            high = middle
    return low


@ev.schedule
class SharesOfGroups(EvenShares):
    """Each member counts the atoms of a run of tiles; a scan says where they begin, a search who has which."""

    size: int = 8
    block: int = 64
    owner = "share"

    def setup(self, layout):
        g = ev.group(self.size)
        each = (layout.num_tiles + ev.thread_count() - 1) // ev.thread_count()
        first = min(ev.thread_index() * each, layout.num_tiles)
        last = min(first + each, layout.num_tiles)
        count = 0
        for tile in range(first, last):
            count += layout.end(tile) - layout.begin(tile)
        ends = g.gather(g.scan(count))
        firsts = g.gather(first)
        total = g.sum(count)
        stop_tile = g.broadcast(last, self.size - 1)
        base = g.broadcast(layout.begin(min(first, layout.num_tiles - 1)) if first < last else 0, 0)
        share = (total + self.size - 1) // self.size
        start = min(g.rank * share, total)
        stop = min(start + share, total)
        if g.rank == 0:
            mine = firsts[0]
        else:
            there = run_of(ends, self.size, start)
            mine = (
                stop_tile
                if there == self.size
                else tiles_ended(layout, firsts[there], stop_tile, base + start)
            )
        there = run_of(ends, self.size, stop)
        end = (
            stop_tile
            if there == self.size
            else tiles_ended(layout, firsts[there], stop_tile, base + stop)
        )
        goes_on = end < stop_tile and layout.begin(min(end, layout.num_tiles - 1)) < base + stop
        return layout, base + start, base + stop, mine, end + 1 if goes_on else end


@ev.schedule
class DealtByScan:
    """Owner "thread": odd threads have no tiles. A scan numbers the others, and a gather tells who they are."""

    size: int = 16
    block: int = 64
    owner = "thread"

    def launch(self, layout):
        return 1 + layout.num_tiles // (4 * self.block), self.block

    def setup(self, layout):
        g = ev.group(self.size)
        works = 1 - g.rank % 2 if self.size > 1 else 1
        below = g.scan(works, exclusive=True)
        workers = g.sum(works)
        numbers = g.gather(below if works == 1 else 0 - 1)
        return layout, numbers, workers

    def tiles(self, state):
        layout, numbers, workers = state
        g = ev.group(self.size)
        here = numbers[g.rank]
        if here >= 0:
            yield from range(g.index * workers + here, layout.num_tiles, g.count * workers)

    def atoms(self, state, tile):
        layout, _, _ = state
        return range(layout.begin(tile), layout.end(tile))


@ev.schedule
class AtomsByScan:
    """Owner "group": the members take consecutive atoms, as many as a gather of odd weights says."""

    size: int = 4
    block: int = 64
    owner = "group"

    def launch(self, layout):
        return 1 + layout.num_tiles * self.size // (2 * self.block), self.block

    def setup(self, layout):
        g = ev.group(self.size)
        weight = 1 + g.broadcast(g.rank, self.size - 1 - g.rank) % 3
        total = g.sum(weight)
        return layout, g.gather(g.scan(weight)), total

    def tiles(self, state):
        layout, _, _ = state
        return range(ev.group(self.size).index, layout.num_tiles, ev.group(self.size).count)

    def atoms(self, state, tile):
        layout, through, total = state
        rank = ev.group(self.size).rank
        begin, n = layout.begin(tile), layout.end(tile) - layout.begin(tile)
        before = 0 if rank == 0 else through[max(rank - 1, 0)]
        return range(begin + n * before // total, begin + n * through[rank] // total)


SCHEDULES: dict[str, Any] = {
    "shares of groups": SharesOfGroups(),
    "shares of warps": SharesOfGroups(32),
    "shares of 24": SharesOfGroups(24, block=96),
    "shares of blocks": SharesOfGroups(128, block=128),
    "shares of threads": SharesOfGroups(1),
    "dealt by scan": DealtByScan(),
    "dealt by scan, 64": DealtByScan(64),
    "dealt by scan, 48": DealtByScan(48, block=96),
    "atoms by scan": AtomsByScan(),
    "atoms by scan, 5": AtomsByScan(5),
    "atoms by scan, 40": AtomsByScan(40, block=128),
    "atoms by scan, 64": AtomsByScan(64, block=128),
    "atoms by scan, 1": AtomsByScan(1),
}
