"""Graphs to test with: the nasty matrices, made square; random ones; small ones that Hypothesis draws."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from tests.batteries import matrices

NASTY = ("no tiles", "one empty tile", "no atoms", "empty in the middle", "one tile has everything",
         "a tile longer than a block", "power law", "one atom each", "duplicates", "unsorted columns",
         "explicit zeros", "stencil")  # fmt: skip


def csr(weights: Any, src: Any, dst: Any, n: int) -> Any:
    """A csr_array of float64 that keeps duplicates, in the order of the list."""
    src, dst = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    order = np.argsort(src, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=n))]).astype(np.int32)
    found = np.asarray(weights, np.float64)[order], dst[order].astype(np.int32), offsets
    return sp.csr_array(found, shape=(n, n))


@functools.cache
def nasty() -> dict[str, Any]:
    """The matrices of the battery as graphs: columns beyond the rows wrap around; weights are 0 to 4."""
    found = {}
    for name, matrix in matrices(np.float64).items():
        if name in NASTY:
            n = matrix.shape[0]
            src = np.repeat(np.arange(n), np.diff(matrix.indptr))
            found[name] = csr(abs(matrix.data), src, matrix.indices % max(n, 1), n)
    return found


def random(n: int, edges: int, seed: int = 0) -> Any:
    """Edges between vertices of which some have many, duplicates and loops included; weights of 1 to 9."""
    rng = np.random.default_rng([n, edges, seed])
    src = np.minimum(rng.pareto(1.0, edges) * 3, n - 1).astype(int)
    return csr(rng.integers(1, 10, edges), rng.permutation(n)[src], rng.integers(0, n, edges), n)


@st.composite
def drawn(draw: st.DrawFn, least: int = 0) -> Any:
    n = draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(st.integers(least, 5), vertex, vertex), max_size=30))
    return csr(*(np.array([edge[i] for edge in edges]) for i in range(3)), n)


def edges(G: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ends and the weight of each stored edge."""
    return np.repeat(np.arange(G.shape[0]), np.diff(G.indptr)), G.indices, G.data


def neighbours(G: Any) -> list[set[int]]:
    """Of each vertex, in the undirected graph."""
    found: list[set[int]] = [set() for _ in range(G.shape[0])]
    for u, v, _ in zip(*edges(G), strict=True):
        if u != v:
            found[u].add(int(v))
            found[v].add(int(u))
    return found


def tree(G: Any, source: int, lengths: Any) -> np.ndarray:
    """The parent of each vertex by its definition, where an edge leads from length a to b if a + w == b."""
    hops = np.full(G.shape[0], -1)
    parents = np.full(G.shape[0], -1)
    hops[source] = 0
    src, dst, weights = edges(G)
    tight = np.isfinite(lengths[src]) & (lengths[src] + weights == lengths[dst])
    src, dst = src[tight], dst[tight]
    for depth in range(1, G.shape[0] + 1):
        at = (hops[src] == depth - 1) & (hops[dst] == -1)
        for u, v in sorted(zip(src[at].tolist(), dst[at].tolist(), strict=True), reverse=True):
            hops[v], parents[v] = depth, u
    return parents


def paths(G: Any) -> tuple[np.ndarray, np.ndarray]:
    """The length of the shortest paths between all pairs, -1 without any, and their number: by walks of every length."""
    n = G.shape[0]
    A = np.zeros((n, n))
    np.add.at(A, edges(G)[:2], 1)
    length, count = np.where(np.eye(n) > 0, 0, -1), np.eye(n)
    walks = np.eye(n)
    for k in range(1, n):
        walks = walks @ A
        new = (length < 0) & (walks > 0)
        length[new], count[new] = k, walks[new]
    return length, count


def edge_betweenness(G: Any) -> np.ndarray:
    """Over all pairs, the share of shortest paths that take each stored edge."""
    length, count = paths(G)
    found = np.zeros(G.nnz)
    for e, (u, v, _) in enumerate(zip(*edges(G), strict=True)):
        there = (length[:, u, None] >= 0) & (length[None, v, :] >= 0)
        there &= length[:, u, None] + 1 + length[None, v, :] == length
        share = count[:, u, None] * count[None, v, :] / np.where(there, count, 1)
        found[e] = share[there].sum()
    return found


def betweenness(G: Any) -> np.ndarray:
    """Over all pairs, the share of shortest paths through each vertex."""
    n = G.shape[0]
    length, count = paths(G)
    found = np.zeros(n)
    for s in range(n):
        for t in range(n):
            for v in range(n):
                through = length[s, v] + length[v, t] == length[s, t]
                if v not in (s, t) and s != t and min(length[s, v], length[v, t]) > 0 and through:
                    found[v] += count[s, v] * count[v, t] / count[s, t]
    return found
