"""Tiles and atoms divided evenly among blocks, atom values staged through shared memory.

The safe choice for any distribution of tile lengths. Source: Merrill and Garland,
"Merge-Based Parallel Sparse Matrix-Vector Multiplication" (SC 2016); staging as in
Baxter's moderngpu.
"""

from __future__ import annotations

from .contract import schedule
from .work_oriented import WorkOriented


@schedule
class MergePath(WorkOriented):
    """`items` tiles and atoms a thread, `block` threads a block that work together.

    Where there are no blocks (the CPU) it is WorkOriented.
    """

    block: int = 256
    items: int = 3

    owner = "share"
    engine = "merge"
