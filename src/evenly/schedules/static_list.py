"""Tasks in rounds: one list is walked while another is appended to. Then the lists change places.

Source: the static task list, with an in-array and an out-array, of Cederman, Tsigas, "On Dynamic Load Balancing on
Graphics Processors" (Graphics Hardware 2008), section 4.1.
"""

from __future__ import annotations

from evenly.language.names import group

from .contract import Schedule, ceil_div, check_block, check_count, check_items, schedule
from .group_mapped import groups_in_block


@schedule
class StaticList(Schedule):
    """For kernels with a loop over tasks (`ev.tasks`): the tasks of a list, each by `size` threads, a round at a time.

    size: 1, or up to `block` threads that run a task together and divide its atoms. block: the threads of a block.
    items: as in ThreadMapped.

    A round is a launch, and the device decides whether there is another. What tasks push is run in the next round. So
    it suits trees of which most rounds have as many tasks as a GPU runs at once.

    Other schedules that own whole tiles run tasks in rounds, too. Loops over other tiles than tasks are as under
    ThreadMapped and GroupMapped.
    """

    size: int = 1
    block: int = 256
    items: int = 4

    covers = True

    @property
    def owner(self):
        return "thread" if self.size == 1 else "group"

    def __post_init__(self):
        check_block("StaticList", self.block)
        check_count("StaticList", "size", self.size, 1, self.block)
        check_items("StaticList", self.items)

    def launch(self, layout):
        teams = self.block if self.size == 1 else groups_in_block(self.size, self.block)
        return ceil_div(layout.num_tiles, teams), self.block

    def tiles(self, layout):
        return range(group(self.size).index, layout.num_tiles, group(self.size).count)

    def atoms(self, layout, tile):
        return range(layout.begin(tile) + group(self.size).rank, layout.end(tile), self.size)
