"""One queue of tasks for the whole GPU, without a lock.

Source: Tsigas, Zhang, "A Simple, Fast and Scalable Non-Blocking Concurrent FIFO Queue for Shared Memory Multiprocessor
Systems" (SPAA 2001), as Cederman, Tsigas, "On Dynamic Load Balancing on Graphics Processors" (Graphics Hardware 2008),
section 4.3, have it for tasks. The queue is in targets/gpu/device/lock_free.cuh.
"""

from __future__ import annotations

from .contract import check_count, schedule
from .queued import Queued


@schedule
class LockFreeQueue(Queued):
    """For kernels with a loop over tasks (`ev.tasks`): tasks are swapped in and out of a queue, by compare-and-swap.

    size, block, items, blocks, counted: as in TaskPool. every: where the queue begins and ends is moved every so
    many tasks.

    Each warp, or group of several warps, puts what its tasks push into the queue, and gets the oldest tasks from it.
    """

    size: int = 1
    block: int = 256
    items: int = 4
    blocks: int = 0
    counted: bool = False
    every: int = 4

    queue = "lock_free"

    def __post_init__(self):
        super().__post_init__()
        check_count("LockFreeQueue", "every", self.every, 1, 1024)
