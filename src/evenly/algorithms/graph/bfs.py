"""Breadth-first search: the vertices that a round reaches for the first time are walked in the next one.

With the graph turned around, large frontiers are not walked: vertices that are not reached look for them instead.

Sources: Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal" (PPoPP 2012); Beamer, Asanović, Patterson,
"Direction-Optimizing Breadth-First Search" (SC 2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

NONE = 2**31 - 1  # greater than any vertex
LARGE = 16  # a frontier is large if it has one of so many vertices


@ev.kernel
def search(F, V, level, parent, source):
    """level[v]: the fewest edges from the source; parent[v], unless None: the smallest vertex one level up."""
    for v in V.tiles():
        level[v] = -1
        if parent is not None:
            parent[v] = NONE
    level[source] = 0
    F.push(source)
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                v = F.column(e)
                seen = level[v]  # most are seen already: a load is cheaper than an atomic
                if seen == -1:
                    seen = ev.atomic_cas(level, v, -1, depth)
                    if seen == -1:  # only one edge is the first
                        F.push(v)
                if parent is not None and (seen == -1 or seen == depth) and u < parent[v]:
                    ev.atomic_min(parent, v, u)
    for v in V.tiles():
        if parent is not None and parent[v] == NONE:
            parent[v] = -1


@ev.kernel
def search_both_ways(F, R, V, level, parent, source):
    """The same. R: the graph turned around."""
    for v in V.tiles():
        level[v] = -1
        if parent is not None:
            parent[v] = NONE
    level[source] = 0
    F.push(source)
    depth = 0
    large = False
    while len(F) > 0:
        while len(F) > 0 and not large:
            depth += 1
            for u in F.tiles():
                for e in F.atoms(u):
                    v = F.column(e)
                    seen = level[v]
                    if seen == -1:
                        seen = ev.atomic_cas(level, v, -1, depth)
                        if seen == -1:
                            F.push(v)
                    if parent is not None and (seen == -1 or seen == depth) and u < parent[v]:
                        ev.atomic_min(parent, v, u)
            large = len(F) * LARGE > len(level)
        while large:
            depth += 1
            reached = 0
            for v in R.tiles():
                if level[v] == -1:
                    if parent is None:
                        near = any(level[R.column(e)] == depth - 1 for e in R.atoms(v))
                    else:
                        above = min(
                            (R.column(e) for e in R.atoms(v) if level[R.column(e)] == depth - 1),
                            default=NONE,
                        )
                        near = above < NONE
                        parent[v] = above
                    if near:
                        ev.atomic_max(level, v, depth)
                        reached += 1
            large = reached * LARGE > len(level)
        for _ in F.tiles():  # those that were walked from the other side, if any
            pass
        for v in V.tiles():
            if level[v] == depth:
                F.push(v)
    for v in V.tiles():
        if parent is not None and parent[v] == NONE:
            parent[v] = -1


def bfs(
    G: Any,
    source: int,
    *,
    return_parents: bool = False,
    csc: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Breadth-first search: the level of each vertex, the fewest edges on a path from `source`, (n,) int32.

    Vertices that no path reaches have -1. Every entry that G stores is an edge; its value does not count.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. The result is
      of the same library, on the same device; NumPy's for a tensor in host memory.
    return_parents: also return the parent of each vertex, (n,) int32: of its neighbours one level up the one with the
      smallest number; -1 for the source and for what it does not reach.
    csc: G as `ev.csc` makes it, if you have it. Then large levels are searched from the vertices that are not reached
      yet, which is quicker where few levels have most vertices. Of a symmetric G it is `G.transpose()`.
    schedule, target: as of `ev.spmv`.

    On a GPU a call is one launch. Raises InputError if G is not square or has no such vertex.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]))
    >>> ev.graph.bfs(G, 0, return_parents=True)
    (array([0, 1, 1, 2], dtype=int32), array([-1,  0,  0,  1], dtype=int32))
    """
    G = kit.as_graph(G)
    source = kit.vertex(source, G)
    level = kit.empty(G.offsets, (G.num_tiles,), np.int32)
    parent = kit.empty(level, (G.num_tiles,), np.int32) if return_parents else None
    F = ev.frontier(G, unique=True)
    V = kit.each(G.num_tiles)
    if csc is None:
        search[schedule].on(target)(F, V, level, parent, source)
    else:
        R = kit.as_reverse(G, csc)
        search_both_ways[schedule].on(target)(F, R, V, level, parent, source)
    return level if parent is None else (level, parent)
