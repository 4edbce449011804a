"""Tiles taken chunk by chunk by whoever is free: for tiles whose work nobody can tell beforehand.

Source: self-scheduling in chunks, Kruskal and Weiss, "Allocating Independent Subtasks on Parallel
Processors" (IEEE Transactions on Software Engineering, 1985); on GPUs by blocks that stay, the
"persistent threads" of Aila and Laine, "Understanding the Efficiency of Ray Traversal on GPUs" (HPG 2009).
"""

from __future__ import annotations

from evenly.gpus.gpu import WARP

from .contract import Schedule, ceil_div, check_block, check_count, check_items, schedule
from .group_mapped import groups_in_block
from .handed_out import HandedOut


@schedule
class DynamicChunks(HandedOut, Schedule):
    """`chunk` consecutive tiles at a time for a warp, a tile for `size` of its threads, `block` threads a block.

    There are as many blocks as a GPU runs at once, or fewer. Each warp takes the next chunk from a
    counter in device memory when it is done with one; where a tile has more than 32 threads, each
    such group takes chunks of its own. size: 1 to the block. items: as in GroupMapped.

    Who takes what differs from run to run, and no result does: what a kernel accumulates over
    tiles is kept by chunk.

    On target `cpu` threads take shares of consecutive tiles, of about equal work, as they become
    free; `chunk` and `size` are a GPU's. On `python`, and in `partition`, processors have consecutive tiles.
    """

    chunk: int = 64
    size: int = 8
    block: int = 256
    items: int = 4

    engine = "dynamic"

    @property
    def owner(self):
        return "thread" if self.size == 1 else "group"

    def __post_init__(self):
        check_block("DynamicChunks", self.block)
        check_items("DynamicChunks", self.items)
        check_count("DynamicChunks", "size", self.size, 1, self.block)
        check_count("DynamicChunks", "chunk", self.chunk, 1, 1 << 20)

    def launch(self, layout):
        chunks = ceil_div(layout.num_tiles, self.chunk)
        return ceil_div(chunks, takers_in_block(self.size, self.block)), self.block


def takers_in_block(size: int, block: int) -> int:
    """How many of a block take chunks: its warps, or its groups of several warps."""
    return block // WARP if size <= WARP else groups_in_block(size, block)
