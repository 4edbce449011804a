"""Connected components by a forest of pointers to smaller vertices, in one walk over the edges.

Sources: Rem's algorithm in Dijkstra, "A Discipline of Programming" (1976), with compare-and-swap and splices as in
Dhulipala, Hong, Shun, "ConnectIt" (VLDB 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def join(G, V, above, label):
    """label[v]: the smallest vertex of v's component. above[v]: a smaller vertex of it, or v itself at its root."""
    for v in V.tiles():
        above[v] = v
    for u in G.tiles():
        for e in G.atoms(u):
            a = np.int32(u)
            b = np.int32(G.column(e))
            over_a = above[a]
            over_b = above[b]
            while over_a != over_b:  # else both are in one tree
                if over_a < over_b:
                    a, b, over_a, over_b = b, a, over_b, over_a
                old = ev.atomic_cas(above, a, over_a, over_b)
                if old == over_a:
                    if a == over_a:  # a was a root: it is joined
                        break
                    a = over_a  # its branch is joined, and what it was cut from is next
                over_a = above[a]
                over_b = above[b]
    for v in V.tiles():
        root = above[v]
        while above[root] != root:
            root = above[root]
        label[v] = root


def connected_components(G: Any, *, schedule: Any = "auto", target: str = "auto") -> Any:
    """The component of each vertex, (n,) int32, named by its smallest vertex.

    The direction of edges does not count: of a directed graph, these are the weak components. Every entry that G
    stores is an edge; its value does not count. `len(ev.unique(labels))` counts the components.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. The result is
      of the same library, on the same device; NumPy's for a tensor in host memory.
    schedule, target: as of `ev.spmv`.

    On a GPU a call is three kernels, for which nothing waits. Raises InputError if G is not square.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]))
    >>> ev.graph.connected_components(G)
    array([0, 1, 1, 0], dtype=int32)
    """
    G = kit.as_graph(G)
    n = G.num_tiles
    above, label = (kit.empty(G.offsets, (n,), np.int32) for _ in range(2))
    join[schedule].on(target)(G, kit.each(n), above, label)
    return label
