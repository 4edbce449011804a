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
def choose(chosen, ruled_out, G, V, seed, waits, state, member):
    """member[v]: whether v is in. waits[v]: its neighbours before it that are not yet out.

    chosen, ruled_out: what has just become in or out.
    """
    for u in G.tiles():
        mine = kit.priority(u, seed)
        waits[u] = sum(1 for e in G.atoms(u) if kit.priority(G.column(e), seed) > mine)
        state[u] = OPEN
        if waits[u] == 0:
            state[u] = IN
            chosen.push(u)
    while len(chosen) > 0:
        for u in chosen.tiles():
            for e in chosen.atoms(u):
                v = chosen.column(e)
                if state[v] == OPEN and ev.atomic_cas(state, v, OPEN, OUT) == OPEN:
                    ruled_out.push(v)
        for u in ruled_out.tiles():
            mine = kit.priority(u, seed)
            for e in ruled_out.atoms(u):
                v = ruled_out.column(e)
                if kit.priority(v, seed) < mine and ev.atomic_add(waits, v, -1) == 1:
                    # It is open: one that waits for a vertex that is in never comes here.
                    ev.atomic_exch(state, v, IN)
                    chosen.push(v)
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
      same library, on the same device; NumPy's for a tensor in host memory.
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
    choose[schedule].on(target)(
        ev.frontier(G),
        ev.frontier(G),
        G,
        kit.each(n),
        kit.priority_seed(seed),
        waits,
        state,
        member,
    )
    return member
