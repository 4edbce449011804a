"""Tiles and atoms divided evenly among blocks, whose lanes exchange the values of their atoms.

The safe choice for any distribution of tile lengths. Source: Merrill and Garland,
"Merge-Based Parallel Sparse Matrix-Vector Multiplication" (SC 2016); loads in one order and folds in
another as in Baxter's moderngpu.
"""

from __future__ import annotations

from .contract import check_count, check_min_blocks, schedule
from .work_oriented import WorkOriented


@schedule
class MergePath(WorkOriented):
    """`items` (at most 64) tiles and atoms a thread, `block` threads a block that work together.

    min_blocks: that a multiprocessor must hold, the second of CUDA's launch bounds; few leave a
    thread registers for all its loads at once. 0: as many as it can hold (2,048 threads of 32 registers) where
    at most 4 items read so little that it fits, and do no more with it than arithmetic, as in an SpMV of 4-byte
    values; else the compiler decides.

    carveout: the shared memory that a multiprocessor should have, in percent of the most that it can have
    (CUDA's preferred shared memory carveout, a hint that is rounded). The rest of its fast memory is L1
    cache, where blocks, and fewer of them, find more of what they gather. A block takes 2 bytes an atom, and
    1 KiB; and those of the values where `items` is not 1, 2, 4 or 8, or they have more than 8 bytes.
    -1: the driver decides.

    Where there are no blocks (the CPU) it is WorkOriented.
    """

    block: int = 256
    items: int = 3
    min_blocks: int = 0
    carveout: int = -1

    owner = "share"
    engine = "merge"
    most_items = 64  # a thread has a bit for each

    def __post_init__(self):
        WorkOriented.__post_init__(self)
        check_min_blocks("MergePath", self.min_blocks, self.block)
        check_count("MergePath", "carveout", self.carveout, -1, 100)
