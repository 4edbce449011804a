"""Core numbers: vertices of least degree are taken away, level by level; the frontier is what goes next.

Source: Kabir, Madduri, "Parallel k-Core Decomposition on Multicore Platforms" (IPDPSW 2017): PKC.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

MOST = 2**31 - 1  # greater than any degree


@ev.kernel
def peel(F, G, V, left):
    """left[v]: the neighbours of v that are not taken away, and in the end its core number."""
    for v in V.tiles():
        left[v] = G.end(v) - G.begin(v)
    k = np.int32(-1)
    going = True
    while going:
        least = np.int32(MOST)
        for v in V.tiles():
            if left[v] > k:
                least = min(least, left[v])
        k = least
        going = bool(k < MOST)
        for v in V.tiles():
            if left[v] == k:
                F.push(v)
        while len(F) > 0:
            for u in F.tiles():
                for e in F.atoms(u):
                    v = F.column(e)
                    if left[v] > k:
                        old = ev.atomic_add(left, v, -1)
                        if old <= k:  # another edge was faster
                            ev.atomic_add(left, v, 1)
                        if old == k + 1:
                            F.push(v)


def core_numbers(
    G: Any, *, check: bool = True, schedule: Any = "auto", target: str = "auto"
) -> Any:
    """The core number of each vertex, (n,) int32: the greatest k for which it is in the k-core.

    The k-core is the largest part of a graph in which every vertex has k neighbours or more.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`, of which
      `ev.graph.undirected` is taken: directions, self loops, duplicates and values do not count. The result is of the
      same library, on the same device; NumPy's for a tensor in host memory.
    check: False: G is what `ev.graph.undirected` makes. It is not looked at.
    schedule, target: as of `ev.spmv`.

    On a GPU the rounds are one launch. Raises InputError if G is not square.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))
    >>> ev.graph.core_numbers(G)
    array([2, 2, 2, 1], dtype=int32)
    """
    G = ev.graph.undirected(G) if check else kit.as_graph(G)
    left = kit.empty(G.offsets, (G.num_tiles,), np.int32)
    peel[schedule].on(target)(ev.frontier(G), G, kit.each(G.num_tiles), left)
    return left
