"""How many distinct colours the neighbours of each vertex have, with a hash set for each vertex.

The set is a scratch array of the vertex. Its length follows from the number of edges, so there is always a free place.
All threads that share a vertex insert into it at once.

Run it: python examples/colour_sets.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def distinct_colours(G, colour, out):
    for vertex in G.tiles():
        places = 2 * sum(1 for edge in G.atoms(vertex))
        seen = ev.scratch(places, np.int32)  # colours + 1; 0 is a free place
        distinct = 0
        for edge in G.atoms(vertex):
            key = colour[G.column(edge)] + 1
            at = key % places
            old = ev.atomic_cas(seen, at, 0, key)
            while old != 0 and old != key:
                at = (at + 1) % places
                old = ev.atomic_cas(seen, at, 0, key)
            if old == 0:
                distinct += 1
        out[vertex] = distinct


def main(schedule="auto", target=None, colours=20):
    target = target or best()
    matrix = rmat(7, per_row=8)
    colour = np.random.default_rng(0).integers(0, colours, matrix.shape[1]).astype(np.int32)
    out = np.zeros(matrix.shape[0], np.int32)
    G, there, out = put(target, ev.csr(matrix), colour, out)
    distinct_colours[schedule].on(target)(G, there, out)
    rows = np.split(colour[matrix.indices], matrix.indptr[1:-1])
    np.testing.assert_array_equal(get(out), [len(np.unique(row)) for row in rows])


if __name__ == "__main__":
    main()
    print(f"colours on {best()}: equal to NumPy's results")
