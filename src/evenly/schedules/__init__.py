"""Schedules say who does what: how work is divided among processors. A file for each; contract.py says what one is.

To add one, write a file and a line of TABLE, or of OF_TASKS for a schedule of tasks. It names the engine that
executes it on GPUs (targets/gpu/engines), or says itself which tiles and atoms a processor takes.

    partition            a schedule applied to a layout on the host
    handed_out, queued   what schedules share whose engines hand out tiles, or queue tasks
    nested, per_item, within   a schedule of items, and one of an item's tiles
    team_mapped          an item for each team of several blocks
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenly.errors import InputError, unknown

from .blocking_queue import BlockingQueue
from .contract import Schedule, Sizes, schedule
from .dynamic_chunks import DynamicChunks
from .group_mapped import BlockMapped, GroupMapped, WarpMapped
from .lock_free_queue import LockFreeQueue
from .lrb import Lrb
from .merge_path import MergePath
from .nested import Nested
from .nonzero_split import NonzeroSplit
from .partition import Partition
from .per_item import per_item
from .static_list import StaticList
from .task_pool import TaskPool
from .team_mapped import TeamMapped
from .thread_mapped import ThreadMapped
from .work_oriented import WorkOriented
from .work_stealing import WorkStealing

__all__ = [
    "TABLE",
    "BlockMapped",
    "BlockingQueue",
    "DynamicChunks",
    "Entry",
    "GroupMapped",
    "LockFreeQueue",
    "Lrb",
    "MergePath",
    "Nested",
    "NonzeroSplit",
    "Partition",
    "Schedule",
    "Sizes",
    "StaticList",
    "TaskPool",
    "TeamMapped",
    "ThreadMapped",
    "WarpMapped",
    "WorkOriented",
    "WorkStealing",
    "by_name",
    "per_item",
    "schedule",
]


@dataclass(frozen=True, slots=True)
class Entry:
    """A schedule, as `evenly schedules` lists it."""

    make: Callable[..., Schedule]
    what: str
    when: str
    source: str


TABLE: dict[str, Entry] = {
    "thread_mapped": Entry(
        ThreadMapped,
        "one tile for each thread",
        "short tiles of about equal length",
        "Osama et al. 2023, 4.2",
    ),
    "group_mapped": Entry(
        GroupMapped,
        "one tile for each group, of 2 threads up to a block",
        "tiles of medium length",
        "Osama et al. 2023, 5.2",
    ),
    "warp_mapped": Entry(
        WarpMapped, "one tile for each warp", "tiles of 32 atoms and more", "Bell, Garland 2009"
    ),
    "block_mapped": Entry(
        BlockMapped, "one tile for each block", "few, very long tiles", "Osama et al. 2023, 5.2"
    ),
    "dynamic_chunks": Entry(
        DynamicChunks,
        "chunks of tiles; a warp takes the next one when it is free",
        "work that lengths do not predict",
        "Kruskal, Weiss 1985",
    ),
    "lrb": Entry(
        Lrb,
        "tiles in bins by length, with groups of four sizes",
        "tiles of many lengths; plans that are called often",
        "Fox, Tripathy, Green 2019",
    ),
    "work_oriented": Entry(
        WorkOriented,
        "tiles + atoms divided evenly among threads",
        "comparisons with `merge_path`",
        "gunrock/loops",
    ),
    "merge_path": Entry(
        MergePath,
        "tiles + atoms divided evenly among blocks",
        "any distribution of lengths",
        "Merrill, Garland 2016",
    ),
    "nonzero_split": Entry(
        NonzeroSplit, "atoms divided evenly among blocks", "many empty tiles", "Baxter, moderngpu"
    ),
}


# Those for loops over tasks.
OF_TASKS: dict[str, Entry] = {
    "static_list": Entry(
        StaticList,
        "tasks in rounds: one list is walked, another one appended to",
        "most trees of tasks; what `auto` takes, except on `cpu`",
        "Cederman, Tsigas 2008, 4.1",
    ),
    "task_pool": Entry(
        TaskPool,
        "tasks as they are made: a stack for each warp, of which idle warps get a half",
        "trees of which only few tasks may wait, for lack of memory",
        "Tzeng, Patney, Owens 2010",
    ),
    "blocking_queue": Entry(
        BlockingQueue,
        "tasks in one queue, behind a lock",
        "comparisons",
        "Cederman, Tsigas 2008, 4.2",
    ),
    "lock_free_queue": Entry(
        LockFreeQueue,
        "tasks in one queue, by compare-and-swap",
        "comparisons",
        "Tsigas, Zhang 2001",
    ),
    "work_stealing": Entry(
        WorkStealing,
        "a deque of tasks for each warp, from which idle ones steal",
        "comparisons",
        "Arora, Blumofe, Plaxton 1998",
    ),
}

CHOSEN = (
    "auto",
    "tuned",
)  # what stands for a schedule that is chosen: by prediction, or by measuring


def by_name(given: Any, *, auto: bool = False, **parameters: Any) -> Any:
    """Return a schedule for a name in TABLE or OF_TASKS, a schedule class, or a schedule.

    auto: whether "auto" and "tuned" are allowed, too, and returned as they are.

    Raises InputError with the nearest name.
    """
    if isinstance(given, Schedule):
        return given
    if isinstance(given, str):
        if auto and given in CHOSEN:
            return given
        known = TABLE | OF_TASKS
        if given not in known:
            raise unknown("schedule", given, [*known, *CHOSEN] if auto else known)
        return known[given].make(**parameters)
    if isinstance(given, type) and issubclass(given, Schedule):
        return given(**parameters)
    raise InputError(
        "schedule",
        expected=f"a schedule such as MergePath(), or one of {', '.join(TABLE)}",
        given=repr(given),
    )
