"""Triangles: each is found once, at the edge between those two of its vertices that have the fewest neighbours.

Vertices are numbered anew by their degrees, and edges lead to the greater number. So lists of neighbours are short, and
what lies behind v in the list of u is merged with the list of v. Of vertices with one degree any may be the first: the
counts are the same.

Source: Schank, Wagner, "Finding, Counting and Listing All Triangles in Large Graphs" (WEA 2005): `forward`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.func
def degree(G, v):
    """The number of neighbours: less than there are vertices, unless G lists some of them twice."""
    return min(G.end(v) - G.begin(v), G.num_tiles - 1)


@ev.kernel
def histogram(G, V, found):
    for v in V.tiles():
        ev.atomic_add(found, degree(G, v), 1)


@ev.kernel
def number(G, V, following, rank, order):
    """rank[v], order[r]: the number of a vertex, and which has it. following[d]: the next number for a degree d."""
    for v in V.tiles():
        r = ev.atomic_add(following, degree(G, v), 1)
        rank[v] = r
        order[r] = v


@ev.kernel
def upward(G, rank, out):
    """Emit the neighbours with greater numbers, by these."""
    for u in G.tiles():
        for e in G.atoms(u):
            r = rank[G.column(e)]
            if r > rank[u]:
                out.emit(r)


@ev.kernel
def ascend(L, heads):
    """Sort each list of L: they are short, and an element comes behind as many as are less."""
    for u in L.tiles():
        for e in L.atoms(u):
            v = L.column(e)
            heads[L.begin(u) + sum(1 for f in L.atoms(u) if L.column(f) < v)] = int(v)


@ev.kernel
def close(D, closed):
    """Add to closed[e] the triangles that the edge e of D makes with another edge from the same vertex."""
    for u in D.tiles():
        for e in D.atoms(u):
            v = D.column(e)
            i, j = e + 1, D.begin(v)
            last, end = D.end(u), D.end(v)
            found = 0
            if i < last and j < end:
                a, b = D.column(i), D.column(j)
                while i < last and j < end:
                    here, there = a <= b, b <= a
                    if here and there:
                        ev.atomic_add(closed, i, 1)
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
                ev.atomic_add(closed, e, found)


@ev.kernel
def add_up(D, V, order, closed, count):
    """count[v]: the triangles at v. Of each, two edges that leave its least vertex have been counted."""
    for v in V.tiles():
        count[v] = 0
    for u in D.tiles():
        twice = np.int64(0)
        for e in D.atoms(u):
            here = np.int64(closed[e])
            twice += here
            if here > 0:
                ev.atomic_add(count, order[D.column(e)], here)
        if twice > 0:
            ev.atomic_add(count, order[u], twice // 2)


@ev.kernel
def local_clustering(G, V, count, share):
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
    local_clustering[schedule].on(target)(G, kit.each(G.num_tiles), count, share)
    return share


def _count(G: Any, schedule: Any, target: str) -> Any:
    D, order = _upward(G, target)
    closed = kit.zeros(order, (len(D.indices),), np.int32)
    close[schedule].on(target)(D, closed)
    count = kit.empty(order, (G.num_tiles,), np.int64)
    add_up[schedule].on(target)(D, kit.each(G.num_tiles), order, closed, count)
    return count


def _upward(G: Any, target: str) -> tuple[Any, Any]:
    """Return the edges to greater numbers, as a graph of these with ascending lists, and whose number each is."""
    n = G.num_tiles
    V, found = kit.each(n), kit.zeros(G.offsets, (n,), np.int32)
    histogram.on(target)(G, V, found)
    following = ev.prefix_sum(found, include_initial=True)
    rank, order = (kit.empty(found, (n,), np.int32) for _ in range(2))
    number.on(target)(G, V, following, rank, order)
    lists, heads = upward.on(target).collect(ev.subset(G, order), rank, out=(np.int32,))
    # Zeros, since a list that names a vertex twice, which `check=False` lets pass, leaves a place as it is.
    sorted_heads = kit.zeros(heads, (len(heads),), np.int32)
    ascend.on(target)(_graph(heads, lists.offsets), sorted_heads)
    return _graph(sorted_heads, lists.offsets), order


def _graph(heads: Any, offsets: Any) -> Any:
    n = len(offsets) - 1
    return ev.csr((heads, heads, offsets), shape=(n, n), check=False)
