"""Tiles and atoms divided evenly among blocks, whose lanes exchange the values of their atoms.

It is the safe choice for any distribution of tile lengths. Source: Merrill and Garland,
"Merge-Based Parallel Sparse Matrix-Vector Multiplication" (SC 2016). The loads are in another order than the
additions, as in Baxter's moderngpu.
"""

from __future__ import annotations

from .contract import check_count, check_lanes, check_min_blocks, check_vector, schedule
from .work_oriented import WorkOriented


@schedule
class MergePath(WorkOriented):
    """`items` (at most 64) tiles and atoms for each thread; the `block` threads of a block work together.

    min_blocks: how many blocks a multiprocessor must hold, the second of CUDA's launch bounds. With few blocks, a
    thread has registers for all its loads at once. 0: as many as it can hold (2,048 threads of 32 registers) if at
    most 4 items read so little that it fits, and the kernel only does arithmetic with it, as an SpMV of 4-byte
    values does; otherwise the compiler decides.

    carveout: the shared memory of a multiprocessor, in percent of the largest possible (CUDA's preferred shared
    memory carveout, a hint that is rounded). The rest of its fast memory is L1 cache: with less shared memory there
    are fewer blocks, and they find more of what they gather in L1. A block takes 2 bytes for each atom, and 1 KiB.
    It also takes the bytes of the values if `items` is not 1, 2, 4 or 8, or if values have more than 8 bytes.
    -1: the driver decides.

    lanes, vector: for kernels with a dense axis, `ev.lanes` around a loop over atoms. `lanes` threads of a block, 1, 2,
    4, 8, 16 or 32, are a team along the axis, with `vector` columns each at a time, 1 to 32. A block's teams take equal
    shares of its tiles and atoms, `items * lanes` each, and read the atoms once for all of their columns. Partial sums
    of a tile are then vectors, which a short second kernel joins. Where the loop needs to know its tile, scans or
    contributes to a total of all tiles, and on targets without blocks, an axis is walked column by column. Atoms that
    have an axis each, and nothing else in common, are shared by the teams, too.

    On targets without blocks (the CPU) it is WorkOriented.
    """

    block: int = 256
    items: int = 3
    min_blocks: int = 0
    carveout: int = -1
    lanes: int = 1
    vector: int = 1

    owner = "share"
    engine = "merge"
    most_items = 64  # a thread has one bit for each item

    def __post_init__(self):
        WorkOriented.__post_init__(self)
        check_min_blocks("MergePath", self.min_blocks, self.block)
        check_count("MergePath", "carveout", self.carveout, -1, 100)
        check_lanes("MergePath", self.lanes, self.block)
        check_vector("MergePath", self.vector)
