"""Tasks as they are made: each warp has a stack of them, and gives some of them to one that has none.

Source: the donation of tasks, Tzeng, Patney, Owens, "Task Management for Irregular-Parallel Workloads on the GPU" (HPG
2010). How the tasks get there is in targets/gpu/device/tasks.cuh.
"""

from __future__ import annotations

from .contract import Schedule, schedule
from .static_list import StaticList, check_tasks


@schedule
class TaskPool(Schedule):
    """For kernels with a loop over tasks (`ev.tasks`): persistent blocks run tasks as they are made, in one launch.

    size: 1, or up to `block` threads that run a task together and divide its atoms. block: the threads of a block.
    items: as in ThreadMapped. blocks: the most blocks; 0: half as many as a GPU runs at once, or as many as it takes
    for 16 warps, or groups of several, a multiprocessor.
    counted: whether `T.counts` tells what the warps have done, on a GPU and on `simt`.

    A warp, or a group of several warps, runs the newest tasks of a stack in shared memory: depth first, so that few
    tasks wait. One that has none gets the oldest of another's, one for each of its groups, but no more than half. A
    warp, or a larger group, takes several short tasks at a time. What has no room in a stack is kept in a list,
    for another round.

    It needs little memory where trees are wide, and was slower than StaticList on most of those that were measured
    (docs/tasks.md). On target `cpu` it is as WorkStealing; on `python` tasks are run in rounds, as under StaticList.
    """

    size: int = 1
    block: int = 256
    items: int = 4
    blocks: int = 0
    counted: bool = False

    engine = "tasks"

    @property
    def owner(self):
        return "thread" if self.size == 1 else "group"

    def __post_init__(self):
        check_tasks(self)

    launch = StaticList.launch
    tiles = StaticList.tiles
    atoms = StaticList.atoms
