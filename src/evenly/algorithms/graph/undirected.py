"""Make the undirected graph of any graph: every edge in both directions, once, sorted, without self loops."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def differs(G, found):
    """found[0]: whether an edge is a self loop, stands out of order or twice, or has no other one back."""
    wrong = False
    for u in G.tiles():
        for e in G.atoms(u):
            v = G.column(e)
            low = G.begin(v)
            high = G.end(v)
            while low < high:  # of the edges of v, the first that leads to u or beyond
                middle = (low + high) // 2
                if G.column(middle) < u:
                    low = middle + 1
                else:
                    high = middle
            back = False
            if low < G.end(v):
                back = G.column(low) == u
            ascends = True
            if e > G.begin(u):
                ascends = G.column(e - 1) < v
            wrong = wrong or not back or not ascends or u == v
    found[0] = 1 if wrong else 0


@ev.kernel
def no_loops(E, src, dst, keep):
    for i in E.tiles():
        keep[i] = src[i] != dst[i]


@ev.kernel
def both_ways(E, src, dst, tail, head):
    m = len(src)
    for i in E.tiles():
        tail[i] = src[i]
        head[i] = dst[i]
        tail[m + i] = dst[i]
        head[m + i] = src[i]


def undirected(G: Any) -> Any:
    """Make the undirected graph of G, as the layout of `ev.csr`: the edge (i, j) is there if G stores (i, j) or (j, i).

    It has each edge in both directions, once; the neighbours of a vertex ascend; there are no self loops. Its values
    count how often an edge was there, int32. A graph that is like this already is returned as it is, as a layout.

    `ev.graph.triangles`, `clustering`, `core_numbers`, `greedy_coloring` and `maximal_independent_set` work on
    undirected graphs, and call this first. To call them often, make it once, and pass it with `check=False`.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. On a GPU this
      needs the package cuda-cccl if the graph is not like this already; the call waits.

    Raises InputError if G is not square.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = ev.graph.undirected(scipy.sparse.csr_array(np.array([[1, 1, 0], [0, 0, 0], [0, 1, 0]])))
    >>> G.offsets.tolist(), G.indices.tolist()
    ([0, 1, 3, 4], [1, 0, 2, 1])
    """
    G = kit.as_graph(G)
    found = kit.empty(G.offsets, (1,), np.int32)
    differs(G, found)
    if kit.entry(found, 0) == 0:
        return G
    edges = G.tocoo()
    src, dst = edges.rows, edges.columns
    keep = kit.empty(src, (len(src),), np.bool_)
    no_loops[ev.ThreadMapped()](kit.each(len(src)), src, dst, keep)
    src, dst = ev.compact(keep, (src, dst))
    tail, head = (kit.empty(src, (2 * len(src),), kit.index_type(G.num_tiles)) for _ in range(2))
    both_ways[ev.ThreadMapped()](kit.each(len(src)), src, dst, tail, head)
    return ev.csgraph_from_edges(tail, head, num_vertices=G.num_tiles, duplicates="sum")
