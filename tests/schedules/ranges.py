"""Schedules of a user's, each with another shape of ranges: steps, chunks, strides, loops without end."""

from __future__ import annotations

from typing import Any

import evenly as ev


class OfThreads:
    def launch(self, layout):
        return 1 + layout.num_tiles // (3 * self.block), self.block

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


class OfGroups:
    def launch(self, layout):
        return 1 + layout.num_tiles * self.size // (3 * self.block), self.block

    def atoms(self, layout, tile):
        return range(layout.begin(tile) + ev.group(self.size).rank, layout.end(tile), self.size)


@ev.schedule
class Descending(OfThreads):
    """Every n-th tile, from the last to the first; each tile's last atom first."""

    block: int = 64
    owner = "thread"

    def tiles(self, layout):
        return range(layout.num_tiles - 1 - ev.thread_index(), -1, 0 - ev.thread_count())

    def atoms(self, layout, tile):
        return range(layout.end(tile) - 1, layout.begin(tile) - 1, -1)


@ev.schedule
class CyclicChunks(OfThreads):
    """Chunks of consecutive tiles, dealt to the threads in turn."""

    chunk: int = 3
    block: int = 64
    items: int = 4
    owner = "thread"

    def tiles(self, layout):
        for first in range(
            ev.thread_index() * self.chunk, layout.num_tiles, ev.thread_count() * self.chunk
        ):
            yield from range(first, min(first + self.chunk, layout.num_tiles))


@ev.schedule
class BlockStride(OfThreads):
    """A block takes consecutive tiles, and its threads every n-th of them."""

    block: int = 64
    owner = "thread"

    def tiles(self, layout):
        g = ev.group(32)
        share = (layout.num_tiles + g.count - 1) // g.count
        start = g.index * share
        return range(start + g.rank, min(start + share, layout.num_tiles), 32)


@ev.schedule
class WithoutEnd(OfThreads):
    """A loop without a bound, which a condition ends."""

    block: int = 64
    owner = "thread"

    def tiles(self, layout):
        tile = ev.thread_index()
        while True:
            if tile >= layout.num_tiles:
                break
            yield tile
            tile += ev.thread_count()


@ev.schedule
class BackInChunks(OfThreads):
    """Chunks from the last to the first, each of them downwards, and halves of tiles: the later one first."""

    chunk: int = 4
    block: int = 64
    items: int = 3
    owner = "thread"

    def tiles(self, layout):
        stop = layout.num_tiles - ev.thread_index() * self.chunk
        while stop > 0:
            yield from range(stop - 1, max(stop - self.chunk, 0) - 1, -1)
            stop -= ev.thread_count() * self.chunk

    def atoms(self, layout, tile):
        middle = (layout.begin(tile) + layout.end(tile)) // 2
        for half in range(2):
            start = layout.begin(tile) if half else middle
            yield from range(start, middle if half else layout.end(tile))


@ev.schedule
class OneByOne(OfThreads):
    """Single tiles and single atoms, some of them under a condition."""

    block: int = 64
    owner = "thread"

    def tiles(self, layout):
        for tile in range(layout.num_tiles):
            if tile % ev.thread_count() == ev.thread_index():
                yield tile

    def atoms(self, layout, tile):
        k = layout.begin(tile)
        while k < layout.end(tile):
            yield k
            k += 1


@ev.schedule
class ChunksOfGroups(OfGroups):
    """Chunks of consecutive tiles, dealt to groups in turn; members take runs of atoms."""

    size: int = 4
    chunk: int = 3
    run: int = 2
    items: int = 2
    block: int = 64
    owner = "group"

    def tiles(self, layout):
        g = ev.group(self.size)
        first = g.index * self.chunk
        while first < layout.num_tiles:
            yield from range(first, min(first + self.chunk, layout.num_tiles))
            first += g.count * self.chunk


@ev.schedule
class RunsOfMembers(ChunksOfGroups):
    """Each member takes runs of two consecutive atoms, in turn, and the state says who it is."""

    run: int = 1

    def setup(self, layout):
        g = ev.group(self.size)
        return layout, g.index, g.rank

    def tiles(self, state):
        layout, index, rank = state
        for i in range(index + rank, layout.num_tiles + rank, ev.group(self.size).count):
            yield i - rank

    def atoms(self, state, tile):
        layout, _, rank = state
        for start in range(layout.begin(tile) + 2 * rank, layout.end(tile), 2 * self.size):
            yield from range(start, min(start + 2, layout.end(tile)))


@ev.schedule
class DescendingGroups(OfGroups):
    size: int = 40
    block: int = 128
    owner = "group"

    def tiles(self, layout):
        g = ev.group(self.size)
        return range(layout.num_tiles - 1 - g.index, -1, 0 - g.count)

    def atoms(self, layout, tile):
        g = ev.group(self.size)
        return range(layout.end(tile) - 1 - g.rank, layout.begin(tile) - 1, 0 - self.size)


@ev.func
def tiles_ended(layout, atom):
    """How many tiles end at or before `atom`."""
    low, high = 0, layout.num_tiles
    while low < high:
        middle = (low + high) // 2
        if layout.end(middle) <= atom:
            low = middle + 1
        else:
            high = middle
    return low


@ev.schedule
class EvenAtoms:
    """Atoms divided evenly among threads; a thread looks for its tiles one by one, until its atoms end."""

    block: int = 64
    owner = "share"

    def launch(self, layout):
        return 1 + layout.num_atoms // (8 * self.block), self.block

    def setup(self, layout):
        share = (layout.num_atoms + ev.thread_count() - 1) // ev.thread_count()
        start = min(ev.thread_index() * share, layout.num_atoms)
        stop = min(start + share, layout.num_atoms)
        return layout, start, stop, 0 if ev.thread_index() == 0 else tiles_ended(layout, start)

    def tiles(self, state):
        layout, _, stop, tile = state
        while tile < layout.num_tiles and layout.begin(tile) <= stop:
            if layout.begin(tile) < stop or layout.end(tile) == stop:
                yield tile
            tile += 1

    def atoms(self, state, tile):
        layout, start, stop, _ = state
        return range(max(layout.begin(tile), start), min(layout.end(tile), stop))


SCHEDULES: dict[str, Any] = {
    "descending": Descending(),
    "cyclic chunks": CyclicChunks(),
    "chunks of one": CyclicChunks(1),
    "block stride": BlockStride(),
    "without end": WithoutEnd(),
    "back in chunks": BackInChunks(),
    "one by one": OneByOne(),
    "chunks of groups": ChunksOfGroups(run=1),
    "chunks of groups of 40": ChunksOfGroups(40, run=1, block=96),
    "runs of members": RunsOfMembers(),
    "runs of members of 64": RunsOfMembers(64, block=128),
    "descending groups": DescendingGroups(),
    "even atoms": EvenAtoms(),
}
