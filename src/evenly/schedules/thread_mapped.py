"""One tile for each thread: the least overhead, for short tiles of about equal length.

Source: Osama, Porumbescu, Owens (PPoPP 2023), section 4.2 and Listing 2; for SpMV the
"scalar" kernel of Bell and Garland (SC 2009).
"""

from __future__ import annotations

from evenly.language.names import thread_count, thread_index

from .contract import Schedule, ceil_div, check_block, check_items, check_vector, schedule


@schedule
class ThreadMapped(Schedule):
    """One tile for each thread; a block has `block` threads (a multiple of 32).

    items: how many of its atoms a thread loads at once on a GPU, 1 to 32, so that these loads are in flight together.
    This applies to passes that only reduce, without inner loops. 1: one by one, as the compiler unrolls the loop.

    vector: how many columns of a dense axis a thread has at a time, as in GroupMapped.
    """

    block: int = 256
    items: int = 5
    vector: int = 1

    owner = "thread"
    covers = True

    def __post_init__(self):
        check_block("ThreadMapped", self.block)
        check_items("ThreadMapped", self.items)
        check_vector("ThreadMapped", self.vector)

    def launch(self, layout):
        return ceil_div(layout.num_tiles, self.block), self.block

    def tiles(self, layout):
        return range(thread_index(), layout.num_tiles, thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))
