"""Tasks in rounds: one list is walked while another is appended to. Then the lists change places.

Source: the static task list, with an in-array and an out-array, of Cederman, Tsigas, "On Dynamic Load Balancing on
Graphics Processors" (Graphics Hardware 2008), section 4.1.
"""

from __future__ import annotations

from typing import Any

from evenly.language.names import group

from .contract import (
    MOST_BLOCKS_LAUNCHED,
    Schedule,
    ceil_div,
    check_block,
    check_count,
    check_items,
    schedule,
)
from .group_mapped import groups_in_block


def check_tasks(made: Any) -> None:
    """Raise InputError if the parameters of a schedule of tasks are none."""
    name = type(made).__name__
    check_block(name, made.block)
    check_count(name, "size", made.size, 1, made.block)
    check_items(name, made.items)
    check_count(name, "blocks", made.blocks, 0, MOST_BLOCKS_LAUNCHED)


@schedule
class StaticList(Schedule):
    """For kernels with a loop over tasks (`ev.tasks`): the tasks of a list, each by `size` threads, a round at a time.

    size: 1, or up to `block` threads that run a task together and divide its atoms. block: the threads of a block.
    items: as in ThreadMapped. blocks: the most blocks of a launch; 0: as many as there are tasks for.

    A round is a launch, and the device decides whether there is another. What tasks push is run in the next round. So
    it suits trees of which most rounds have as many tasks as a GPU runs at once.

    Other schedules that own whole tiles run tasks in rounds, too. Loops over other tiles than tasks are as under
    ThreadMapped and GroupMapped.
    """

    size: int = 1
    block: int = 256
    items: int = 4
    blocks: int = 0

    @property
    def covers(self):
        return self.blocks == 0

    @property
    def owner(self):
        return "thread" if self.size == 1 else "group"

    def __post_init__(self):
        check_tasks(self)

    def launch(self, layout):
        teams = self.block if self.size == 1 else groups_in_block(self.size, self.block)
        blocks = ceil_div(layout.num_tiles, teams)
        return min(blocks, self.blocks) if self.blocks else blocks, self.block

    def tiles(self, layout):
        return range(group(self.size).index, layout.num_tiles, group(self.size).count)

    def atoms(self, layout, tile):
        return range(layout.begin(tile) + group(self.size).rank, layout.end(tile), self.size)
