"""Which calls the backend can run, and which it should: `can_run`, `should_run`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from evenly.networkx_backend import functions
from evenly.networkx_backend.conversion import Graph

# NetworkX's own tests that do not hold here, and why.
DEVIATIONS = {
    "test_mis.py::test_random_seed": "the set follows from a hash, and is listed in the order of nodes",
}

Arguments = Mapping[str, Any]

FEW = 2_000  # nodes and edges: NetworkX is done sooner than the graph is converted
FEW_SOURCES = 100  # the same for all shortest paths


def _always(call: Arguments) -> bool | str:
    return True


def _undirected(call: Arguments) -> bool | str:
    return "directed graphs" if call["G"].is_directed() else True


def _simple(call: Arguments) -> bool | str:
    return "multigraphs" if call["G"].is_multigraph() else _undirected(call)


def _unweighted(call: Arguments) -> bool | str:
    return "weights" if call["weight"] is not None else _simple(call)


def _weighted(call: Arguments) -> bool | str:
    if call["weight"] is not None and not isinstance(call["weight"], str):
        return "weights that a function gives"
    return "parallel edges" if call["G"].is_multigraph() else True


def _betweenness(call: Arguments) -> bool | str:
    if call["weight"] is not None:
        return "weights"
    return "endpoints" if call["endpoints"] else True


def _edge_betweenness(call: Arguments) -> bool | str:
    if call["weight"] is not None:
        return "weights"
    return "parallel edges" if call["G"].is_multigraph() else True


def _coloring(call: Arguments) -> bool | str:
    if call["strategy"] != "random_sequential" or call["interchange"]:
        return "this strategy"
    return _undirected(call)


def _independent(call: Arguments) -> bool | str:
    if call["nodes"]:
        return "nodes that have to be in the set"
    return True if len(call["G"]) else "no nodes"


RULES: dict[str, Callable[[Arguments], bool | str]] = {
    "average_clustering": _unweighted,
    "betweenness_centrality": _betweenness,
    "clustering": _unweighted,
    "connected_components": _always,
    "core_number": _simple,
    "edge_betweenness_centrality": _edge_betweenness,
    "greedy_color": _coloring,
    "is_connected": _always,
    "is_weakly_connected": _always,
    "maximal_independent_set": _independent,
    "node_connected_component": _always,
    "number_connected_components": _always,
    "number_weakly_connected_components": _always,
    "pagerank": _weighted,
    "single_source_bellman_ford_path_length": _weighted,
    "single_source_dijkstra_path_length": _weighted,
    "single_source_shortest_path_length": _always,
    "single_target_shortest_path_length": _always,
    "transitivity": _simple,
    "triangles": _simple,
    "weakly_connected_components": _always,
}


def can_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Return whether the backend can run this call: True, or what it lacks."""
    call = inspect.signature(getattr(functions, name)).bind(*args, **kwargs)
    call.apply_defaults()
    lacks = RULES[name](call.arguments)
    return True if lacks is True else f"evenly's {name} does not take {lacks}"


def should_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Return whether the backend is likely to be the faster one: True, or why it is not."""
    graph = args[0] if args else kwargs["G"]
    if isinstance(graph, Graph):
        return True
    few = FEW_SOURCES if "betweenness" in name else FEW
    if len(graph) + graph.number_of_edges() < few:
        return "a small graph: NetworkX is done before it is converted"
    return True


def on_start_tests(items: Any) -> None:
    """Mark those of NetworkX's own tests that do not hold here (NETWORKX_TEST_BACKEND=evenly)."""
    import pytest

    for item in items:
        for name, why in DEVIATIONS.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=why, strict=True))
