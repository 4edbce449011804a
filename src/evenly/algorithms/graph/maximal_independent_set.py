"""A maximal independent set in the order of hashed priorities: a vertex is in if all its neighbours before it are out.

Sources: Luby, "A Simple Parallel Algorithm for the Maximal Independent Set Problem" (1986); Blelloch, Fineman, Shun,
"Greedy Sequential Maximal Independent Set and Matching are Parallel on Average" (SPAA 2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

OPEN, IN, OUT = 0, 1, 2


@ev.kernel
def choose(I, O, G, V, seed, waits, state, member):
    """member[v]: whether v is in. I, O: what has just become in or out. waits[v]: its neighbours before it not yet out."""
    for u in G.tiles():
        mine = kit.priority(u, seed)
        waits[u] = sum(1 for e in G.atoms(u) if kit.priority(G.column(e), seed) > mine)
        state[u] = OPEN
        if waits[u] == 0:
            state[u] = IN
            I.push(u)
    while len(I) > 0:
        for u in I.tiles():
            for e in I.atoms(u):
                v = I.column(e)
                if state[v] == OPEN:
                    if ev.atomic_cas(state, v, OPEN, OUT) == OPEN:
                        O.push(v)
        for u in O.tiles():
            mine = kit.priority(u, seed)
            for e in O.atoms(u):
                v = O.column(e)
                if kit.priority(v, seed) < mine:
                    if ev.atomic_add(waits, v, -1) == 1:  # no neighbour that is in waits for v
                        ev.atomic_exch(state, v, IN)
                        I.push(v)
    for v in V.tiles():
        member[v] = state[v] == IN


def maximal_independent_set(
    G: Any, *, seed: int = 0, check: bool = True, schedule: Any = "auto", target: str = "auto"
) -> Any:
    """Choose vertices of which no two are neighbours, as long as there is another one, (n,) bool.

    Vertices are taken in the order of a hash of their numbers, and are in unless a neighbour is. So the result follows
    from G and `seed`.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`, of which
      `ev.graph.undirected` is taken: directions, self loops, duplicates and values do not count. The result is of the
      same library, on the same device.
    seed: another order, 0 .. 2**32 - 1.
    check: False: G is what `ev.graph.undirected` makes. It is not looked at.
    schedule, target: as of `ev.spmv`.

    On a GPU the rounds are one launch. Raises InputError if G is not square.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))
    >>> ev.graph.maximal_independent_set(G)
    array([False,  True, False,  True])
    """
    G = ev.graph.undirected(G) if check else kit.as_graph(G)
    n = G.num_tiles
    waits, state = (kit.empty(G.offsets, (n,), np.int32) for _ in range(2))
    member = kit.empty(waits, (n,), np.bool_)
    seed = kit.priority_seed(seed)
    choose[schedule].on(target)(
        ev.frontier(G), ev.frontier(G), G, kit.each(n), seed, waits, state, member
    )
    return member
