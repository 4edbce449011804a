"""Shortest paths from one vertex: relax the edges of vertices that changed, the near ones first.

Without negative weights, vertices beyond a limit wait in a second frontier until there is nothing left below it. With
negative ones all vertices are near: that is Bellman-Ford over frontiers.

Sources: Bellman, "On a Routing Problem" (1958); Davidson, Baxter, Garland, Owens, "Work-Efficient Parallel GPU Methods
for Single-Source Shortest Paths" (IPDPS 2014): near and far.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

NONE = 2**31 - 1  # greater than any vertex
SPREAD = 4.0  # from 0.25 to 16 times the mean weight hardly differ: benchmarks/notes/graphs.md
FINE, NAN, CYCLE = 0, 1, 2  # what the kernel reports


@ev.kernel
def relax(F, far, G, V, distance, hops, parent, report, source, spread):
    """distance[v] of shortest paths. hops[v], parent[v], unless None: of the one with the fewest edges.

    spread: how many mean weights wide the range of near vertices is.
    """
    nan, negative = False, False
    total = 0.0
    for u in G.tiles():
        for e in G.atoms(u):
            w = G.value(e)
            nan = nan or w != w
            negative = negative or w < 0
            total += abs(float(w)) if abs(float(w)) < math.inf else 0.0
    for v in V.tiles():
        distance[v] = math.inf
        if parent is not None:
            hops[v] = -1
            parent[v] = NONE
    distance[source] = 0
    if not nan:
        F.push(source)
    step = math.inf if negative or total == 0 else spread * total / max(G.num_atoms, 1)
    limit = step
    settled = 0.0
    rounds = 0
    while len(F) > 0 and (not negative or rounds < len(distance)):
        while len(F) > 0 and (not negative or rounds < len(distance)):  # paths have fewer edges
            rounds += 1
            for u in F.tiles():
                for e in F.atoms(u):
                    v = F.column(e)
                    candidate = distance[u] + F.value(e)
                    near = candidate < distance[v]  # a load is cheaper than an atomic
                    if near and candidate < ev.atomic_min(distance, v, candidate):
                        if candidate < limit:
                            F.push(v)
                        else:
                            far.push(v)
        while len(F) == 0 and len(far) > 0:
            nearest = math.inf
            settled = limit
            limit = limit + step
            for u in far.tiles():
                here = distance[u]
                if here >= settled:  # else it came nearer, and has been walked
                    if here < limit:
                        F.push(u)
                    else:
                        far.push(u)
                        nearest = min(nearest, here)
            if nearest < math.inf:
                limit = max(limit, nearest)
            step = step * 2 if len(F) == 0 else step  # so that limits grow, however large they are
    cycle = len(F) > 0
    if nan:
        report[0] = NAN
    elif cycle:
        report[0] = CYCLE
    else:
        report[0] = FINE
    # Breadth-first along the edges of shortest paths, which may have length 0.
    if parent is not None and not nan and not cycle:
        hops[source] = 0
        F.push(source)
    depth = 0
    while len(F) > 0 and not cycle:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                if parent is not None:
                    v = F.column(e)
                    candidate = distance[u] + F.value(e)
                    if candidate == distance[v] and candidate < math.inf:
                        seen = hops[v]
                        if seen == -1:
                            seen = ev.atomic_cas(hops, v, -1, depth)
                            if seen == -1:
                                F.push(v)
                        if (seen == -1 or seen == depth) and u < parent[v]:
                            ev.atomic_min(parent, v, u)
    for v in V.tiles():
        if parent is not None and parent[v] == NONE:
            parent[v] = -1


def sssp(
    G: Any,
    source: int,
    *,
    return_parents: bool = False,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Shortest paths: the least sum of weights of a path from `source` to each vertex, (n,).

    Vertices that no path reaches have inf. Every entry that G stores is an edge, one of weight 0 too. Weights may be
    negative, if no cycle that the source reaches is. The result is float32 for weights of float32 and of up to 16 bits,
    else float64.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. The result is
      of the same library, on the same device; NumPy's for a tensor in host memory.
    return_parents: also return the parent of each vertex, (n,) int32. Of the shortest paths, those with the fewest
      edges count; of the last vertices before v on these, the one with the smallest number. -1 for the source and for
      what it does not reach.
    schedule, target: as of `ev.spmv`.

    On a GPU a call is one launch, and it waits, since there may be a negative cycle. Raises InputError for a negative
    cycle, for a weight that is NaN, and if G is not square or has no such vertex.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 2, 7], [0, 0, 4], [1, 0, 0]]))
    >>> ev.graph.sssp(G, 0, return_parents=True)
    (array([0., 2., 6.]), array([-1,  0,  1], dtype=int32))
    """
    G = kit.as_graph(G)
    source = kit.vertex(source, G)
    n = G.num_tiles
    distance = kit.empty(G.offsets, (n,), kit.float_type(G))
    hops, parent = (kit.empty(distance, (n,), np.int32) if return_parents else None for _ in "ab")
    report = kit.empty(distance, (1,), np.int32)
    F, far = ev.frontier(G, unique=True), ev.frontier(G, unique=True)
    arrays = distance, hops, parent, report
    relax[schedule].on(target)(F, far, G, kit.each(n), *arrays, source, SPREAD)
    found = kit.entry(report, 0)
    if found == NAN:
        raise ev.InputError("G", expected="weights that are numbers", given="NaN")
    if found == CYCLE:
        given = f"one that vertex {source} reaches"
        hint = "shortest paths along it would have no end"
        raise ev.InputError("G", expected="no negative cycle", given=given, hint=hint)
    return distance if parent is None else (distance, parent)
