# A schedule of your own: who takes which tiles, and which of their atoms.
import numpy as np

import evenly as ev


@ev.schedule
class Stretches:
    """Each thread takes consecutive tiles, as many as the others."""

    owner = "thread"

    def launch(self, layout):
        return -(-layout.num_tiles // 256), 256

    def tiles(self, layout):
        me, threads = ev.thread_index(), ev.thread_count()
        return range(me * layout.num_tiles // threads, (me + 1) * layout.num_tiles // threads)

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


@ev.kernel
def lengths(A, out):
    for tile in A.tiles():
        out[tile] = sum(1 for k in A.atoms(tile))


A = ev.ragged(np.array([0, 2, 2, 7, 8, 20, 21]))
out = np.empty(6, np.int64)
lengths[Stretches()].on("python")(A, out)
print("lengths:", out)
print("atoms of three processors:", Stretches().partition(A, 3).work())
print("under merge path:         ", ev.MergePath().partition(A, 3).work())
