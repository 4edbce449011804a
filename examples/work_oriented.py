"""A schedule of your own, with a search: tiles + atoms are divided evenly among threads.

The balance does not depend on the data: a thread may have a part of one long tile, or many
short ones. Sources: `work_oriented` of gunrock/loops; the search is the merge path of Merrill and Garland (SC 2016).

Run it: python examples/work_oriented.py
"""

from __future__ import annotations

import spmv
from place import best

import evenly as ev


@ev.func
def tiles_before(layout, work):
    low, high = max(work - layout.num_atoms, 0), min(work, layout.num_tiles)
    while low < high:
        middle = (low + high) // 2
        if layout.end(middle) <= work - middle - 1:
            low = middle + 1
        else:
            high = middle
    return low


@ev.schedule
class WorkOriented:
    block: int = 256
    items: int = 8
    owner = "share"

    def launch(self, layout):
        work = layout.num_tiles + layout.num_atoms
        return -(-work // (self.block * self.items)), self.block

    def setup(self, layout):
        work = layout.num_tiles + layout.num_atoms
        share = (work + ev.thread_count() - 1) // ev.thread_count()
        start = min(ev.thread_index() * share, work)
        stop = min(start + share, work)
        first, last = tiles_before(layout, start), tiles_before(layout, stop)
        return layout, first, start - first, last, stop - last

    def tiles(self, state):
        layout, first, _, last, stop = state
        goes_on = last < layout.num_tiles and layout.begin(min(last, layout.num_tiles - 1)) < stop
        return range(first, last + 1 if goes_on else last)

    def atoms(self, state, tile):
        layout, _, start, _, stop = state
        return range(max(layout.begin(tile), start), min(layout.end(tile), stop))


def main(schedule=None, target=None):
    spmv.main(schedule or WorkOriented(), target)


if __name__ == "__main__":
    main()
    print(f"spmv under a schedule of your own on {best()}: equal to SciPy's result")
