"""Betweenness by Brandes: paths are counted level by level, and collected in the opposite order.

Each vertex pulls its sum along its own edges, in their order, so that floats need no atomics. Backwards, a vertex is
walked when all those below it have been.

Source: Brandes, "A Faster Algorithm for Betweenness Centrality" (2001).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def accumulate(F, R, V, sources, level, paths, below, part, total, edge):
    """total[v]: over all sources, the shares of shortest paths that pass v. edge[e], unless None: that take edge e.

    F, R: along edges and against them.
    """
    for v in V.tiles():
        total[v] = 0
    s = 0
    while s < len(sources):
        source = sources[s]
        s += 1
        for v in V.tiles():
            level[v] = -1
            paths[v] = 0
            below[v] = 0
            part[v] = 0
        level[source] = 0
        F.push(source)
        R.push(source)
        depth = 0
        while len(F) > 0:
            depth += 1
            for v in R.tiles():  # their parents are two levels above those that are reached now
                found = 0.0
                for e in R.atoms(v):
                    u = R.column(e)
                    if level[u] >= 0 and level[u] == depth - 2:
                        found += paths[u]
                ev.atomic_exch(paths, v, found if depth > 1 else 1.0)
            for u in F.tiles():
                count = 0
                for e in F.atoms(u):
                    v = F.column(e)
                    seen = level[v]
                    if seen == -1:
                        seen = ev.atomic_cas(level, v, -1, depth)
                        if seen == -1:
                            F.push(v)
                            R.push(v)
                    if seen == -1 or seen == depth:
                        count += 1
                below[u] = count
        for v in V.tiles():
            if level[v] >= 0 and below[v] == 0:
                F.push(v)
                R.push(v)
        while len(F) > 0:
            for u in F.tiles():
                found = 0.0
                for e in F.atoms(u):
                    v = F.column(e)
                    share = paths[u] / paths[v] * (1 + part[v]) if level[v] == level[u] + 1 else 0.0
                    found += share
                    if edge is not None:
                        edge[e] += share
                ev.atomic_exch(part, u, found)
                if u != source:
                    total[u] += found
            for v in R.tiles():
                for e in R.atoms(v):
                    u = R.column(e)
                    above = level[u] >= 0 and level[u] == level[v] - 1
                    if above and ev.atomic_add(below, u, -1) == 1:  # the last one below u
                        F.push(u)
                        R.push(u)


@ev.kernel
def scale(V, total, factor):
    for v in V.tiles():
        total[v] = total[v] * factor


def betweenness(
    G: Any,
    *,
    sources: Any = None,
    normalized: bool = True,
    csc: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Betweenness centrality: how many of the shortest paths between two others pass each vertex, (n,) float64.

    For each ordered pair of vertices s and t it adds the share of the shortest paths from s to t that pass v. Every
    entry that G stores is an edge of length 1, so that edges stored twice are two paths.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. The result is
      of the same library, on the same device; NumPy's for a tensor in host memory.
    sources: (k,), int32 or int64 on the same device: only these s, and the sum times n / k. Default: all of them.
    normalized: divide by (n - 1) (n - 2), the number of pairs. If not, each pair of an undirected graph counts twice,
      since it has two orders.
    csc: G as `ev.csc` makes it, since paths are followed back, too. Default: made at each call. Of a symmetric G it
      is `G.transpose()`, which costs nothing.
    schedule, target: as of `ev.spmv`, but the schedule gives a vertex as a whole to a thread or a group.

    The same arguments give the same bits on every run. Counts of paths are float64: beyond 1e308 paths the result is
    NaN. On a GPU all sources are one launch. Raises InputError if G is not square or has no such source, and for
    schedules that split tiles.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]))
    >>> ev.graph.betweenness(G, normalized=False)
    array([0., 4., 4., 0.])
    """
    G = kit.as_graph(G)
    total, _ = _accumulated(G, sources, csc, schedule, target)
    n = G.num_tiles
    return _scaled(total, n, sources, (n - 1) * (n - 2) if normalized else 1, target)


def edge_betweenness(
    G: Any,
    *,
    sources: Any = None,
    normalized: bool = True,
    csc: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Betweenness centrality of edges: how many of the shortest paths take each edge that G stores, (edges,) float64.

    The edges are in the order of G as `ev.csr` has them. For each ordered pair of vertices s and t it adds the share of
    the shortest paths from s to t that take the edge. An undirected graph stores an edge twice, once for each
    direction; that of the edge is the sum of both.

    normalized: divide by n (n - 1), the number of pairs. The other arguments, bits and errors are those of
      `ev.graph.betweenness`.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]))
    >>> ev.graph.edge_betweenness(G, normalized=False)
    array([3., 3., 4., 4., 3., 3.])
    """
    G = kit.as_graph(G)
    edge = kit.zeros(G.offsets, (len(G.indices),), np.float64)
    _accumulated(G, sources, csc, schedule, target, edge)
    n = G.num_tiles
    return _scaled(edge, n, sources, n * (n - 1) if normalized else 1, target)


def _accumulated(
    G: Any, sources: Any, csc: Any, schedule: Any, target: str, edge: Any = None
) -> tuple[Any, Any]:
    """Return the sums over all sources: of vertices, and of edges if there is an array for them."""
    schedule, n = kit.of_whole_tiles(schedule), G.num_tiles
    if sources is None:
        sources = kit.positions(G.offsets, n)
    sources = kit.vector(sources, "sources")
    kit.check_beside(sources, "sources", G.offsets, "G")
    kit.check_indices(sources, n, "sources")
    total, paths, part = (kit.empty(G.offsets, (n,), np.float64) for _ in range(3))
    level, below = (kit.empty(total, (n,), np.int32) for _ in range(2))
    # In a list a vertex is once: when it is reached, and when the last one below it has been walked.
    F, R = (ev.frontier(H, check=False) for H in (G, kit.as_reverse(G, csc)))
    given = F, R, kit.each(n), sources, level, paths, below, part, total, edge
    accumulate[schedule].on(target)(*given)
    return total, edge


def _scaled(sums: Any, n: int, sources: Any, pairs: int, target: str) -> Any:
    """Scale sums over sources in place: to all sources, and to one pair of so many."""
    factor = n / max(n if sources is None else len(sources), 1) / max(pairs, 1)
    if factor != 1:
        scale[ev.ThreadMapped()].on(target)(kit.each(len(sums)), sums, factor)
    return sums
