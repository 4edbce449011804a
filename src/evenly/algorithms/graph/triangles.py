"""Triangles: each is found once, at its edge from the vertex of least degree to the next.

Source: Schank, Wagner, "Finding, Counting and Listing All Triangles in Large Graphs" (WEA 2005): `forward`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def upward(G, out):
    """Emit the neighbours with a greater degree; of an equal one, with a greater number."""
    for u in G.tiles():
        here = G.end(u) - G.begin(u)
        for e in G.atoms(u):
            v = G.column(e)
            there = G.end(v) - G.begin(v)
            if there > here or (there == here and v > u):
                out.emit(np.int32(v))


@ev.kernel
def meet(D, V, count):
    """count[v]: the triangles at v. The lists of both ends of an edge ascend, and are merged."""
    for v in V.tiles():
        count[v] = 0
    for u in D.tiles():
        for e in D.atoms(u):
            v = D.column(e)
            i, j = D.begin(u), D.begin(v)
            last, end = D.end(u), D.end(v)
            found = np.int64(0)
            if j < end:
                a, b = D.column(i), D.column(j)
                while i < last and j < end:
                    here, there = a <= b, b <= a
                    if here and there:
                        ev.atomic_add(count, a, 1)
                        found += 1
                    if here:
                        i += 1
                        if i < last:
                            a = D.column(i)
                    if there:
                        j += 1
                        if j < end:
                            b = D.column(j)
            if found > 0:
                ev.atomic_add(count, u, found)
                ev.atomic_add(count, v, found)


@ev.kernel
def closed(G, V, count, share):
    for v in V.tiles():
        degree = G.end(v) - G.begin(v)
        share[v] = 2 * count[v] / (degree * (degree - 1)) if degree > 1 else 0.0


def triangles(G: Any, *, check: bool = True, schedule: Any = "auto", target: str = "auto") -> Any:
    """The number of triangles at each vertex, (n,) int64. A third of their sum is the number of triangles.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`, of which
      `ev.graph.undirected` is taken: directions, self loops, duplicates and values do not count. The result is of the
      same library, on the same device; NumPy's for a tensor in host memory.
    check: False: G is what `ev.graph.undirected` makes. It is not looked at.
    schedule, target: as of `ev.spmv`.

    Raises InputError if G is not square.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))
    >>> ev.graph.triangles(G)
    array([1, 1, 1, 0])
    """
    G = ev.graph.undirected(G) if check else kit.as_graph(G)
    return _count(G, schedule, target)


def clustering(G: Any, *, check: bool = True, schedule: Any = "auto", target: str = "auto") -> Any:
    """The clustering coefficient of each vertex, (n,) float64: the share of pairs of its neighbours that are an edge.

    It is 0 for vertices with fewer than two neighbours. Arguments and errors are those of `ev.graph.triangles`.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))
    >>> ev.graph.clustering(G).round(3)
    array([0.333, 1.   , 1.   , 0.   ])
    """
    G = ev.graph.undirected(G) if check else kit.as_graph(G)
    count = _count(G, schedule, target)
    share = kit.empty(count, (G.num_tiles,), np.float64)
    closed[schedule].on(target)(G, kit.each(G.num_tiles), count, share)
    return share


def _count(G: Any, schedule: Any, target: str) -> Any:
    n = G.num_tiles
    lists, heads = upward.on(target).collect(G, out=(np.int32,))
    D = ev.csr((heads, heads, lists.offsets), shape=(n, n), check=False)
    count = kit.empty(heads, (n,), np.int64)
    meet[schedule].on(target)(D, kit.each(n), count)
    return count
