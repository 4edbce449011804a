"""ev.graph on a GPU: the checks of the CPU, the same bits as there, one launch, NetworkX's backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.graph.bfs import search
from evenly.interop.generators import rmat
from evenly.interop.transfer import to_numpy
from tests.algorithms.graph import graphs
from tests.algorithms.graph.test_algorithms import BIG, NASTY, start
from tests.kernels import SCHEDULES

pytestmark = pytest.mark.gpu

CALLS = {
    "bfs": lambda G, **how: ev.graph.bfs(G, 3, return_parents=True, **how),
    "both ways": lambda G, **how: ev.graph.bfs(
        G, 3, return_parents=True, csc=ev.csr(G).tocsc(), **how
    ),
    "several": lambda G, **how: ev.graph.bfs(
        G, [3, 0, 3], return_parents=True, csc=ev.csr(G).tocsc(), **how
    ),
    "sssp": lambda G, **how: ev.graph.sssp(G, 3, return_parents=True, **how),
    "pagerank": ev.graph.pagerank,
    "components": ev.graph.connected_components,
    "triangles": ev.graph.triangles,
    "clustering": ev.graph.clustering,
    "cores": ev.graph.core_numbers,
    "coloring": ev.graph.greedy_coloring,
    "independent": ev.graph.maximal_independent_set,
    "betweenness": ev.graph.betweenness,
    "edge betweenness": ev.graph.edge_betweenness,
}
FLOATS = "pagerank", "betweenness", "edge betweenness"


def arrays(found: Any) -> list[np.ndarray]:
    return [to_numpy(x) for x in (found if isinstance(found, tuple) else (found,))]


def agree(name: str, G: Any, **how: Any) -> None:
    """The same as on the CPU; of floats that are summed, the same bits twice."""
    there = ev.csr(G).to("cuda")
    expected = arrays(CALLS[name](ev.csr(G), target="cpu"))
    found, again = (arrays(CALLS[name](there, **how)) for _ in range(2))
    for mine, theirs, once_more in zip(expected, found, again, strict=True):
        assert theirs.dtype == mine.dtype
        assert theirs.tobytes() == once_more.tobytes()
        if name in FLOATS:
            np.testing.assert_allclose(theirs, mine, rtol=1e-9, atol=1e-15)
        else:
            np.testing.assert_array_equal(theirs, mine)


@pytest.mark.parametrize("name", CALLS)
def test_nasty_graphs(name: str) -> None:
    pytest.importorskip("cuda.cccl")
    for G in NASTY.values():
        if G.shape[0] > 3:
            agree(name, G)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", CALLS)
def test_every_schedule(name: str, schedule: str) -> None:
    pytest.importorskip("cuda.cccl")
    made = SCHEDULES[schedule]
    if "betweenness" in name and (not made.owns_tiles or getattr(made, "flatten", False)):
        with pytest.raises(ev.InputError, match="schedule: expected 'auto', or one that gives"):
            agree(name, BIG, schedule=SCHEDULES[schedule])
    else:
        agree(name, BIG, schedule=SCHEDULES[schedule])


@pytest.mark.parametrize(
    "name", [name for name in CALLS if "betweenness" not in name and name != "clustering"]
)
def test_a_larger_graph(name: str) -> None:
    pytest.importorskip("cuda.cccl")
    agree(name, graphs.random(60_000, 500_000))


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_matrices_of_every_library(kind: str) -> None:
    library = pytest.importorskip(kind)
    G = graphs.random(500, 3000)
    expected = ev.graph.bfs(G, start(G))
    if kind == "cupy":
        sparse = pytest.importorskip("cupyx.scipy.sparse")
        there = sparse.csr_matrix(
            tuple(map(library.asarray, (G.data, G.indices, G.indptr))), shape=G.shape
        )
        found = ev.graph.bfs(there, start(G))
        assert isinstance(found, library.ndarray)
    else:
        parts = (library.from_numpy(x).cuda() for x in (G.indptr, G.indices, G.data))
        there = library.sparse_csr_tensor(*parts, size=G.shape)
        found = ev.graph.bfs(there, start(G))
        assert isinstance(found, library.Tensor)
    np.testing.assert_array_equal(to_numpy(found), expected)


def test_a_search_is_one_launch_and_rounds_on_the_device() -> None:
    """Such a plan has no list of launches: the GPU decides about each round."""
    cupy = pytest.importorskip("cupy")
    G = ev.csr(rmat(10)).to("cuda")
    level = cupy.empty(G.num_tiles, np.int32)
    F, L = (ev.frontier(G, check=False) for _ in range(2))
    V, S, source = ev.kit.each(G.num_tiles), ev.kit.each(1), cupy.zeros(1, np.int32)
    plan = search.plan(F, L, G, V, S, None, level, None, source, G.num_atoms, 0)
    assert plan.repeats
    with pytest.raises(ev.InputError, match="without a while around loops over tiles"):
        _ = plan.launches


def test_refusals_on_a_gpu() -> None:
    for weights, said in (
        ([-1.0, -1.0], "no negative cycle"),
        ([np.nan, 1.0], "weights that are numbers"),
    ):
        G = ev.csr(graphs.csr(weights, [0, 1], [1, 0], 2)).to("cuda")
        with pytest.raises(ev.InputError, match=said):
            ev.graph.sssp(G, 0)


def test_networkx_on_a_gpu() -> None:
    nx = pytest.importorskip("networkx")
    if "evenly" not in nx.utils.backends.backends:
        pytest.skip("evenly is not installed with its entry points")
    G = nx.gnp_random_graph(200, 0.05, seed=1)
    with nx.config.backends.evenly(device="cuda"):
        for name in ("betweenness_centrality", "pagerank", "core_number", "triangles"):
            call = getattr(nx, name)
            assert call(G, backend="evenly") == pytest.approx(call(G), rel=1e-7)
