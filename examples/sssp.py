"""Shortest paths from one vertex: relax the edges of the frontier until it is empty.

The relaxation is Listing 5 of Osama, Porumbescu, Owens, "A Programming Model for GPU Load
Balancing" (PPoPP 2023). The frontier is an `ev.subset` of the graph. Its tiles are vertices of
the graph and its atoms their edges, so the same kernel runs over a frontier and over the graph.

Run it: python examples/sssp.py
"""

from __future__ import annotations

import numpy as np
import scipy.sparse.csgraph
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def relax(frontier, distance, improved):
    for vertex in frontier.tiles():
        for edge in frontier.atoms(vertex):
            neighbour = frontier.column(edge)
            candidate = distance[vertex] + frontier.value(edge)
            if candidate < ev.atomic_min(distance, neighbour, candidate):
                improved[neighbour] = 1


def sssp(G, source, schedule="auto", target="cpu"):
    """Return the distance of every vertex from `source`. G: a layout whose values are edge weights."""
    distance = np.full(G.num_tiles, np.inf, np.float32)
    distance[source] = 0
    distance = put(target, distance)
    frontier = np.array([source], np.int32)
    while len(frontier):
        improved = put(target, np.zeros(G.num_tiles, np.int32))
        relax[schedule].on(target)(ev.subset(G, put(target, frontier)), distance, improved)
        frontier = np.flatnonzero(get(improved)).astype(np.int32)
    return get(distance)


def main(schedule="auto", target=None):
    target = target or best()
    matrix = rmat(7, per_row=8)
    matrix.data += 0.1  # no weight is zero
    distance = sssp(put(target, ev.csr(matrix)), 0, schedule, target)
    expected = scipy.sparse.csgraph.dijkstra(matrix.astype(np.float64), indices=0)
    np.testing.assert_allclose(distance, expected, rtol=1e-5)


if __name__ == "__main__":
    main()
    print(f"shortest paths on {best()}: equal to SciPy's results")
