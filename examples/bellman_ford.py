"""Shortest paths from one vertex: relax all edges until no distance changes. The host launches once.

The `while` around the loop over vertices runs on the device: after each round it decides whether there is another.
Source: Bellman, "On a Routing Problem" (1958); Ford (1956). examples/sssp.py relaxes only the vertices that changed.

Run it: python examples/bellman_ford.py
"""

from __future__ import annotations

import numpy as np
import scipy.sparse.csgraph
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def bellman_ford(G, distance, rounds):
    count = 0
    changed = True
    while changed:
        changed = False
        count += 1
        for vertex in G.tiles():
            here = distance[vertex]
            for edge in G.atoms(vertex):
                candidate = here + G.value(edge)
                old = ev.atomic_min(distance, G.column(edge), candidate)
                shorter = candidate < old
                changed = changed or shorter
    rounds[0] = count


def main(schedule="auto", target=None):
    target = target or best()
    matrix = rmat(7, per_row=8)
    matrix.data += 0.1  # no weight is zero
    start = np.full(matrix.shape[0], np.inf, np.float32)
    start[0] = 0
    distance, rounds = put(target, start), put(target, np.zeros(1, np.int32))
    bellman_ford[schedule].on(target)(put(target, ev.csr(matrix)), distance, rounds)
    expected = scipy.sparse.csgraph.dijkstra(matrix.astype(np.float64), indices=0)
    np.testing.assert_allclose(get(distance), expected, rtol=1e-5)
    assert get(rounds)[0] > 1


if __name__ == "__main__":
    main()
    print(f"shortest paths on {best()}: equal to SciPy's results")
