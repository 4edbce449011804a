"""Tiles and atoms divided evenly among threads. The balance does not depend on the data.

Source: merge path, Merrill and Garland (SC 2016), with one share for each thread, as in `work_oriented` of
gunrock/loops, the code that accompanies Osama, Porumbescu, Owens (PPoPP 2023). The paper does not describe it.
"""

from __future__ import annotations

from evenly.language.func import func
from evenly.language.names import thread_count, thread_index

from .contract import Schedule, ceil_div, check_block, check_count, schedule


@func
def merge_search(layout, diagonal):
    """Return how many tiles end before the point of the merge path where tiles + atoms = `diagonal`."""
    low = max(diagonal - layout.num_atoms, 0)
    high = min(diagonal, layout.num_tiles)
    while low < high:
        middle = (low + high) // 2
        if layout.end(middle) <= diagonal - middle - 1:
            low = middle + 1
        else:
            high = middle
    return low


@func
def merge_share(layout, index, count):
    """Return the piece of the merge path of processor `index` of `count`: (tile, atom) where it starts and ends."""
    total = layout.num_tiles + layout.num_atoms
    share = (total + count - 1) // count
    start = min(index * share, total)
    stop = min(start + share, total)
    first = merge_search(layout, start)
    last = merge_search(layout, stop)
    return first, start - first, last, stop - last


@schedule
class WorkOriented(Schedule):
    """`items` tiles and atoms for each thread; a block has `block` threads."""

    block: int = 256
    items: int = 8

    owner = "share"
    engine = "share"
    most_items = 1024

    def __post_init__(self):
        check_block(type(self).__name__, self.block)
        check_count(type(self).__name__, "items", self.items, 1, self.most_items)

    def launch(self, layout):
        return ceil_div(layout.num_tiles + layout.num_atoms, self.block * self.items), self.block

    def setup(self, layout):
        first, start, last, stop = merge_share(layout, thread_index(), thread_count())
        # The last tile is this thread's only if some of its atoms are.
        partial = last < layout.num_tiles and stop > layout.begin(min(last, layout.num_tiles - 1))
        return layout, first, start, last + (1 if partial else 0), stop

    def tiles(self, state):
        return range(state[1], state[3])

    def atoms(self, state, tile):
        layout, _, start, _, stop = state
        return range(max(layout.begin(tile), start), min(layout.end(tile), stop))
