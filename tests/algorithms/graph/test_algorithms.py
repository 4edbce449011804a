"""ev.graph against SciPy and the definitions, on nasty graphs and drawn ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import evenly as ev
from evenly.bench import graph_references as references
from tests.algorithms.graph import graphs
from tests.kernels import SCHEDULES

NASTY = graphs.nasty()
BIG = graphs.random(600, 4000)


def start(G: Any) -> int:
    """The vertex with most edges."""
    return int(np.diff(G.indptr).argmax())


def check_bfs(G: Any, **how: Any) -> None:
    source = start(G)
    levels, parents = ev.graph.bfs(G, source, return_parents=True, **how)
    assert references.bfs(G, source, levels) == 0
    src, dst, _ = graphs.edges(G)
    from_reached = levels[src] >= 0
    assert (levels[dst][from_reached] <= levels[src][from_reached] + 1).all()
    ones = sp.csr_array((np.ones(G.nnz), G.indices, G.indptr), shape=G.shape)
    assert (
        parents.tolist() == graphs.tree(ones, source, np.where(levels < 0, np.inf, levels)).tolist()
    )


def check_both_ways(G: Any, **how: Any) -> None:
    """Levels that are pulled are those that are pushed, and so are parents."""
    expected = ev.graph.bfs(G, start(G), return_parents=True, target="python")
    found = ev.graph.bfs(G, start(G), return_parents=True, csc=ev.csr(G).tocsc(), **how)
    assert [x.tolist() for x in found] == [x.tolist() for x in expected]


def check_several(G: Any, **how: Any) -> None:
    """A search from each of several sources is what a search from it alone is."""
    sources = [start(G), 0, G.shape[0] - 1, 0]
    for csc in (None, ev.csr(G).tocsc()):
        found = ev.graph.bfs(G, sources, return_parents=True, csc=csc, **how)
        for s, *mine in zip(sources, *found, strict=True):
            alone = ev.graph.bfs(G, s, return_parents=True, target="python")
            assert [x.tolist() for x in mine] == [x.tolist() for x in alone]
    found = ev.graph.sssp(G, sources, return_parents=True, **how)
    for s, *mine in zip(sources, *found, strict=True):
        alone = ev.graph.sssp(G, s, return_parents=True, target="python")
        assert [x.tolist() for x in mine] == [x.tolist() for x in alone]


def check_sssp(G: Any, **how: Any) -> None:
    source = start(G)
    lengths, parents = ev.graph.sssp(G, source, return_parents=True, **how)
    src, dst, weights = graphs.edges(G)
    with np.errstate(invalid="ignore"):
        assert (lengths[dst] <= lengths[src] + weights).all()
    assert lengths[source] == 0
    assert parents.tolist() == graphs.tree(G, source, lengths).tolist()
    reached = np.isfinite(lengths)
    assert (
        parents[reached] >= 0
    ).sum() == reached.sum() - 1  # an equality for each, but for the source


def check_pagerank(G: Any, **how: Any) -> None:
    ranks = ev.graph.pagerank(G, tolerance=references.TOLERANCE, **how)
    assert references.pagerank(G, 0, ranks) == 0


def check_components(G: Any, **how: Any) -> None:
    assert references.components(G, 0, ev.graph.connected_components(G, **how)) == 0


def check_triangles(G: Any, **how: Any) -> None:
    counts = ev.graph.triangles(G, **how)
    assert references.triangles(G, 0, counts) == 0
    A = references.undirected(G).toarray()
    assert counts.sum() * 2 == np.trace(A @ A @ A)
    pairs = A.sum(1) * (A.sum(1) - 1)
    share = np.divide(2 * counts, pairs, out=np.zeros(len(A)), where=pairs > 0)
    np.testing.assert_allclose(ev.graph.clustering(G, **how), share, rtol=1e-15)


def check_cores(G: Any, **how: Any) -> None:
    assert references.cores(G, 0, ev.graph.core_numbers(G, **how)) == 0


def check_coloring(G: Any, **how: Any) -> None:
    """Every colour is the least one that no neighbour before it in the order has."""
    colors = ev.graph.greedy_coloring(G, **how).tolist()
    for v, near in enumerate(graphs.neighbours(G)):
        assert colors[v] not in {colors[u] for u in near}
        assert set(range(colors[v])) <= {colors[u] for u in near}


def check_independent(G: Any, **how: Any) -> None:
    member = ev.graph.maximal_independent_set(G, **how).tolist()
    for v, near in enumerate(graphs.neighbours(G)):
        assert member[v] != any(member[u] for u in near)


def check_betweenness(G: Any, **how: Any) -> None:
    found = ev.graph.betweenness(G, normalized=False, **how)
    np.testing.assert_allclose(found, graphs.betweenness(G), rtol=1e-12, atol=1e-12)


def check_edge_betweenness(G: Any, **how: Any) -> None:
    found = ev.graph.edge_betweenness(G, normalized=False, **how)
    np.testing.assert_allclose(found, graphs.edge_betweenness(G), rtol=1e-12, atol=1e-12)
    length, _ = graphs.paths(G)
    assert found.sum() == pytest.approx(length[length > 0].sum())


CHECKS = {
    "bfs": check_bfs,
    "both ways": check_both_ways,
    "several": check_several,
    "sssp": check_sssp,
    "pagerank": check_pagerank,
    "components": check_components,
    "triangles": check_triangles,
    "cores": check_cores,
    "coloring": check_coloring,
    "independent": check_independent,
    "betweenness": check_betweenness,
    "edge betweenness": check_edge_betweenness,
}
SMALL = [name for name in CHECKS if "betweenness" not in name]  # whose reference is cubic, and more
RARE = (
    "both ways",
    "several",
    "coloring",
    "independent",
    "edge betweenness",
)  # compiled for the CPU by `make test-all` alone


def compiled(names: Any) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.slow] * (name in RARE)) for name in names]


@pytest.mark.parametrize("name", compiled(SMALL))
def test_nasty_graphs(name: str) -> None:
    for G in NASTY.values():
        if G.shape[0] or name not in ("bfs", "both ways", "several", "sssp"):
            CHECKS[name](G, target="cpu")


@pytest.mark.parametrize("name", compiled(CHECKS))
@settings(max_examples=15)
@given(G=graphs.drawn())
def test_drawn_graphs(name: str, G: Any) -> None:
    CHECKS[name](G, target="cpu")


@pytest.mark.parametrize("name", CHECKS)
@settings(max_examples=15)
@given(G=graphs.drawn())
def test_drawn_graphs_on_the_reference(name: str, G: Any) -> None:
    CHECKS[name](G, target="python")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_searches(schedule: str) -> None:
    for G in (BIG, NASTY["a tile longer than a block"], NASTY["stencil"]):
        check_bfs(G, target="cpu", schedule=SCHEDULES[schedule])


def in_short() -> list[Any]:
    """What `make test` runs on simt, and what else `make test-all` does."""
    quick = [
        ("bfs", "merge_path"),
        ("components", "thread_mapped"),
    ]
    pairs = [
        (name, schedule)
        for name in CHECKS
        for schedule in ("thread_mapped", "merge_path", "nonzero_split", "lrb")
    ]
    return [pytest.param(*pair, marks=() if pair in quick else pytest.mark.slow) for pair in pairs]


@pytest.mark.simt
@pytest.mark.parametrize(("name", "schedule"), in_short())
def test_on_simt(name: str, schedule: str) -> None:
    G = graphs.random(9, 25) if "betweenness" in name else graphs.random(120, 500)
    CHECKS[name](G, target="simt", schedule=schedule)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", SMALL)
def test_every_schedule(name: str, schedule: str) -> None:
    for G in (BIG, NASTY["a tile longer than a block"], NASTY["stencil"]):
        CHECKS[name](G, target="cpu", schedule=SCHEDULES[schedule])


# ---- what is particular to one of them --------------------------------------------------------------
@settings(max_examples=25)
@given(G=graphs.drawn(least=-2))
def test_negative_weights_and_cycles(G: Any) -> None:
    n, (src, dst, weights) = G.shape[0], graphs.edges(G)
    lengths = np.full(n, np.inf)
    lengths[0] = 0
    for _ in range(n):
        before = lengths.copy()
        np.minimum.at(lengths, dst, lengths[src] + weights)
    if (lengths == before).all():
        assert ev.graph.sssp(G, 0, target="python").tolist() == lengths.tolist()
    else:
        with pytest.raises(
            ev.InputError, match="^G: expected no negative cycle, got one that vertex 0"
        ):
            ev.graph.sssp(G, 0, target="python")


def test_weights_whose_sums_absorb_steps() -> None:
    """The range of near vertices has to grow where it is smaller than the spacing of floats."""
    weights = [1e20, 1e-20, 1e-20, 1.0]
    G = graphs.csr(weights, [0, 1, 2, 0], [1, 2, 3, 3], 600)
    assert ev.graph.sssp(G, 0, target="python")[:4].tolist() == [0, 1e20, 1e20, 1.0]


def test_edges_of_infinite_weight_lead_nowhere() -> None:
    G = graphs.csr([np.inf, 1.0], [0, 2], [1, 1], 3)
    lengths, parents = ev.graph.sssp(G, 0, return_parents=True, target="python")
    assert (lengths.tolist(), parents.tolist()) == ([0, np.inf, np.inf], [-1, -1, -1])


@pytest.mark.parametrize(
    ("weights", "lengths"),
    [
        ("float32", "float32"),
        ("float64", "float64"),
        ("int32", "float64"),
        ("int8", "float32"),
        ("float16", "float32"),
    ],
)
def test_types_of_lengths(weights: str, lengths: str) -> None:
    made = np.array([2, 3], weights), np.array([1, 2]), np.array([0, 1, 2, 2])
    found = ev.graph.sssp(ev.csr(made, shape=(3, 3)), 0, target="python")
    assert (found.dtype, found.tolist()) == (np.dtype(lengths), [0, 2, 5])


def test_the_same_bits_on_every_run() -> None:
    every = np.arange(0, 600, 70, dtype=np.int32)
    for call in (
        lambda: ev.graph.pagerank(BIG, target="cpu"),
        lambda: ev.graph.betweenness(BIG, sources=every, target="cpu"),
    ):
        assert len({call().tobytes() for _ in range(4)}) == 1


def test_sampled_betweenness_and_its_scale() -> None:
    G = graphs.random(12, 40)
    n, every = 12, np.arange(12, dtype=np.int32)
    whole = ev.graph.betweenness(G, target="python")
    np.testing.assert_allclose(whole, graphs.betweenness(G) / (n - 1) / (n - 2), rtol=1e-12)
    parts = [
        ev.graph.betweenness(G, sources=part, target="python") for part in (every[:6], every[6:])
    ]
    np.testing.assert_allclose((parts[0] + parts[1]) / 2, whole, rtol=1e-12)
    given = ev.graph.betweenness(G, csc=ev.csc(G), target="python")
    assert given.tobytes() == whole.tobytes()
    whole = ev.graph.edge_betweenness(G, target="python")
    np.testing.assert_allclose(whole, graphs.edge_betweenness(G) / n / (n - 1), rtol=1e-12)
    parts = [
        ev.graph.edge_betweenness(G, sources=part, target="python")
        for part in (every[:6], every[6:])
    ]
    np.testing.assert_allclose((parts[0] + parts[1]) / 2, whole, rtol=1e-12)


def test_pagerank_with_vectors() -> None:
    G = graphs.random(20, 30)
    home, lost, first = (np.random.default_rng(i).random(20) for i in range(3))
    how = {"personalization": home, "dangling": lost, "tolerance": 1e-12, "max_rounds": 500}
    found = ev.graph.pagerank(G, **how, start=first, target="python")
    P = G.toarray()
    out = P.sum(1)
    P = np.where(out[:, None] > 0, P / np.where(out > 0, out, 1)[:, None], lost / lost.sum())
    steps = 0.85 * P.T + 0.15 * np.outer(home / home.sum(), np.ones(20))
    np.testing.assert_allclose(steps @ found, found, atol=1e-9)
    assert found.sum() == pytest.approx(1)
    ones = sp.csr_array((np.ones(G.nnz), G.indices, G.indptr), shape=G.shape)
    plain = ev.graph.pagerank(G, weighted=False, target="python")
    assert plain.tolist() == ev.graph.pagerank(ones, target="python").tolist()


def test_seeds_give_other_colours_and_sets() -> None:
    for call in (ev.graph.greedy_coloring, ev.graph.maximal_independent_set):
        ends = np.random.default_rng(0).integers(0, 60, (2, 120))
        G = graphs.csr(np.ones(120), *ends, 60)
        results = {call(G, seed=seed, target="python").tobytes() for seed in range(3)}
        assert len(results) == 3


def test_more_colours_than_a_word_has_bits() -> None:
    n = 70
    G = sp.csr_array(np.ones((n, n)))
    assert sorted(ev.graph.greedy_coloring(G, target="python").tolist()) == list(range(n))


def test_undirected() -> None:
    for G in NASTY.values():
        found = ev.graph.undirected(G)
        expected = references.undirected(G)
        assert found.offsets.tolist() == expected.indptr.tolist()
        assert found.indices.tolist() == expected.indices.tolist()
        assert ev.graph.undirected(found) is found


@pytest.mark.parametrize(
    "make", [sp.csc_array, sp.coo_array, ev.csr, ev.csc, ev.coo], ids=lambda f: f.__name__
)
def test_what_a_graph_may_be(make: Any) -> None:
    G = graphs.random(30, 60)
    assert (
        ev.graph.bfs(make(G), 3, target="python").tolist()
        == ev.graph.bfs(G, 3, target="python").tolist()
    )


def test_indices_of_64_bits() -> None:
    G = graphs.random(30, 60)
    wide = ev.csr((G.data, G.indices.astype(np.int64), G.indptr.astype(np.int64)), shape=G.shape)
    for name in ("bfs", "components", "cores"):
        call = {"bfs": lambda G: ev.graph.bfs(G, 0, target="python"),
                "components": lambda G: ev.graph.connected_components(G, target="python"),
                "cores": lambda G: ev.graph.core_numbers(G, target="python")}[name]  # fmt: skip
        assert call(wide).tolist() == call(G).tolist()


def test_sources_in_parts() -> None:
    G = graphs.random(30, 60)
    sources = np.array([3, 0, 29, 3, 7], np.uint8)
    whole = ev.graph.bfs(G, sources, target="python")
    assert whole.shape == (5, 30) and whole.dtype == np.int32
    for many in (16 * 30, 2 * 16 * 30, 10**9):
        assert (
            ev.graph.bfs(G, sources, max_workspace=many, target="python").tolist() == whole.tolist()
        )
    assert ev.graph.bfs(G, [7], target="python").tolist() == [whole[4].tolist()]
    assert ev.graph.bfs(G, []).shape == (0, 30)


# ---- refusals ---------------------------------------------------------------------------------------
SQUARE = sp.csr_array(np.array([[0.0, 1], [1, 0]]))
P = {"target": "python"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ev.graph.bfs(sp.csr_array(np.ones((2, 3))), 0), "G: expected a square matrix, got shape (2, 3)"),
        (lambda: ev.graph.bfs(np.ones((2, 2)), 0),
         "G: expected a sparse matrix, got ndarray; hint: scipy.sparse.csr_array(dense) makes one of a dense array"),
        (lambda: ev.graph.bfs(ev.ell(SQUARE), 0),
         "G: expected a sparse matrix, or a layout of ev.csr, ev.csc or ev.coo, got Ell"),
        (lambda: ev.graph.bfs(SQUARE, 2), "source: expected a vertex in 0..1, got 2"),
        (lambda: ev.graph.bfs(SQUARE, -1), "source: expected a vertex in 0..1, got -1"),
        (lambda: ev.graph.bfs(SQUARE, 0.5), "source: expected a vertex, got 0.5"),
        (lambda: ev.graph.bfs(SQUARE, [0, 2]), "source: expected vertices in 0..1, got source[1]=2"),
        (lambda: ev.graph.bfs(SQUARE, [0.5]), "source: expected a vertex, or a list of vertices, got dtype float64"),
        (lambda: ev.graph.bfs(SQUARE, [[0]]), "source: expected a vertex, or a list of vertices, got shape (1, 1)"),
        (lambda: ev.graph.bfs(SQUARE, [0], max_workspace=31),
         "max_workspace: expected at least 32 bytes, which one search takes, got 31"),
        (lambda: ev.graph.bfs(SQUARE, [0], max_workspace=0), "max_workspace: expected a number of bytes, 1 or more, got 0"),
        (lambda: ev.graph.bfs(SQUARE, 0, csc=ev.csc(sp.csr_array((2, 2)))),
         "csc: expected the graph G as ev.csc makes it, got Csc of shape (2, 2)"),
        (lambda: ev.graph.sssp(sp.csr_array((0, 0)), 0), "source: expected a graph with vertices, got 0"),
        (lambda: ev.graph.sssp(SQUARE * np.nan, 0, **P), "G: expected weights that are numbers, got NaN"),
        (lambda: ev.graph.sssp(SQUARE * 1j, 0, **P), "G: expected real weights, got complex128"),
        (lambda: ev.graph.sssp(-SQUARE, 0, **P),
         "G: expected no negative cycle, got one that vertex 0 reaches; hint: shortest paths along it would have no end"),
        (lambda: ev.graph.pagerank(-SQUARE, **P),
         "G: expected finite weights, 0 or more, got others; hint: weighted=False ignores them"),
        (lambda: ev.graph.pagerank(SQUARE * np.nan, **P),
         "G: expected finite weights, 0 or more, got others; hint: weighted=False ignores them"),
        (lambda: ev.graph.pagerank(sp.csr_array(np.full((2, 2), 1.5e308)), **P),
         "G: expected weights whose sums at each vertex are in the range of float64, got others; hint: scale them"),
        (lambda: ev.graph.pagerank((SQUARE * 1e-42).astype(np.float32), **P),
         "G: expected weights whose sums at each vertex are in the range of float32, got others; hint: scale them"),
        (lambda: ev.graph.pagerank(SQUARE, damping=1.5), "damping: expected a number in 0..1, got 1.5"),
        (lambda: ev.graph.pagerank(SQUARE, damping=None), "damping: expected a number in 0..1, got None"),
        (lambda: ev.graph.pagerank(SQUARE, tolerance=np.nan), "tolerance: expected a number, 0 or more, got nan"),
        (lambda: ev.graph.pagerank(SQUARE, start=np.ones(2) * 1j), "start: expected real numbers, got dtype complex128"),
        (lambda: ev.graph.pagerank(SQUARE, personalization=np.zeros(2), **P),
         "personalization: expected finite numbers, 0 or more, not all of them 0, got others"),
        (lambda: ev.graph.pagerank(SQUARE, dangling=-np.ones(2), **P),
         "dangling: expected finite numbers, 0 or more, not all of them 0, got others"),
        (lambda: ev.graph.pagerank(SQUARE, start=np.ones(3), **P),
         "start: expected a vector of 2, as many as G has, got shape (3,)"),
        (lambda: ev.graph.pagerank(graphs.random(20, 30), max_rounds=1, **P),
         "max_rounds: expected enough rounds for tolerance=1e-06, got 1"),
        (lambda: ev.graph.pagerank(SQUARE, csc=SQUARE, **P),
         "csc: expected the graph G as ev.csc makes it, got csr_array of shape (2, 2)"),
        (lambda: ev.graph.betweenness(SQUARE, sources=np.array([2])),
         "sources: expected indices in 0..1, got sources[0]=2"),
        (lambda: ev.graph.betweenness(SQUARE, schedule=ev.MergePath()),
         "schedule: expected 'auto', or one that gives whole vertices to threads or groups, such as ev.GroupMapped(8), "
         f"got {ev.MergePath()}; hint: others sum up floats in another order at each run"),
        (lambda: ev.graph.greedy_coloring(SQUARE, seed=-1), "seed: expected an integer in 0..2**32-1, got -1"),
        (lambda: ev.graph.maximal_independent_set(SQUARE, seed=0.5), "seed: expected an integer in 0..2**32-1, got 0.5"),
    ],
)  # fmt: skip
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value) == said
