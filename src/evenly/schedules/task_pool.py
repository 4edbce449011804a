"""Tasks as they are made: each warp has a stack of them, and gives some to others through a ring.

Source: the donation of tasks, Tzeng, Patney, Owens, "Task Management for Irregular-Parallel Workloads on the GPU" (HPG
2010); the ring is D. Vyukov's bounded queue, taken in batches.
"""

from __future__ import annotations

from .contract import Schedule, check_block, check_count, check_items, schedule
from .static_list import StaticList


@schedule
class TaskPool(Schedule):
    """For kernels with a loop over tasks (`ev.tasks`): persistent blocks run tasks as they are made, in one launch.

    size: 1, or up to `block` threads that run a task together and divide its atoms. block: the threads of a block.
    items: as in ThreadMapped.

    A warp, or a group of several warps, runs the newest tasks of a stack in shared memory: depth first, so that few
    tasks wait. The others get the oldest ones, or those for which the stack has no room, through a ring in device
    memory. If that is full, the call goes on in another round, with the tasks of all stacks, as long as they have room.

    It suits trees that are deep or narrow, and tasks of unequal work. On the targets `cpu` and `python` tasks are run
    in rounds, as under StaticList.
    """

    size: int = 1
    block: int = 256
    items: int = 4

    engine = "tasks"

    @property
    def owner(self):
        return "thread" if self.size == 1 else "group"

    def __post_init__(self):
        check_block("TaskPool", self.block)
        check_count("TaskPool", "size", self.size, 1, self.block)
        check_items("TaskPool", self.items)

    launch = StaticList.launch
    tiles = StaticList.tiles
    atoms = StaticList.atoms
