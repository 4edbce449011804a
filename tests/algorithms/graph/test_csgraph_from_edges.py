"""ev.csgraph_from_edges against SciPy and plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.layouts import check
from evenly.layouts.csr import Csr
from tests.algorithms.cases import NUMBERS, numbers
from tests.batteries import array, readable

pytestmark = pytest.mark.usefixtures("way")


def edges(vertices: int, count: int, dtype: str = "int32") -> tuple[np.ndarray, np.ndarray]:
    """Edges of which some vertices have many, and most are listed more than once."""
    rng = np.random.default_rng([vertices, count])
    src = np.minimum(rng.pareto(1.0, count), vertices - 1)
    return src.astype(dtype), rng.integers(0, max(1, vertices // 2), count).astype(dtype)


SIZES = [(1, 0), (1, 1), (1, 9), (5, 1), (40, 300), (3000, 200)]


@pytest.mark.parametrize(("vertices", "count"), SIZES)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_edges_stay_in_their_order(vertices: int, count: int, dtype: str) -> None:
    src, dst = edges(vertices, count, dtype)
    weights = np.arange(count, dtype=np.float32)
    G = ev.csgraph_from_edges(src, dst, weights, num_vertices=vertices)
    assert type(G) is Csr
    check(G)
    assert G.shape == (vertices, vertices)
    order = np.argsort(src, kind="stable")
    assert G.offsets.tolist() == [0, *np.cumsum(np.bincount(src, minlength=vertices))]
    assert G.offsets.dtype == np.int32
    assert G.indices.tolist() == dst[order].tolist()
    assert G.values.tolist() == order.tolist()


@pytest.mark.parametrize(("vertices", "count"), SIZES)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_duplicates_are_summed(vertices: int, count: int, dtype: str) -> None:
    src, dst = edges(vertices, count)
    weights = numbers(dtype, count)
    G = ev.csgraph_from_edges(src, dst, weights, num_vertices=vertices, duplicates="sum")
    check(G)
    wide = readable(weights)
    wide = wide.astype(np.float32) if "float16" in dtype else wide
    expected = sp.coo_array((wide, (src, dst)), shape=(vertices, vertices)).tocsr()
    assert G.offsets.tolist() == expected.indptr.tolist()
    assert G.indices.tolist() == expected.indices.tolist()
    assert G.values.dtype == weights.dtype
    assert G.values.tobytes() == array(dtype, expected.data).tobytes()


def test_weights_left_out_count_the_edges() -> None:
    src, dst = np.array([2, 0, 2, 2]), np.array([1, 1, 0, 1])
    kept = ev.csgraph_from_edges(src, dst)
    assert (kept.indices.tolist(), kept.values.tolist()) == ([1, 1, 0, 1], [1, 1, 1, 1])
    counted = ev.csgraph_from_edges(src, dst, duplicates="sum")
    assert counted.offsets.tolist() == [0, 1, 1, 3]
    assert (counted.indices.tolist(), counted.values.tolist()) == ([1, 0, 1], [1, 1, 2])
    assert counted.values.dtype == np.int32


def test_no_edges_and_vertices_that_are_counted() -> None:
    none = np.zeros(0, np.int32)
    assert ev.csgraph_from_edges(none, none).shape == (0, 0)
    assert ev.csgraph_from_edges(none, none, num_vertices=3).offsets.tolist() == [0, 0, 0, 0]
    assert ev.csgraph_from_edges(np.array([0, 1]), np.array([6, 2])).shape == (7, 7)


ONE = np.array([1])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ev.csgraph_from_edges(ONE, ONE, duplicates="add"),
         "duplicates: expected 'keep', 'sum' or 'min', got 'add'"),
        (lambda: ev.csgraph_from_edges(ONE, np.array([1, 2])),
         "dst: expected a vector of 1, as many as src has, got shape (2,)"),
        (lambda: ev.csgraph_from_edges(ONE, ONE, np.ones(2)),
         "weights: expected a vector of 1, as many as src has, got shape (2,)"),
        (lambda: ev.csgraph_from_edges(ONE, ONE * 1.0), "dst: expected int32 or int64 vertices, got dtype float64"),
        (lambda: ev.csgraph_from_edges(ONE, ONE * 4, num_vertices=4),
         "dst: expected indices in 0..3, got dst[0]=4"),
        (lambda: ev.csgraph_from_edges(-ONE, ONE), "src: expected indices in 0..1, got src[0]=-1"),
        (lambda: ev.csgraph_from_edges(ONE, ONE, np.ones(1, bool), duplicates="sum"),
         "weights: expected a type that holds sums of bool, got bool"),
    ],
)  # fmt: skip
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value) == said


# ---- undirected, and the least weight ---------------------------------------------------------------
@pytest.mark.parametrize(("vertices", "count"), SIZES)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_an_undirected_edge_leads_both_ways(vertices: int, count: int, dtype: str) -> None:
    src, dst = edges(vertices, count)
    weights = numbers(dtype, count)
    found = ev.graph.from_edges(src, dst, weights, num_vertices=vertices, directed=False)
    check(found)
    other = src != dst
    tails, heads = np.concatenate([src, dst[other]]), np.concatenate([dst, src[other]])
    every = array(dtype, np.concatenate([readable(weights), readable(weights)[other]]))
    expected = ev.csgraph_from_edges(tails, heads, every, num_vertices=vertices)
    for field in ("offsets", "indices", "values"):
        assert getattr(found, field).tobytes() == getattr(expected, field).tobytes()


@pytest.mark.parametrize(("vertices", "count"), SIZES)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64"])
def test_the_least_weight_stays(vertices: int, count: int, dtype: str) -> None:
    src, dst = edges(vertices, count)
    weights = np.random.default_rng(1).integers(0, 100, count).astype(dtype)
    G = ev.graph.from_edges(src, dst, weights, num_vertices=vertices, duplicates="min")
    check(G)
    least: dict[tuple[int, int], Any] = {}
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        least[u, v] = min(least.get((u, v), w), w)
    tails = np.repeat(np.arange(vertices), np.diff(G.offsets)).tolist()
    ends = zip(tails, G.indices.tolist(), strict=True)
    assert dict(zip(ends, G.values.tolist(), strict=True)) == least
    assert list(zip(tails, G.indices.tolist(), strict=True)) == sorted(least)


def test_complex_weights_have_no_least_one() -> None:
    one, weights = np.zeros(1, np.int32), np.ones(1, np.complex64)
    with pytest.raises(
        ev.InputError, match="^weights: expected real numbers, got dtype complex64$"
    ):
        ev.graph.from_edges(one, one, weights, duplicates="min")
