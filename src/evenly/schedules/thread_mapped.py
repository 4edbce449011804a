"""A tile a thread: the least overhead, for short tiles of about equal length.

Source: Osama, Porumbescu, Owens (PPoPP 2023), section 5.1 and Listing 2; for SpMV the
"scalar" kernel of Bell and Garland (SC 2009).
"""

from __future__ import annotations

from evenly.language.names import thread_count, thread_index

from .contract import ceil_div, check_block, schedule


@schedule
class ThreadMapped:
    """`block` threads a block (a multiple of 32)."""

    block: int = 256

    owner = "thread"
    covers = True

    def __post_init__(self):
        check_block("ThreadMapped", self.block)

    def launch(self, layout):
        return ceil_div(layout.num_tiles, self.block), self.block

    def tiles(self, layout):
        return range(thread_index(), layout.num_tiles, thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))
