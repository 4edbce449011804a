"""Make a graph of a list of edges.

The name is as of SciPy's csgraph_from_dense: a csgraph is a sparse matrix whose entry (i, j) is the weight of the
edge from i to j.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

EACH = ev.ThreadMapped()  # a thread for each edge


@ev.kernel
def find_last(E, src, dst, found):
    last = -1
    for i in E.tiles():
        last = max(last, src[i], dst[i])
    found[0] = last


@ev.kernel
def fill_one(E, out):
    for i in E.tiles():
        out[i] = 1


@ev.kernel
def mark_first(E, src, dst, first):
    """first[i]: whether the edge i, or the end of all edges, differs from the edge before it."""
    for i in E.tiles():
        if i == 0 or i == len(src):
            first[i] = True
        else:
            first[i] = src[i] != src[i - 1] or dst[i] != dst[i - 1]


@ev.kernel
def mark_other(E, src, dst, other):
    for i in E.tiles():
        other[i] = src[i] != dst[i]


@ev.kernel
def append(E, x, more, out):
    for i in E.tiles():
        out[i] = x[i] if i < len(x) else more[i - len(x)]


@ev.kernel
def sum_runs(R, dst, weights, target, total):
    for run in R.tiles():
        target[run] = dst[R.begin(run)]
        total[run] = sum(weights[k] for k in R.atoms(run))


@ev.kernel
def least_of_runs(R, dst, weights, target, least):
    for run in R.tiles():
        target[run] = dst[R.begin(run)]
        first = weights[R.begin(run)]
        least[run] = min((weights[k] for k in R.atoms(run)), default=first)


def csgraph_from_edges(
    src: Any,
    dst: Any,
    weights: Any = None,
    *,
    num_vertices: int | None = None,
    directed: bool = True,
    duplicates: str = "keep",
) -> Any:
    """Make a graph of edges src[i] -> dst[i], as the layout `ev.csr` makes: a tile is a vertex, an atom an edge.

    `ev.graph.from_edges` is the same function.

    src, dst: (n,), int32 or int64, vertices in 0 .. num_vertices-1, in any order.
    weights: (n,), of any dtype that layouts hold. Default: 1 for each edge, int32.
    num_vertices: default: one more than the greatest vertex.
    directed: False: an edge leads both ways. The way back is as if it were listed behind all others; loops have none.
    duplicates: "keep" them: edges of one vertex stay in the order of the list. Or "sum" up the
      weights of edges that are listed more than once: edges of one vertex then ascend by target,
      each sum is made in the order of the list, and weights that are left out count the edges.
      Or "min": the same, but the least weight stays.

    The arrays lie on one device, which does the work and gets the graph. On a GPU this needs the package
    cuda-cccl, and the call waits for a check of the vertices.

    Raises InputError for other vertices, and if lengths, dtypes or devices do not match.

    >>> import numpy as np, evenly as ev
    >>> G = ev.csgraph_from_edges(np.array([1, 0, 1]), np.array([2, 1, 0]))
    >>> G.offsets.tolist(), G.indices.tolist()
    ([0, 1, 3, 3], [1, 2, 0])
    >>> G = ev.graph.from_edges(np.array([0, 1]), np.array([1, 0]), np.array([5, 4]), directed=False, duplicates="min")
    >>> G.offsets.tolist(), G.indices.tolist(), G.values.tolist()
    ([0, 1, 2], [1, 0], [4, 4])
    """
    if duplicates not in MERGES and duplicates != "keep":
        expected = "'keep', 'sum' or 'min'"
        raise ev.InputError("duplicates", expected=expected, given=repr(duplicates))
    src = kit.vector(src, "src")
    (dst,) = kit.vectors(dst, src, "src", "dst")
    if weights is None:
        weights = _ones(src)
    (weights,) = kit.vectors(weights, src, "src", "weights")
    for vertices, name in ((src, "src"), (dst, "dst")):
        if kit.dtype(vertices) not in (np.int32, np.int64):
            given = f"dtype {kit.dtype(vertices)}"
            raise ev.InputError(name, expected="int32 or int64 vertices", given=given)
    if num_vertices is None:
        count = _count(src, dst)
    else:
        count = kit.count_of(num_vertices, "num_vertices")
    kit.check_indices(src, count, "src")
    kit.check_indices(dst, count, "dst")
    if duplicates == "sum":
        held = kit.held_as(weights)
        with kit.renamed(out="weights"):
            kit.check_sums(weights, held)
    elif duplicates == "min" and kit.dtype(weights).kind == "c":
        raise ev.InputError("weights", expected="real numbers", given=f"dtype {kit.dtype(weights)}")
    if not directed:
        src, dst, weights = _both_ways(src, dst, weights)
    if duplicates != "keep":
        dst, (src, weights) = ev.sort_by_key(dst, (src, weights))
    with kit.renamed(num_groups="num_vertices"):
        groups = ev.group_by(src, count, check=False)
    dst, weights = (kit.take(x, groups.order) for x in (dst, weights))
    G = ev.csr((weights, dst, groups.offsets), shape=(count, count), check=False)
    return merged(G, duplicates) if duplicates != "keep" and len(dst) else G


# What becomes of equal edges: on a GPU a kernel, elsewhere a function of NumPy.
MERGES = {"sum": (sum_runs, np.add), "min": (least_of_runs, np.minimum)}


def merged(G: Any, how: str) -> Any:
    """Merge equal edges of a graph, which stand side by side. There is at least one."""
    kernel, ufunc = MERGES[how]
    n, dst, weights = len(G.indices), G.indices, G.values
    first = kit.empty(dst, (n + 1,), np.bool_)
    _mark(G.tocoo().rows, dst, first)
    starts = ev.compact(first)
    place = ev.prefix_sum(first, include_initial=True, dtype=kit.dtype(starts))
    target, total = (kit.empty(x, (len(starts) - 1,), kit.dtype(x)) for x in (dst, weights))
    if kit.on_gpu(dst):
        R = ev.ragged(starts, num_atoms=n, check=False)
        kernel[ev.MergePath()](R, dst, weights, target, total)
    else:
        target[...] = dst[starts[:-1]]
        kit.store(ufunc.reduceat(kit.numbers(weights), starts[:-1]), total)
    arrays = total, target, kit.take(place, G.offsets)
    return ev.csr(arrays, shape=G.shape, check=False)


def _mark(src: Any, dst: Any, first: Any) -> None:
    if kit.on_gpu(dst):
        mark_first[EACH](kit.each(len(first)), src, dst, first)
    else:
        first[...] = True
        first[1:-1] = (src[1:] != src[:-1]) | (dst[1:] != dst[:-1])


def _both_ways(src: Any, dst: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return the edges, and behind them those that lead back. A loop has no way back."""
    other = kit.empty(src, (len(src),), np.bool_)
    if kit.on_gpu(src):
        mark_other[EACH](kit.each(len(src)), src, dst, other)
    else:
        kit.to_numpy(other)[...] = kit.to_numpy(src) != kit.to_numpy(dst)
    tails, heads, again = ev.compact(other, (dst, src, weights))
    return _appended(src, tails), _appended(dst, heads), _appended(weights, again)


def _appended(x: Any, more: Any) -> Any:
    out = kit.empty(x, (len(x) + len(more),), kit.dtype(x))
    if kit.on_gpu(x):
        append[EACH](kit.each(len(out)), x, more, out)
    else:
        np.concatenate([kit.to_numpy(x), kit.to_numpy(more)], out=kit.to_numpy(out))
    return out


def _ones(src: Any) -> Any:
    ones = kit.empty(src, (len(src),), np.int32)
    if kit.on_gpu(src):
        fill_one[EACH](kit.each(len(src)), ones)
    else:
        kit.to_numpy(ones)[...] = 1
    return ones


def _count(src: Any, dst: Any) -> int:
    if not kit.on_gpu(src):
        return max((int(kit.to_numpy(x).max()) for x in (src, dst) if len(x)), default=-1) + 1
    found = kit.empty(src, (1,), np.int64)
    find_last[EACH](kit.each(len(src)), src, dst, found)
    return kit.entry(found, 0) + 1
