"""How many entries of a graph algorithm's result are wrong, by SciPy or from the definition.

Each takes the graph as a csr_array of float64, the source, and the result as a NumPy array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

DAMPING, TOLERANCE = 0.85, 1e-6  # the defaults of ev.graph.pagerank


def bfs(G: Any, source: int, levels: Any) -> int:
    exact = csgraph.dijkstra(_explicit(G), indices=source, unweighted=True)
    return int((levels != np.where(np.isinf(exact), -1, exact)).sum())


def sssp(G: Any, source: int, lengths: Any) -> int:
    search = csgraph.bellman_ford if (G.data < 0).any() else csgraph.dijkstra
    exact = search(G, indices=source)
    return int((~np.isclose(lengths, exact, rtol=1e-9, atol=1e-12)).sum())


def pagerank(G: Any, source: int, ranks: Any) -> int:
    """From n TOLERANCE on, each round comes nearer by the factor DAMPING: so far is the result from the exact one."""
    n = G.shape[0]
    if n == 0:
        return len(ranks)
    sums = G.sum(axis=1)
    scaled = scipy.sparse.diags_array(np.divide(1, sums, where=sums > 0, out=np.zeros(n))) @ G
    exact = np.full(n, 1 / n)
    for _ in range(200):
        lost = exact[sums == 0].sum()
        exact = DAMPING * (exact @ scaled + lost / n) + (1 - DAMPING) / n
    bound = n * TOLERANCE / (1 - DAMPING)
    return int((~(abs(ranks - exact) <= bound)).sum()) + int(not np.isclose(ranks.sum(), 1))


def components(G: Any, source: int, labels: Any) -> int:
    count, parts = csgraph.connected_components(_explicit(G), directed=False)
    first = np.full(count, G.shape[0])
    np.minimum.at(first, parts, np.arange(G.shape[0]))
    return int((labels != first[parts]).sum())


def triangles(G: Any, source: int, counts: Any) -> int:
    simple = undirected(G)
    exact = (simple @ simple).multiply(simple).sum(axis=1) // 2
    return int((counts != exact).sum())


def cores(G: Any, source: int, numbers: Any) -> int:
    """By the definition: while there is a vertex of degree k or less, take it away."""
    simple = undirected(G)
    left = np.diff(simple.indptr).tolist()
    exact = np.zeros(len(left), np.int64)
    alive = np.ones(len(left), bool)
    k = 0
    while alive.any():
        waiting = [v for v in np.flatnonzero(alive).tolist() if left[v] <= k]
        while waiting:
            v = waiting.pop()
            if alive[v]:
                alive[v], exact[v] = False, k
                for u in simple.indices[simple.indptr[v] : simple.indptr[v + 1]].tolist():
                    left[u] -= 1
                    if alive[u] and left[u] <= k:
                        waiting.append(u)
        k += 1
    return int((numbers != exact).sum())


def undirected(G: Any) -> Any:
    """The same graph with each edge in both directions, once, and without self loops; int64 ones."""
    edges = G.tocoo()
    keep = edges.row != edges.col
    src, dst = edges.row[keep], edges.col[keep]
    both = np.concatenate([src, dst]), np.concatenate([dst, src])
    found = scipy.sparse.csr_array((np.ones(len(both[0]), np.int64), both), shape=G.shape)
    found.sum_duplicates()
    found.data[:] = 1
    return found


def _explicit(G: Any) -> Any:
    """The same graph with the weight 1 everywhere, since SciPy may leave out stored zeros."""
    return scipy.sparse.csr_array((np.ones(G.nnz), G.indices, G.indptr), shape=G.shape)
