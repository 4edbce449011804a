"""Atoms divided evenly among blocks, regardless of tiles: for many empty tiles, and work in atoms only.

Source: the "nonzero split" of Baxter's moderngpu and of Dalton, Olson, Bell (2015).
"""

from __future__ import annotations

from evenly.errors import InputError
from evenly.language.func import func
from evenly.language.names import thread_count, thread_index

from .contract import (
    Schedule,
    ceil_div,
    check_block,
    check_count,
    check_lanes,
    check_min_blocks,
    check_run,
    check_vector,
    schedule,
)


@func
def tiles_ended(layout, atom):
    """Return how many tiles end at or before `atom`."""
    low = 0
    high = layout.num_tiles
    while low < high:
        middle = (low + high) // 2
        if layout.end(middle) <= atom:
            low = middle + 1
        else:
            high = middle
    return low


@schedule
class NonzeroSplit(Schedule):
    """`items` atoms for each thread; the `block` threads of a block work together.

    min_blocks: how many blocks a multiprocessor must hold, the second of CUDA's launch bounds. 0: the compiler
    decides.
    run: 1, 2, 4 or 8, a divisor of `items`: how many of a thread's atoms are adjacent. With more than 1, one
    instruction loads 16 bytes of each array that the atom indexes, and values change hands through shared memory. It
    suits many atoms in tiles of any length, where neighbouring atoms gather from nearby. A pass that reads nothing at
    its atoms, needs its tile, has effects or scans, is run as with 1; but one that only stores at its atoms follows the
    pass before it where a tile lies within a block.
    hypersparse: for layouts whose tiles mostly have no atoms. On a GPU blocks walk a list of the tiles that have some,
    and read a bit for each of the others. A plan makes the list once, other calls make it each time, by five short
    kernels. A pass without accumulators, or that scans, is run without it.

    lanes, vector: as in MergePath; not with `run` or `hypersparse`.
    """

    block: int = 256
    items: int = 4
    min_blocks: int = 0
    run: int = 1
    hypersparse: bool = False
    lanes: int = 1
    vector: int = 1

    owner = "share"
    engine = "nonzero"

    def __post_init__(self):
        check_block("NonzeroSplit", self.block)
        check_count("NonzeroSplit", "items", self.items, 1, 64)
        check_min_blocks("NonzeroSplit", self.min_blocks, self.block)
        check_run("NonzeroSplit", self.run, self.items)
        check_lanes("NonzeroSplit", self.lanes, self.block)
        check_vector("NonzeroSplit", self.vector)
        if self.lanes * self.vector > 1 and (self.run > 1 or self.hypersparse):
            raise InputError(
                "NonzeroSplit",
                expected="run=1, hypersparse=False with lanes or vector",
                given=f"run={self.run}, hypersparse={self.hypersparse}, lanes={self.lanes}, vector={self.vector}",
                hint="a team along a dense axis walks its atoms one after the other, in all tiles",
            )

    def launch(self, layout):
        share = self.block * self.items
        # Blocks also divide the empty tiles: launch enough of them for a layout of almost only empty tiles.
        tiles = (2 if self.hypersparse else 8) * share
        return max(
            1, ceil_div(layout.num_atoms, share), ceil_div(layout.num_tiles, tiles)
        ), self.block

    def setup(self, layout):
        share = (layout.num_atoms + thread_count() - 1) // thread_count()
        start = min(thread_index() * share, layout.num_atoms)
        stop = min(start + share, layout.num_atoms)
        # A thread has the empty tiles at the end of its atoms. The first one also has those at the start.
        first = 0 if thread_index() == 0 else tiles_ended(layout, start)
        last = tiles_ended(layout, stop)
        partial = last < layout.num_tiles and stop > layout.begin(min(last, layout.num_tiles - 1))
        return layout, first, start, last + (1 if partial else 0), stop

    def tiles(self, state):
        return range(state[1], state[3])

    def atoms(self, state, tile):
        layout, _, start, _, stop = state
        return range(max(layout.begin(tile), start), min(layout.end(tile), stop))
