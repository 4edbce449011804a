"""An algorithm that `ev.graph` does not have, as a user writes it with docs/graph.md: a minimum spanning forest.

Source: Boruvka (1926): in each round every tree takes the lightest edge that leads out of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import evenly as ev
from evenly import kit
from evenly.bench import graph_references as references
from tests.algorithms.graph import graphs

NONE = 2**63 - 1  # greater than any key


@ev.kernel
def grow(G, V, key, tree, above, best, chosen):
    """chosen[e]: whether edge e is in the forest, in one of its directions or in both.

    key[e]: in the order of the weights; the same for both directions of an edge, and else distinct.
    """
    for v in V.tiles():
        tree[v] = v
        above[v] = v
    for v in G.tiles():
        for e in G.atoms(v):
            chosen[e] = False
    going = True
    while going:
        going = False
        for v in V.tiles():
            best[v] = NONE
        for v in G.tiles():
            here = tree[v]
            for e in G.atoms(v):
                if tree[G.column(e)] != here:
                    ev.atomic_min(best, here, key[e])
        for v in G.tiles():
            here = tree[v]
            for e in G.atoms(v):
                there = tree[G.column(e)]
                joins = there != here and best[here] == key[e]
                chosen[e] = chosen[e] or joins
                going = going or joins
                if joins:
                    a, b = here, there
                    over_a, over_b = above[a], above[b]
                    while over_a != over_b:
                        if over_a < over_b:
                            a, b, over_a, over_b = b, a, over_b, over_a
                        old = ev.atomic_cas(above, a, over_a, over_b)
                        if old == over_a:
                            if a == over_a:
                                break
                            a = over_a
                        over_a, over_b = above[a], above[b]
        for v in V.tiles():
            root = above[tree[v]]
            while above[root] != root:
                root = above[root]
            tree[v] = root


def weighted(n: int, edges: int) -> tuple[Any, np.ndarray]:
    """An undirected graph whose weights repeat, and the keys of its edges."""
    pattern = references.undirected(graphs.random(n, edges)).tocoo()
    low, high = np.minimum(pattern.row, pattern.col), np.maximum(pattern.row, pattern.col)
    weights = ((low * 7 + high * 13) % 11 + 1).astype(np.float64)
    matrix = sp.csr_array((weights, (pattern.row, pattern.col)), shape=(n, n))
    matrix.sort_indices()
    edge = matrix.tocoo()
    ends = np.minimum(edge.row, edge.col), np.maximum(edge.row, edge.col)
    _, key = np.unique(np.stack([matrix.data, *ends], 1), axis=0, return_inverse=True)
    return matrix, key.astype(np.int64).ravel()


@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("schedule", ["auto", "merge_path"])
def test_a_minimum_spanning_forest(schedule: str, target: str) -> None:
    matrix, key = weighted(60, 90)
    n = 60
    tree, above = np.empty(n, np.int32), np.empty(n, np.int32)
    best, chosen = np.empty(n, np.int64), np.empty(matrix.nnz, np.bool_)
    grow[schedule].on(target)(ev.csr(matrix), kit.each(n), key, tree, above, best, chosen)
    _, at = np.unique(key[chosen], return_index=True)
    assert matrix.data[chosen][at].sum() == csgraph.minimum_spanning_tree(matrix).sum()
    assert len(at) == n - len(np.unique(tree))
    np.testing.assert_array_equal(tree, ev.graph.connected_components(matrix))
