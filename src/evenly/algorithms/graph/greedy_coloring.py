"""Greedy colouring in the order of hashed priorities: a vertex is coloured when its neighbours before it are.

Source: Jones, Plassmann, "A Parallel Graph Coloring Heuristic" (1993).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

ALL = np.uint64(2**64 - 1)


@ev.kernel
def colour_in_order(F, G, V, seed, waits, first, color):
    """color[v]: the least that no neighbour of a higher priority has. waits[v]: how many of these have none yet.

    first[v]: the least color that is still looked at: 64 fit into an integer, and if none of them is free, v is walked
    once more.
    """
    for v in V.tiles():
        color[v] = -1
        first[v] = 0
    for u in G.tiles():
        mine = kit.priority(u, seed)
        waits[u] = sum(1 for e in G.atoms(u) if kit.priority(G.column(e), seed) > mine)
        if waits[u] == 0:
            F.push(u)
    while len(F) > 0:
        for u in F.tiles():
            mine = kit.priority(u, seed)
            begin = first[u]
            used = np.uint64(0)
            for e in F.atoms(u):
                c = color[F.column(e)] - begin
                if c >= 0 and c < 64:
                    used |= np.uint64(1) << np.uint64(c)
            if used == ALL:
                first[u] = begin + 64
                F.push(u)
            else:
                lowest = ev.popcount(used & ~(used + 1))  # the ones at the end
                ev.atomic_max(color, u, begin + lowest)
            for e in F.atoms(u):
                v = F.column(e)
                if (
                    used != ALL
                    and kit.priority(v, seed) < mine
                    and ev.atomic_add(waits, v, -1) == 1
                ):
                    F.push(v)


def greedy_coloring(
    G: Any, *, seed: int = 0, check: bool = True, schedule: Any = "auto", target: str = "auto"
) -> Any:
    """Colour the vertices so that neighbours differ, (n,) int32: 0, 1, ...

    Vertices are taken in the order of a hash of their numbers, and get the least colour that no neighbour has by then.
    So the result follows from G and `seed`, and has at most one colour more than the greatest degree.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`, of which
      `ev.graph.undirected` is taken: directions, self loops, duplicates and values do not count. The result is of the
      same library, on the same device; NumPy's for a tensor in host memory.
    seed: another order, 0 .. 2**32 - 1.
    check: False: G is what `ev.graph.undirected` makes. It is not looked at.
    schedule, target: as of `ev.spmv`.

    On a GPU the rounds are one launch. Raises InputError if G is not square.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))
    >>> ev.graph.greedy_coloring(G)
    array([2, 0, 1, 0], dtype=int32)
    """
    G = ev.graph.undirected(G) if check else kit.as_graph(G)
    n = G.num_tiles
    waits, first, color = (kit.empty(G.offsets, (n,), np.int32) for _ in range(3))
    colour_in_order[schedule].on(target)(
        ev.frontier(G), G, kit.each(n), kit.priority_seed(seed), waits, first, color
    )
    return color
