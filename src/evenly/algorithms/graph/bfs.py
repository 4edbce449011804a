"""Breadth-first search: the vertices that a round reaches for the first time are walked in the next one.

With the graph turned around, levels that have many edges are not walked: vertices that are not reached look for them
instead.

Sources: Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal" (PPoPP 2012); Beamer, Asanović, Patterson,
"Direction-Optimizing Breadth-First Search" (SC 2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

NONE = 2**31 - 1  # greater than any vertex
# A level is pulled if this many times its edges are more than those of the vertices that are not reached: a vertex that
# looks for a neighbour soon finds one, but for its smallest neighbour it has to look at all edges.
SOME, ALL = 14, 2
SCANS = (
    4  # so many vertices are looked at in the time of an edge: a level with few edges is not pulled
)
LOOKS = (
    16  # neighbours that a vertex looks at by itself; what lies behind is divided among all threads
)
FRONTIER = 16  # bytes of a frontier, for each vertex


@ev.kernel
def search(F, L, R, V, S, n, level, parent, sources, edges, times):
    """level[v]: the fewest edges from the source of v's copy. parent[v], unless None: the smallest vertex one level up.

    F, L: frontiers of the graph, and of R, the graph turned around; both may be None. S: a tile for each source.
    edges: of all copies. times: levels are pulled if so many times their edges are more than those that are left.
    """
    for v in V.tiles():
        level[v] = -1
        if parent is not None:
            parent[v] = NONE
    for s in S.tiles():
        kit.start(F, level, sources, s, n)
    depth = 0
    large = False
    left = edges  # those of vertices that are not reached
    while len(F) > 0:
        while len(F) > 0 and not large:
            depth += 1
            for u in F.tiles():
                first = kit.first_of(u, n)
                for e in F.atoms(u):
                    kit.reach(F, level, parent, F.column(e) + first, u - first, depth)
            if R is not None:
                left -= F.waiting_atoms
                large = F.waiting_atoms * times > left and F.waiting_atoms * SCANS > len(level)
        if R is not None:
            while large:
                depth += 1
                for _ in F.tiles():  # they are found by those that are next to them
                    pass
                for v in V.tiles():
                    if level[v] == -1:
                        first = kit.first_of(v, n)
                        e = R.begin(v - first)
                        end = R.end(v - first)
                        last = min(end, e + LOOKS)
                        above = NONE
                        while e < last and (parent is not None or above == NONE):
                            u = R.column(e)
                            if level[u + first] == depth - 1:
                                above = min(above, u)
                            e += 1
                        if above < NONE and (parent is None or e == end):
                            ev.atomic_exch(level, v, depth)
                            F.push(v)
                            if parent is not None:
                                parent[v] = above
                        elif e < end:
                            L.push(v)
                for v in L.tiles():
                    first = kit.first_of(v, n)
                    if parent is None:
                        near = any(level[L.column(e) + first] == depth - 1 for e in L.atoms(v))
                    else:
                        above = min(
                            (
                                L.column(e)
                                for e in L.atoms(v)
                                if level[L.column(e) + first] == depth - 1
                            ),
                            default=NONE,
                        )
                        near = above < NONE
                        parent[v] = above
                    if near:
                        ev.atomic_exch(level, v, depth)
                        F.push(v)
                left -= F.waiting_atoms
                large = F.waiting_atoms * times > left and F.waiting_atoms * SCANS > len(level)
    if parent is not None:
        for v in V.tiles():
            if parent[v] == NONE:
                parent[v] = -1


def bfs(
    G: Any,
    source: Any,
    *,
    return_parents: bool = False,
    csc: Any = None,
    max_workspace: int | None = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Breadth-first search: the level of each vertex, the fewest edges on a path from `source`, (n,) int32.

    Vertices that no path reaches have -1. Every entry that G stores is an edge; its value does not count.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. The result is
      of the same library, on the same device; NumPy's for a tensor in host memory.
    source: a vertex, or a list or vector of k vertices: a search from each of them, and (k, n) results.
    return_parents: also return the parent of each vertex, (n,) int32: of its neighbours one level up the one with the
      smallest number; -1 for the source and for what it does not reach.
    csc: G as `ev.csc` makes it, if you have it. Then levels that many edges leave are searched from the vertices that
      are not reached yet, which is quicker where few levels have most edges. Of a symmetric G it is `G.transpose()`.
    max_workspace: of several sources as many run at once as take so many bytes, beside G and the result, and at least
      16 n; 32 n with `csc`. Default: 1 GiB, but at least one runs.
    schedule, target: as of `ev.spmv`.

    On a GPU all searches that run at once are one launch. Raises InputError if G is not square or has no such
    vertex, and if `max_workspace` is too little for one.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]))
    >>> ev.graph.bfs(G, 0, return_parents=True)
    (array([0, 1, 1, 2], dtype=int32), array([-1,  0,  0,  1], dtype=int32))
    >>> ev.graph.bfs(G, [0, 3])
    array([[ 0,  1,  1,  2],
           [-1, -1, -1,  0]], dtype=int32)
    """
    G = kit.as_graph(G)
    sources, several = kit.vertices(source, G)
    R = None if csc is None else kit.as_reverse(G, csc)
    n = G.num_tiles
    level = kit.empty(G.offsets, (len(sources) * n,), np.int32)
    parent = kit.empty(level, level.shape, np.int32) if return_parents else None
    one = FRONTIER * n * (1 if R is None else 2)
    for part in kit.in_parts(len(sources), G, one, max_workspace):
        levels, parents = (
            x if x is None else kit.part(x, part.start * n, part.stop * n) for x in (level, parent)
        )
        _search(G, R, levels, parents, sources[part], schedule, target)
    shape = (len(sources), n) if several else (n,)
    found = tuple(x.reshape(shape) for x in (level, parent) if x is not None)
    return found if return_parents else found[0]


def _search(
    G: Any, R: Any, level: Any, parent: Any, sources: Any, schedule: Any, target: str
) -> None:
    k, n, edges = len(sources), G.num_tiles, len(sources) * len(G.indices)
    F = ev.frontier(kit.copies(G, k), check=False)
    L = None if R is None else ev.frontier(kit.copies(R, k), check=False)
    times = SOME if parent is None else ALL
    search[schedule].on(target)(
        F, L, R, kit.each(k * n), kit.each(k), n if k > 1 else None, level, parent,
        kit.to_where(level, sources), edges, times,
    )  # fmt: skip
