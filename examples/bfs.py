"""Breadth-first search: the vertices that a round reaches for the first time are walked in the next one.

The frontier is an `ev.frontier`: its vertices and their number stay on the device, so the host launches once. Every
schedule balances its edges. Source: Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal" (PPoPP 2012).

Run it: python examples/bfs.py
"""

from __future__ import annotations

import numpy as np
import scipy.sparse.csgraph
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def bfs(F, level, source):
    level[source] = 0
    F.push(source)
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                v = F.column(e)
                if ev.atomic_cas(level, v, -1, depth) == -1:  # only one edge is the first
                    F.push(v)


def main(schedule="auto", target=None):
    target = target or best()
    matrix = rmat(7, per_row=8)
    level = put(target, np.full(matrix.shape[0], -1, np.int32))
    F = ev.frontier(put(target, ev.csr(matrix)))
    bfs[schedule].on(target)(F, level, 0)
    matrix.data[:] = 1
    expected = scipy.sparse.csgraph.dijkstra(matrix.astype(np.float64), indices=0, unweighted=True)
    np.testing.assert_array_equal(get(level), np.where(np.isinf(expected), -1, expected))


if __name__ == "__main__":
    main()
    print(f"levels on {best()}: equal to SciPy's results")
