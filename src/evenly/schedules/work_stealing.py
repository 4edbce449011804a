"""A deque of tasks for each warp, from which others steal.

Source: Arora, Blumofe, Plaxton, "Thread Scheduling for Multiprogrammed Multiprocessors" (SPAA 1998), as Cederman,
Tsigas, "On Dynamic Load Balancing on Graphics Processors" (Graphics Hardware 2008), section 4.4, have it for blocks.
The deque is in targets/gpu/device/stealing.cuh.
"""

from __future__ import annotations

from .contract import schedule
from .queued import Queued


@schedule
class WorkStealing(Queued):
    """For kernels with a loop over tasks (`ev.tasks`): who has no tasks steals the oldest one of somebody else.

    On target `cpu` each thread has a stack, and gives the older half to one that waits; `auto` takes it there.

    size, block, items, blocks, counted: as in TaskPool.

    Each warp, or group of several warps, has a deque of up to 512 tasks in device memory, and runs the newest of them.
    """

    size: int = 1
    block: int = 256
    items: int = 4
    blocks: int = 0
    counted: bool = False

    queue = "stealing"
