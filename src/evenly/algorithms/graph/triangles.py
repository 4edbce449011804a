"""Triangles: two neighbours of the vertex of least degree, and an edge between them, which is looked up.

Edges lead to the greater degree, so that a vertex has few of them to pair. They are looked up in a hash table in which
each vertex has a part: the neighbours with a greater number.

Sources: Schank, Wagner, "Finding, Counting and Listing All Triangles in Large Graphs" (WEA 2005), `forward-hashed`;
Pandey et al., "TRUST: Triangle Counting Reloaded on GPUs" (TPDS 2021): hashing on GPUs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

ROOM = 2  # places of the table for an edge


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
def room(G, places):
    """places[u]: those of u's part of the table, so that at least half of them stay empty."""
    for u in G.tiles():
        places[u] = ROOM * sum(1 for e in G.atoms(u) if G.column(e) > u)


@ev.func
def place(v, start, stop):
    """Where the search for v begins in a part of the table. Fibonacci hashing: Knuth, TAOCP 3, section 6.4."""
    return start + (np.int64(np.uint32(v) * np.uint32(2654435769)) * (stop - start) >> 32)


@ev.kernel
def enter(G, start, table):
    """Put the neighbours v > u of each vertex u into its part. None of them is 0, which says that a place is empty."""
    for u in G.tiles():
        first, end = np.int64(start[u]), np.int64(start[u + 1])
        for e in G.atoms(u):
            v = G.column(e)
            if v > u:
                at = place(v, first, end)
                old = ev.atomic_cas(table, at, 0, v)
                while old != 0:
                    at += 1
                    if at == end:
                        at = first
                    old = ev.atomic_cas(table, at, 0, v)


@ev.kernel
def close(D, start, table, closed):
    """Add to closed[e] the triangles that the edge e of D makes with another edge of the same vertex.

    A neighbour v is paired with those after it, which have greater numbers.
    """
    for u in D.tiles():
        for e in D.atoms(u):
            v = D.column(e)
            first, end = np.int64(start[v]), np.int64(start[v + 1])
            f, last = e + 1, D.end(u)
            found = 0
            if f < last and first < end:
                w = D.column(f)
                at = place(w, first, end)
                while (
                    f < last
                ):  # one place a round: threads of a warp do not wait for the longest search
                    there = table[at]
                    if there == w:
                        ev.atomic_add(closed, f, 1)
                        found += 1
                    if there == w or there == 0:
                        f += 1
                        if f < last:
                            w = D.column(f)
                            at = place(w, first, end)
                    else:
                        at += 1
                        if at == end:
                            at = first
            if found > 0:
                ev.atomic_add(closed, e, found)


@ev.kernel
def add_up(D, V, closed, count):
    """count[v]: the triangles at v. Of each, two edges that leave its least vertex have been counted."""
    for v in V.tiles():
        count[v] = 0
    for u in D.tiles():
        twice = np.int64(0)
        for e in D.atoms(u):
            here = np.int64(closed[e])
            twice += here
            if here > 0:
                ev.atomic_add(count, D.column(e), here)
        if twice > 0:
            ev.atomic_add(count, u, twice // 2)


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
    n = G.num_tiles
    lists, heads = upward.on(target).collect(G, out=(np.int32,))
    D = ev.csr((heads, heads, lists.offsets), shape=(n, n), check=False)
    places = kit.empty(heads, (n,), np.int64)
    room[schedule].on(target)(G, places)
    start = ev.prefix_sum(places, include_initial=True)
    table = kit.zeros(heads, (ROOM * len(heads),), np.int32)
    enter[schedule].on(target)(G, start, table)
    closed = kit.zeros(heads, (len(heads),), np.int32)
    close[schedule].on(target)(D, start, table, closed)
    count = kit.empty(heads, (n,), np.int64)
    add_up[schedule].on(target)(D, kit.each(n), closed, count)
    return count
