"""Tiles in bins by the logarithm of their length. Longer tiles get larger groups of threads.

Source: Fox, Tripathy, Green, "Improving Scheduling for Irregular Applications with Logarithmic Radix
Binning" (HPEC 2019).
"""

from __future__ import annotations

from evenly.errors import InputError
from evenly.gpus.gpu import WARP

from .contract import (
    Schedule,
    ceil_div,
    check_block,
    check_count,
    check_items,
    check_vector,
    schedule,
)
from .handed_out import HandedOut


@schedule
class Lrb(HandedOut, Schedule):
    """Groups of four sizes: a tile of fewer than `thread` atoms gets a thread, of fewer than `group` atoms a
    group of `lanes` threads, of fewer than `warp` atoms a warp, and a longer one a block of `block` threads.

    thread, group, warp: powers of two, ascending. lanes: 2, 4, 8, 16 or 32. items: as in GroupMapped.

    grid: for loops over items: all blocks of the launch walk an item of so much work or more together, before the
    others, and meet in global memory. The launch is then cooperative, as that of TeamMapped. A power of two, at least
    `warp`; 0: there are no such items.

    vector: for kernels with a dense axis, `ev.lanes` around a loop over atoms. If it is more than 1, `lanes` threads of
    each team lie along the axis, with so many columns each, as in GroupMapped.

    Neighbouring threads have tiles of about equal length, because tiles are sorted by the power of two
    that their length reaches, the longest first. On a GPU three short kernels do that before the main one,
    at every call. A plan does it once, and keeps the order.

    Target `cpu` does not sort: threads take shares of consecutive tiles, of about equal work. On
    `python`, and in `partition`, each processor has consecutive tiles.
    """

    block: int = 256
    lanes: int = 8
    thread: int = 8
    group: int = 64
    warp: int = 1024
    items: int = 4
    grid: int = 0
    vector: int = 1

    owner = "thread"
    engine = "bins"
    size = 1

    def __post_init__(self):
        check_block("Lrb", self.block)
        check_items("Lrb", self.items)
        check_count("Lrb", "lanes", self.lanes, 2, WARP)
        check_vector("Lrb", self.vector)
        for name in "thread", "group", "warp":
            check_count("Lrb", name, getattr(self, name), 1, 1 << 30)
        for name in "lanes", "thread", "group", "warp":
            given = getattr(self, name)
            if given & (given - 1):
                raise InputError(f"Lrb({name}=...)", expected="a power of two", given=repr(given))
        if not self.thread <= self.group <= self.warp:
            raise InputError(
                "Lrb(thread=..., group=..., warp=...)",
                expected="ascending lengths",
                given=f"{self.thread}, {self.group}, {self.warp}",
            )
        check_count("Lrb", "grid", self.grid, 0, 1 << 30)
        if self.grid and (self.grid & (self.grid - 1) or self.grid < self.warp):
            expected = f"0, or a power of two from {self.warp} on, which is `warp`"
            raise InputError("Lrb(grid=...)", expected=expected, given=repr(self.grid))

    def launch(self, layout):
        # A block takes one tile, or one for each warp, or one for each group of lanes. Each has at least the
        # atoms of its class.
        least = min(
            self.warp, self.group * (self.block // WARP), self.thread * (self.block // self.lanes)
        )
        most = ceil_div(layout.num_tiles, self.block) + layout.num_atoms // least + 3
        return min(layout.num_tiles, most), self.block
