"""A tile a group of threads: for tiles of middling and long length. Warps and blocks are groups.

Source: Osama, Porumbescu, Owens (PPoPP 2023), section 5.2; for SpMV the "vector" kernel of
Bell and Garland (SC 2009). The flattened form is their section 5.2.3.
"""

from __future__ import annotations

from evenly.gpus.gpu import WARP
from evenly.language.func import func
from evenly.language.names import group, thread_count, thread_index

from .contract import Schedule, ceil_div, check_block, check_count, check_items, check_run, schedule


@func
def ceil_share(n, count):
    """An equal share of `n` for each of `count`, rounded up."""
    return (n + count - 1) // count


def groups_in_block(size: int, block: int) -> int:
    """How many groups of `size` threads a block holds.

    Small groups never straddle two warps, large ones have whole warps; a block has 15 named
    barriers beside its own, so no more than 15 groups of several warps (see device/group.cuh).
    """
    if size <= WARP:
        return (block // WARP) * (WARP // size)
    return min(15, block // (ceil_div(size, WARP) * WARP))


@schedule
class GroupMapped(Schedule):
    """A tile a group of `size` threads, from 2 to the block, `block` threads a block.

    `flatten`: a group takes `size` consecutive tiles and strides over all their atoms
    together, each atom's tile found by binary search: short tiles no longer idle it.

    `items`: how many of its atoms each thread asks for at once, as in ThreadMapped; not with `flatten`.

    `run`: 1, 2, 4 or 8, a divisor of `items`: so many of them lie side by side, and one instruction loads 16 bytes
    of each array that the atom indexes: for long tiles, of which a thread has whole runs. Not with `flatten`.
    """

    size: int = 32
    block: int = 256
    flatten: bool = False
    items: int = 4
    run: int = 1

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

    def launch(self, layout):
        groups = ceil_div(layout.num_tiles, self.size) if self.flatten else layout.num_tiles
        return ceil_div(groups, groups_in_block(self.size, self.block)), self.block

    def setup(self, layout):
        if not self.flatten:
            return layout
        # Where lanes run in sequence (the CPU), flattened groups are ranges of tiles.
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
    """GroupMapped with a size that is no parameter."""

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
    """A tile a warp of 32 threads, `block` threads a block. items, run: as in GroupMapped."""

    block: int = 256
    items: int = 4
    run: int = 1

    size = WARP


@schedule
class BlockMapped(_FixedSize):
    """A tile a block of `block` threads. items, run: as in GroupMapped."""

    block: int = 256
    items: int = 4
    run: int = 1

    @property
    def size(self):
        return self.block
