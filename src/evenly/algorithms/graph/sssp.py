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
MOST = 2**62  # rounds: no bound
FIRST_LOOK = 64  # rounds, until the distances are looked at; then twice as many, and so on
FRONTIERS = 40  # bytes of two frontiers that keep duplicates out, for each vertex
FINE, NAN, CYCLE = 0, 1, 2  # what the kernel reports


@ev.kernel
def relax(F, far, G, V, S, n, distance, hops, parent, report, sources, spread):
    """distance[v] of shortest paths. hops[v], parent[v], unless None: of the one with the fewest edges.

    F, far: frontiers of the copies of G. S: a tile for each source. spread: how many mean weights wide the range of
    near vertices is. report: FINE, NAN or CYCLE; the rounds that relax edges; how many edges they relax in all.
    """
    nan, negative = False, False
    total, floor = 0.0, 0.0
    for u in G.tiles():
        least = 0.0
        for e in G.atoms(u):
            w = G.value(e)
            nan = nan or w != w
            negative = negative or w < 0
            total += abs(float(w)) if abs(float(w)) < math.inf else 0.0
            least = min(least, float(w))
        floor += least  # a path that comes to no vertex twice is not shorter
    for v in V.tiles():
        distance[v] = math.inf
        if parent is not None:
            hops[v] = -1
            parent[v] = NONE
    for s in S.tiles():
        kit.start(F, distance, sources, s, n)
    step = math.inf if negative or total == 0 else spread * total / max(G.num_atoms, 1)
    limit = step
    settled = 0.0
    rounds, relaxed = 0, 0
    most = G.num_tiles if negative else MOST  # paths have fewer edges than there are vertices
    pause = FIRST_LOOK if negative else MOST
    cycle = False
    while len(F) > 0 and rounds < most and not nan and not cycle:
        while len(F) > 0 and rounds < min(most, pause):
            rounds += 1
            relaxed += F.waiting_atoms
            for u in F.tiles():
                first = kit.first_of(u, n)
                for e in F.atoms(u):
                    v = F.column(e) + first
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
        while rounds >= pause:  # walking a cycle has made distances less than any path's
            lowest = 0.0
            for v in V.tiles():
                lowest = min(lowest, float(distance[v]))
            cycle = lowest < 2 * floor  # twice, since both are rounded
            pause *= 2
    cycle = cycle or len(F) > 0
    report[1] = rounds
    report[2] = relaxed
    if nan:
        report[0] = NAN
    elif cycle:
        report[0] = CYCLE
    else:
        report[0] = FINE
    # Breadth-first along the edges of shortest paths, which may have length 0.
    if parent is not None:
        for s in S.tiles():
            kit.start(F, hops, sources, s, n)
        depth = 0
        while len(F) > 0 and not cycle and not nan:
            depth += 1
            for u in F.tiles():
                first = kit.first_of(u, n)
                for e in F.atoms(u):
                    v = F.column(e) + first
                    candidate = distance[u] + F.value(e)
                    if candidate == distance[v] and candidate < math.inf:
                        kit.reach(F, hops, parent, v, u - first, depth)
        for v in V.tiles():
            if parent[v] == NONE:
                parent[v] = -1


def spread(degree: float) -> float:
    """How many mean weights wide the range of near vertices is: the more edges a vertex has, the narrower.

    Wide ranges relax edges again and again, narrow ones take more rounds: benchmarks/notes/graphs.md.
    """
    return min(max(8 / max(degree, 1), 1 / 8), 4) ** 2


def sssp(
    G: Any,
    source: Any,
    *,
    return_parents: bool = False,
    max_workspace: int | None = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Shortest paths: the least sum of weights of a path from `source` to each vertex, (n,).

    Vertices that no path reaches have inf. Every entry that G stores is an edge, one of weight 0 too. Weights may be
    negative, if no cycle that the source reaches is. The result is float32 for weights of float32 and of up to 16 bits,
    else float64.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. The result is
      of the same library, on the same device; NumPy's for a tensor in host memory.
    source: a vertex, or a list or vector of k vertices: a search from each of them, and (k, n) results.
    return_parents: also return the parent of each vertex, (n,) int32. Of the shortest paths, those with the fewest
      edges count; of the last vertices before v on these, the one with the smallest number. -1 for the source and for
      what it does not reach.
    max_workspace: of several sources as many run at once as take so many bytes, beside G and the result, and at least
      40 n; 44 n with parents. Default: 1 GiB, but at least one runs.
    schedule, target: as of `ev.spmv`.

    On a GPU all searches that run at once are one launch, and the call waits, since there may be a negative cycle.
    Raises InputError for a negative cycle, for a weight that is NaN, if G is not square or has no such vertex, and if
    `max_workspace` is too little for one search.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 2, 7], [0, 0, 4], [1, 0, 0]]))
    >>> ev.graph.sssp(G, 0, return_parents=True)
    (array([0., 2., 6.]), array([-1,  0,  1], dtype=int32))
    >>> ev.graph.sssp(G, [1, 2])
    array([[5., 0., 4.],
           [1., 3., 0.]])
    """
    G = kit.as_graph(G)
    sources, several = kit.vertices(source, G)
    n = G.num_tiles
    distance = kit.empty(G.offsets, (len(sources) * n,), kit.float_type(G))
    parent = kit.empty(distance, distance.shape, np.int32) if return_parents else None
    one = (FRONTIERS + (4 if return_parents else 0)) * n
    for part in kit.in_parts(len(sources), G, one, max_workspace):
        lengths, parents = (
            x if x is None else kit.part(x, part.start * n, part.stop * n)
            for x in (distance, parent)
        )
        _search(G, lengths, parents, sources[part], schedule, target)
    shape = (len(sources), n) if several else (n,)
    found = tuple(x.reshape(shape) for x in (distance, parent) if x is not None)
    return found if return_parents else found[0]


def _search(G: Any, distance: Any, parent: Any, sources: Any, schedule: Any, target: str) -> None:
    """Run searches at once. Raises InputError for weights that lead to no shortest paths."""
    k, n = len(sources), G.num_tiles
    copies = kit.copies(G, k)
    F, far = ev.frontier(copies, unique=True), ev.frontier(copies, unique=True)
    hops = None if parent is None else kit.empty(distance, (k * n,), np.int32)
    report = kit.empty(distance, (3,), np.int64)
    relax[schedule].on(target)(
        F, far, G, kit.each(k * n), kit.each(k), n if k > 1 else None, distance, hops, parent, report,
        kit.to_where(distance, sources), spread(len(G.indices) / max(n, 1)),
    )  # fmt: skip
    found = kit.entry(report, 0)
    if found == NAN:
        raise ev.InputError("G", expected="weights that are numbers", given="NaN")
    if found == CYCLE:
        whose = f"vertex {sources[0]}" if k == 1 else "a source"
        hint = "shortest paths along it would have no end"
        expected = "no negative cycle"
        raise ev.InputError("G", expected=expected, given=f"one that {whose} reaches", hint=hint)
