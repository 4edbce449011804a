"""The backend "evenly" of NetworkX: its own results, NetworkX's tests, and what it says of itself."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

nx = pytest.importorskip("networkx")
if "evenly" not in nx.utils.backends.backends:
    pytest.skip("evenly is not installed with its entry points", allow_module_level=True)

import evenly.networkx_backend as backend  # noqa: E402
from _nx_evenly import FUNCTIONS, get_info  # noqa: E402
from evenly.networkx_backend import running  # noqa: E402

ROOT = Path(nx.__file__).parent / "algorithms"
QUICK = ["components/tests/test_connected.py", "tests/test_core.py"]
SUITE = [
    *QUICK,
    "centrality/tests/test_betweenness_centrality.py",
    "coloring/tests/test_coloring.py",
    "components/tests/test_weakly_connected.py",
    "link_analysis/tests/test_pagerank.py",
    "shortest_paths/tests/test_generic.py",
    "shortest_paths/tests/test_unweighted.py",
    "shortest_paths/tests/test_weighted.py",
    "tests/test_cluster.py",
    "tests/test_mis.py",
]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    """Without NetworkX's remark on each graph that is converted once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Note: conversions to backend graphs", UserWarning)
        yield


def suite(files: list[str]) -> str:
    """Run NetworkX's own tests with the backend forced; where it cannot run, NetworkX does."""
    env = {**os.environ, "NETWORKX_TEST_BACKEND": "evenly", "NETWORKX_FALLBACK_TO_NX": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
    done = subprocess.run(
        [*command, "--rootdir=.", *(str(ROOT / file) for file in files)],
        cwd=ROOT.parents[1],  # so that the conftest.py of NetworkX is read
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout.splitlines()[-1]


def test_networkx_own_tests_in_short() -> None:
    assert re.search(r"\d+ passed in", suite(QUICK))


@pytest.mark.slow
def test_networkx_own_tests() -> None:
    assert re.search(r"\d+ passed, 1 xfailed", suite(SUITE))


def test_what_it_says_of_itself() -> None:
    has = {name for name, f in vars(backend).items() if inspect.isfunction(f)}
    asked = {"can_run", "should_run", "convert_from_nx", "convert_to_nx", "on_start_tests"}
    assert set(FUNCTIONS) == set(running.RULES) == has - asked
    assert set(get_info()["functions"]) == set(FUNCTIONS)
    page = (Path(__file__).parents[2] / "docs" / "graph.md").read_text()
    for name in FUNCTIONS:
        assert f"`{name}`" in page
    for name, why in running.DEVIATIONS.items():
        assert name.partition("::")[2] in page and why in page


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_networkx_own(name: str) -> None:
    theirs = getattr(nx, name, None) or getattr(nx.coloring, name)
    ours = inspect.signature(getattr(backend, name)).parameters
    expected = inspect.signature(theirs.orig_func).parameters
    assert [(p.name, p.default) for p in ours.values()] == [
        (p.name, p.default) for p in expected.values()
    ]


def test_its_description_imports_nothing() -> None:
    text = "import sys, _nx_evenly; print({'evenly', 'numpy', 'networkx'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


GRAPHS = {
    "nothing": nx.Graph(),
    "letters": nx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")]),
    "karate": nx.karate_club_graph(),
    "directed": nx.gnp_random_graph(30, 0.08, seed=3, directed=True),
    "parallel": nx.MultiGraph([(0, 1), (0, 1), (1, 2)]),
}
CALLS: dict[str, dict[str, Any]] = {
    "average_clustering": {},
    "betweenness_centrality": {"k": 3, "seed": 5},
    "clustering": {},
    "connected_components": {},
    "core_number": {},
    "edge_betweenness_centrality": {"k": 3, "seed": 5},
    "number_connected_components": {},
    "number_weakly_connected_components": {},
    "pagerank": {"tol": 1e-10},
    "single_source_bellman_ford_path_length": {"source": 0},
    "single_source_dijkstra_path_length": {"source": 0, "cutoff": 4},
    "single_source_shortest_path_length": {"source": 0, "cutoff": 2},
    "single_target_shortest_path_length": {"target": 0},
    "transitivity": {},
    "triangles": {},
    "weakly_connected_components": {},
}


def result(name: str, graph: Any, **how: Any) -> Any:
    """The result of a call, or the type of its error."""
    try:
        found = getattr(nx, name)(graph, **CALLS[name], **how)
        return list(found) if name.endswith("_components") and "number" not in name else found
    except (nx.NetworkXException, ZeroDivisionError, ValueError) as error:
        return type(error)


QUICK_CALLS = "connected_components", "core_number", "single_source_shortest_path_length"


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK_CALLS)) for name in CALLS],
)
def test_results_are_networkx_own(name: str, graph: str) -> None:
    expected = result(name, GRAPHS[graph])
    try:
        found = result(name, GRAPHS[graph], backend="evenly")
    except NotImplementedError:
        call = inspect.signature(getattr(backend, name)).bind(GRAPHS[graph], **CALLS[name])
        assert running.can_run(name, call.args, call.kwargs) is not True
        return
    if isinstance(expected, dict):
        assert list(found) == list(expected) or "single" in name
        assert {type(x) for x in found.values()} <= {int, float}
    if expected == expected:  # nan of one source
        assert found == expected or found == pytest.approx(expected, rel=1e-7)


@pytest.mark.slow
def test_whole_numbers_stay_whole() -> None:
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 3), (1, 2, 4)])
    assert (
        repr(nx.single_source_dijkstra_path_length(G, 0, backend="evenly")) == "{0: 0, 1: 3, 2: 7}"
    )


@pytest.mark.parametrize("name", ["bellman_ford", "dijkstra"])
def test_lengths_without_edges_are_whole(name: str) -> None:
    path_length = getattr(nx, f"single_source_{name}_path_length")
    found = path_length(nx.empty_graph(2), 0, backend="evenly")
    assert found == {0: 0}
    assert type(found[0]) is int


def test_only_negative_cycles_that_the_source_reaches_count() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, 2), (2, 2, -1), (3, 4, -1), (4, 3, 0)])
    for source in (0, 1):
        right = nx.single_source_bellman_ford_path_length(G, source, backend="networkx")
        assert nx.single_source_bellman_ford_path_length(G, source, backend="evenly") == right
    for source in (2, 3, 4):
        for whose in ("networkx", "evenly"):
            with pytest.raises(nx.NetworkXUnbounded, match="Negative cycle"):
                nx.single_source_bellman_ford_path_length(G, source, backend=whose)


@pytest.mark.slow
def test_colours_and_sets_hold() -> None:
    G = GRAPHS["karate"]
    colors = nx.greedy_color(G, strategy="random_sequential", backend="evenly")
    assert all(colors[u] != colors[v] for u, v in G.edges)
    chosen = nx.maximal_independent_set(G, seed=1, backend="evenly")
    assert all(any(u == v or G.has_edge(u, v) for u in chosen) for v in G)
    assert not any(G.has_edge(u, v) for u in chosen for v in chosen)


@pytest.mark.parametrize(
    ("name", "how", "why"),
    [
        ("pagerank", {"weight": lambda u, v, d: 1}, "weights that a function gives"),
        ("betweenness_centrality", {"weight": "weight"}, "weights"),
        ("betweenness_centrality", {"endpoints": True}, "endpoints"),
        ("greedy_color", {}, "this strategy"),
        ("clustering", {"weight": "weight"}, "weights"),
        ("maximal_independent_set", {"nodes": [1]}, "nodes that have to be in the set"),
    ],
)
def test_what_it_cannot_run(name: str, how: dict[str, Any], why: str) -> None:
    assert running.can_run(name, (GRAPHS["karate"],), how) == f"evenly's {name} does not take {why}"


def test_small_graphs_are_left_to_networkx() -> None:
    assert "small" in str(running.should_run("pagerank", (GRAPHS["karate"],), {}))
    assert running.should_run("betweenness_centrality", (), {"G": GRAPHS["karate"]}) is True
    assert running.should_run("pagerank", (nx.path_graph(5000),), {}) is True


def test_conversions_are_kept_until_the_graph_changes() -> None:
    G = nx.path_graph(5)
    nx.number_connected_components(G, backend="evenly")
    (kept,) = G.__networkx_cache__["backends"]["evenly"].values()
    nx.core_number(G, backend="evenly")
    assert list(G.__networkx_cache__["backends"]["evenly"].values()) == [kept]
    G.add_edge(0, 2)
    assert nx.core_number(G, backend="evenly") == {0: 2, 1: 2, 2: 2, 3: 1, 4: 1}


def test_a_graph_comes_back() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([("a", "b", 2.5), ("b", "b", 1.5)])
    there = backend.convert_from_nx(G, edge_attrs={"weight": 1})
    back = backend.convert_to_nx(there)
    assert (list(back), dict(back.edges)) == (list(G), dict(G.edges))
    assert backend.convert_to_nx(3) == 3
    assert np.array_equal(there.matrix.toarray(), [[0, 2.5], [0, 1.5]])


@pytest.mark.parametrize("weight", [None, "heavy", 2**60, 1j])
def test_other_weights_are_left_to_networkx(weight: Any) -> None:
    G = nx.Graph()
    G.add_edge(0, 1, weight=weight)
    with pytest.raises(NotImplementedError):
        backend.convert_from_nx(G, edge_attrs={"weight": 1})


@pytest.mark.parametrize(
    "name",
    ["pagerank", "single_source_bellman_ford_path_length", "single_source_dijkstra_path_length"],
)
def test_weights_of_earlier_calls_do_not_count(name: str) -> None:
    """NetworkX gives the graph that it has converted with weights also where none are asked for."""
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 7), (1, 2, 1), (0, 2, 9), (2, 3, 5)])
    source = () if name == "pagerank" else (0,)
    function = getattr(nx, name)
    function(G, *source, backend="evenly")
    found = function(G, *source, weight=None, backend="evenly")
    assert found == pytest.approx(function(G, *source, weight=None), abs=1e-5)


@pytest.mark.parametrize("weight", [np.inf, np.nan])
@pytest.mark.parametrize("name", ["bellman_ford", "dijkstra"])
def test_infinite_lengths_are_left_to_networkx(name: str, weight: float) -> None:
    """A node at the distance inf is reached."""
    G = nx.Graph()
    G.add_edge(0, 1, weight=weight)
    with pytest.raises(NotImplementedError):
        getattr(nx, f"single_source_{name}_path_length")(G, 0, backend="evenly")


def test_other_weights_than_those_converted_are_refused() -> None:
    G = nx.Graph()
    G.add_edge(0, 1, weight=2, cost=3)
    converted = backend.convert_from_nx(G, edge_attrs={"weight": 1})
    with pytest.raises(NotImplementedError, match="weights 'cost' of a graph"):
        backend.single_source_dijkstra_path_length(converted, 0, weight="cost")
