"""One tile for each group of threads: for tiles of medium and large length. Warps and blocks are groups.

Source: Osama, Porumbescu, Owens (PPoPP 2023), section 5.2; for SpMV the "vector" kernel of
Bell and Garland (SC 2009). The flattened form is their section 5.2.3.
"""

from __future__ import annotations

from evenly.errors import InputError
from evenly.gpus.gpu import WARP
from evenly.language.func import func
from evenly.language.names import group, thread_count, thread_index

from .contract import (
    Schedule,
    ceil_div,
    check_block,
    check_count,
    check_items,
    check_lanes,
    check_run,
    check_vector,
    schedule,
)


@func
def ceil_share(n, count):
    """Return an equal share of `n` for each of `count`, rounded up."""
    return (n + count - 1) // count


def groups_in_block(size: int, block: int) -> int:
    """Return how many groups of `size` threads a block holds.

    Small groups never straddle two warps, and large groups have whole warps. A block has 15 named
    barriers beside its own, so it holds at most 15 groups of several warps (see device/group.cuh).
    """
    if size <= WARP:
        return (block // WARP) * (WARP // size)
    return min(15, block // (ceil_div(size, WARP) * WARP))


@schedule
class GroupMapped(Schedule):
    """One tile for each group of `size` threads, from 2 to `block`; a block has `block` threads.

    `flatten`: a group takes `size` consecutive tiles and strides over all their atoms together. It
    finds the tile of each atom by binary search. Short tiles then leave no thread of it idle.

    `items`: how many of its atoms each thread loads at once, as in ThreadMapped; not with `flatten`.

    `run`: 1, 2, 4 or 8, a divisor of `items`: how many of these atoms are adjacent. One instruction then loads
    16 bytes of each array that the atom indexes. It suits long tiles, in which a thread has whole runs. Not with
    `flatten`.

    `lanes`, `vector`: for kernels with a dense axis, `ev.lanes` around a loop over atoms. `lanes` threads of a group
    lie along it, 1, 2, 4, 8, 16 or 32, a divisor of `size`; the others share a tile's atoms. Each thread has `vector`
    columns at a time, 1 to 32, and reads the atoms once for them. Where columns lie side by side in memory, and each
    row begins at a multiple of 16 bytes, one instruction loads 16 bytes of them. Not with `flatten`.
    """

    size: int = 32
    block: int = 256
    flatten: bool = False
    items: int = 4
    run: int = 1
    lanes: int = 1
    vector: int = 1

    covers = True

    @property
    def owner(self):
        return "share" if self.flatten else "group"

    @property
    def engine(self):
        return "flatten" if self.flatten else "owned"

    def __post_init__(self):
        check_block(type(self).__name__, self.block)
        check_count(type(self).__name__, "size", self.size, 2, self.block)
        check_items(type(self).__name__, self.items)
        check_run(type(self).__name__, self.run, self.items)
        check_lanes(type(self).__name__, self.lanes, self.size)
        check_vector(type(self).__name__, self.vector)
        if self.flatten and self.lanes * self.vector > 1:
            given = f"flatten=True, lanes={self.lanes}, vector={self.vector}"
            hint = "a flattened group walks the atoms of several tiles; leave out flatten"
            expected = "lanes=1, vector=1 with flatten=True"
            raise InputError(type(self).__name__, expected=expected, given=given, hint=hint)

    def launch(self, layout):
        groups = ceil_div(layout.num_tiles, self.size) if self.flatten else layout.num_tiles
        return ceil_div(groups, groups_in_block(self.size, self.block)), self.block

    def setup(self, layout):
        if not self.flatten:
            return layout
        # If lanes run in sequence (the CPU), flattened groups are ranges of tiles.
        share = ceil_share(layout.num_tiles, thread_count())
        start = min(thread_index() * share, layout.num_tiles)
        return layout, start, min(start + share, layout.num_tiles)

    def tiles(self, state):
        if self.flatten:
            return range(state[1], state[2])
        return range(group(self.size).index, state.num_tiles, group(self.size).count)

    def atoms(self, state, tile):
        if self.flatten:
            return range(state[0].begin(tile), state[0].end(tile))
        return range(state.begin(tile) + group(self.size).rank, state.end(tile), self.size)


class _FixedSize(Schedule):
    """GroupMapped with a size that is not a parameter."""

    owner = "group"
    engine = "owned"
    covers = True
    flatten = False

    __post_init__ = GroupMapped.__post_init__
    launch = GroupMapped.launch
    tiles = GroupMapped.tiles
    atoms = GroupMapped.atoms


@schedule
class WarpMapped(_FixedSize):
    """One tile for each warp of 32 threads; a block has `block` threads.

    items, run, lanes, vector: as in GroupMapped.
    """

    block: int = 256
    items: int = 4
    run: int = 1
    lanes: int = 1
    vector: int = 1

    size = WARP


@schedule
class BlockMapped(_FixedSize):
    """One tile for each block of `block` threads. items, run, lanes, vector: as in GroupMapped."""

    block: int = 256
    items: int = 4
    run: int = 1
    lanes: int = 1
    vector: int = 1

    @property
    def size(self):
        return self.block
