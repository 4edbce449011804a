"""A schedule of your own: one tile for each thread.

Listing 2 of Osama, Porumbescu, Owens, "A Programming Model for GPU Load Balancing" (PPoPP 2023).

Run it: python examples/thread_mapped.py
"""

from __future__ import annotations

import spmv
from place import best

import evenly as ev


@ev.schedule
class ThreadMapped:
    block: int = 256
    owner = "thread"

    def launch(self, layout):
        return -(-layout.num_tiles // self.block), self.block

    def tiles(self, layout):
        return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


def main(schedule=None, target=None):
    spmv.main(schedule or ThreadMapped(), target)


if __name__ == "__main__":
    main()
    print(f"spmv under a schedule of your own on {best()}: equal to SciPy's result")
