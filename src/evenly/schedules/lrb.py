"""Tiles binned by the logarithm of their size, each class of bins with groups of a fitting width.

Source: Fox, Tripathy, Green, "Improving Scheduling for Irregular Applications with Logarithmic Radix
Binning" (HPEC 2019).
"""

from __future__ import annotations

from evenly.errors import InputError
from evenly.gpus.gpu import WARP

from .contract import Schedule, ceil_div, check_block, check_count, check_items, schedule
from .handed_out import HandedOut


@schedule
class Lrb(HandedOut, Schedule):
    """Tiles of fewer than `thread` atoms a thread each, of fewer than `group` atoms a group of `lanes` threads,
    of fewer than `warp` a warp, and longer ones a block of `block` threads.

    thread, group, warp: powers of two, ascending. lanes: 2, 4, 8, 16 or 32. items: as in GroupMapped.

    Neighbours have tiles of about equal length, since tiles are sorted by the power of two that
    their length reaches, the longest first. On a GPU three light kernels do that before the main one, at every call; a
    plan does it once, and keeps the order.

    Target `cpu` sorts nothing: threads take shares of consecutive tiles, of about equal work. On
    `python`, and in `partition`, processors have consecutive tiles.
    """

    block: int = 256
    lanes: int = 8
    thread: int = 8
    group: int = 64
    warp: int = 1024
    items: int = 4

    owner = "thread"
    engine = "bins"
    size = 1

    def __post_init__(self):
        check_block("Lrb", self.block)
        check_items("Lrb", self.items)
        check_count("Lrb", "lanes", self.lanes, 2, WARP)
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

    def launch(self, layout):
        # A block takes a tile, or one a warp, or one a group of lanes: each has the atoms of its class at least.
        least = min(
            self.warp, self.group * (self.block // WARP), self.thread * (self.block // self.lanes)
        )
        most = ceil_div(layout.num_tiles, self.block) + layout.num_atoms // least + 3
        return min(layout.num_tiles, most), self.block
