"""Make a layout on the way: the neighbours of the neighbours of each vertex, in a list for each edge.

A kernel computes how long each list is, a prefix sum turns lengths into offsets, and a second kernel fills the lists.
The lists are its tiles, so a schedule divides the work evenly, however long they are.

Run it: python examples/two_hops.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def lengths(G, length):
    for vertex in G.tiles():
        for edge in G.atoms(vertex):
            neighbour = G.column(edge)
            length[edge] = G.end(neighbour) - G.begin(neighbour)


@ev.kernel
def fill(lists, G, found):
    for edge in lists.tiles():
        first = G.begin(G.column(edge)) - lists.begin(edge)
        for k in lists.atoms(edge):
            found[k] = G.column(first + k)


def main(schedule="auto", target=None):
    target = target or best()
    matrix = rmat(6)
    G, length = put(target, ev.csr(matrix), np.empty(matrix.nnz, np.int32))
    lengths[schedule].on(target)(G, length)
    lists = ev.ragged(ev.prefix_sum(length, include_initial=True))
    found = put(target, np.empty(lists.num_atoms, np.int32))
    fill[schedule].on(target)(lists, G, found)

    starts = get(lists.offsets)[matrix.indptr]  # where the lists of each vertex begin
    paths = np.zeros(matrix.shape)
    np.add.at(paths, (np.repeat(np.arange(len(paths)), np.diff(starts)), get(found)), 1)
    edges = matrix.astype(bool).astype(np.int64)
    np.testing.assert_array_equal(paths, (edges @ edges).toarray())


if __name__ == "__main__":
    main()
    print(f"paths of two edges on {best()}: as many as SciPy counts")
