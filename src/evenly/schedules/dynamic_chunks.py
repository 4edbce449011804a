"""Chunks of tiles, taken by warps as they become free: for tiles whose work cannot be predicted.

Source: self-scheduling in chunks, Kruskal and Weiss, "Allocating Independent Subtasks on Parallel
Processors" (IEEE Transactions on Software Engineering, 1985). On GPUs, the blocks are persistent, as the
"persistent threads" of Aila and Laine, "Understanding the Efficiency of Ray Traversal on GPUs" (HPG 2009).
"""

from __future__ import annotations

from evenly.gpus.gpu import WARP

from .contract import (
    Schedule,
    ceil_div,
    check_block,
    check_count,
    check_items,
    check_lanes,
    check_vector,
    schedule,
)
from .group_mapped import groups_in_block
from .handed_out import HandedOut


@schedule
class DynamicChunks(HandedOut, Schedule):
    """A warp takes `chunk` consecutive tiles at a time. Each tile gets `size` threads; a block has `block` threads.

    There are at most as many blocks as a GPU runs at once. When a warp is done with its chunk, it takes
    the next one from a counter in device memory. If a tile has more than 32 threads, each such group
    takes its own chunks. size: 1 to `block`. items, lanes, vector: as in GroupMapped.

    Which warp takes which chunk differs between runs, but results do not: values that a kernel
    accumulates over tiles are stored by chunk.

    On target `cpu`, threads take shares of consecutive tiles, of about equal work, as they become
    free, and `chunk` and `size` have no effect. On `python`, and in `partition`, each processor has
    consecutive tiles.
    """

    chunk: int = 64
    size: int = 8
    block: int = 256
    items: int = 4
    lanes: int = 1
    vector: int = 1

    engine = "dynamic"

    @property
    def owner(self):
        return "thread" if self.size == 1 else "group"

    def __post_init__(self):
        check_block("DynamicChunks", self.block)
        check_items("DynamicChunks", self.items)
        check_count("DynamicChunks", "size", self.size, 1, self.block)
        check_count("DynamicChunks", "chunk", self.chunk, 1, 1 << 20)
        check_lanes("DynamicChunks", self.lanes, self.size)
        check_vector("DynamicChunks", self.vector)

    def launch(self, layout):
        chunks = ceil_div(layout.num_tiles, self.chunk)
        return ceil_div(chunks, takers_in_block(self.size, self.block)), self.block


def takers_in_block(size: int, block: int) -> int:
    """Return how many warps, or groups of several warps, take chunks in a block."""
    return block // WARP if size <= WARP else groups_in_block(size, block)
