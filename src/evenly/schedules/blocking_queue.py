"""One queue of tasks for the whole GPU, behind a lock.

Source: the blocking task queue of Cederman, Tsigas, "On Dynamic Load Balancing on Graphics Processors" (Graphics
Hardware 2008), section 4.2. The queue is in targets/gpu/device/blocking.cuh.
"""

from __future__ import annotations

from .contract import schedule
from .queued import Queued


@schedule
class BlockingQueue(Queued):
    """For kernels with a loop over tasks (`ev.tasks`): an array, its beginning and its end, and a lock for both.

    size, block, items, blocks, counted: as in TaskPool.

    Each warp, or group of several warps, puts what its tasks push into the queue, and gets the oldest tasks from it.

    It is there to be compared with: all wait for one lock.
    """

    size: int = 1
    block: int = 256
    items: int = 4
    blocks: int = 0
    counted: bool = False

    queue = "blocking"
