"""A schedule of your own whose groups cooperate: the tiles of a group, their atoms shared evenly by its members.

Each member counts the atoms of its tile. A scan adds the counts up, and the sums lie in the group's shared memory. Each
member then takes an equal share of the atoms, and finds its tiles by binary search. So a group of short and long tiles
has no idle threads. Source: Osama, Porumbescu, Owens, "A Programming Model for GPU Load Balancing" (PPoPP 2023),
section 5.2.3. There a member takes every n-th atom; here it takes consecutive ones, which the sums of tiles need.

Run it: python examples/group_shares.py
"""

from __future__ import annotations

import spmv
from place import best

import evenly as ev


@ev.func
def tile_at(layout, first, each, stop, ends, size, atom):
    """Return the first of a group's tiles, from `first` to `stop`, that ends after its atom number `atom`."""
    low, high = 0, size
    while low < high:  # the first member whose tiles end after it
        middle = (low + high) // 2
        if ends[middle] <= atom:
            low = middle + 1
        else:
            high = middle
    tile = min(first + low * each, stop)
    if low < size:
        while (
            layout.end(tile) - layout.begin(first) <= atom
        ):  # a member has one tile, unless threads are few
            tile += 1
    return tile


@ev.schedule
class GroupShares:
    size: int = 32
    block: int = 256
    owner = "share"

    def launch(self, layout):
        return -(-layout.num_tiles // self.block), self.block

    def setup(self, layout):
        group, tiles = ev.group(self.size), layout.num_tiles
        each = (tiles + ev.thread_count() - 1) // ev.thread_count()  # tiles of a member
        mine, after = (
            min(ev.thread_index() * each, tiles),
            min((ev.thread_index() + 1) * each, tiles),
        )
        count = layout.end(after - 1) - layout.begin(mine) if mine < after else 0
        ends, total = group.gather(group.scan(count)), group.sum(count)
        first, last = group.broadcast(mine, 0), group.broadcast(after, self.size - 1)
        begin = layout.begin(first) if first < tiles else layout.num_atoms
        share = (total + self.size - 1) // self.size
        start, stop = min(group.rank * share, total), min((group.rank + 1) * share, total)
        left = tile_at(layout, first, each, last, ends, self.size, start)
        right = tile_at(layout, first, each, last, ends, self.size, stop)
        goes_on = right < last and layout.begin(min(right, tiles - 1)) < begin + stop
        left = first if group.rank == 0 else left  # the first member takes the empty tiles in front
        return layout, begin + start, begin + stop, left, right + 1 if goes_on else right

    def tiles(self, state):
        return range(state[3], state[4])

    def atoms(self, state, tile):
        layout, start, stop, _, _ = state
        return range(max(layout.begin(tile), start), min(layout.end(tile), stop))


def main(schedule=None, target=None):
    spmv.main(schedule or GroupShares(), target)


if __name__ == "__main__":
    main()
    print(f"spmv under a schedule whose groups cooperate on {best()}: equal to SciPy's result")
