"""What `relax` reports, and negative weights along many rounds."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly import kit
from tests.algorithms.graph import graphs

module = importlib.import_module("evenly.algorithms.graph.sssp")  # ev.graph.sssp is the function


def reported(G: Any, source: int, spread: float = 1.0) -> list[int]:
    """How it ended, the rounds, and the edges that were relaxed."""
    layout, n = ev.csr(G), G.shape[0]
    F, far = (ev.frontier(layout, unique=True) for _ in range(2))
    report, found = np.empty(3, np.int64), np.empty(n)
    tiles = kit.each(n), kit.each(1)
    rest = None, found, None, None, report, np.array([source], np.int32), spread
    module.relax(F, far, layout, *tiles, *rest)
    return report.tolist()


def path(weights: Any) -> Any:
    n = len(weights) + 1
    return graphs.csr(weights, range(n - 1), range(1, n), n)


def test_rounds_and_relaxations_are_counted() -> None:
    assert reported(path(np.ones(100)), 0) == [module.FINE, 101, 100]  # the last has no edges
    star = graphs.csr([1, 1, 1, 5], [0, 0, 0, 1], [1, 2, 3, 2], 4)
    assert reported(star, 0) == [module.FINE, 2, 4]


@pytest.mark.parametrize("n", [70, 3000])
def test_a_negative_cycle_is_found_long_before_all_vertices_could_be_on_a_path(n: int) -> None:
    back = sp.csr_array(([-3.0], ([1], [0])), shape=(n, n))  # 0 -> 1 -> 0 adds up to -2
    ended, rounds, _ = reported(path(np.ones(n - 1)) + back, 0)
    assert ended == module.CYCLE
    assert rounds <= 64


def test_long_paths_of_negative_weights_are_no_cycle() -> None:
    rng = np.random.default_rng(0)
    for weights in (-np.ones(500), -np.full(500, 0.1), rng.uniform(-1, 0.5, 500)):
        G = path(weights)
        np.testing.assert_allclose(ev.graph.sssp(G, 0)[1:], np.cumsum(weights), rtol=1e-12)
    height = rng.integers(0, 1000, 400)
    src, dst = rng.integers(0, 400, (2, 3000))
    G = graphs.csr(rng.integers(0, 5, 3000) + height[src] - height[dst], src, dst, 400)
    exact = sp.csgraph.bellman_ford(G, indices=0)
    np.testing.assert_array_equal(ev.graph.sssp(G, 0), exact)
