"""The backend "evenly" of NetworkX: `nx.betweenness_centrality(G, backend="evenly")` (docs/graph.md).

NetworkX finds this module by its entry point, imports it when the backend is first used, and calls what stands here.
"""

from evenly.networkx_backend.conversion import convert_from_nx, convert_to_nx
from evenly.networkx_backend.functions import (
    average_clustering,
    betweenness_centrality,
    clustering,
    connected_components,
    core_number,
    edge_betweenness_centrality,
    greedy_color,
    is_connected,
    is_weakly_connected,
    maximal_independent_set,
    node_connected_component,
    number_connected_components,
    number_weakly_connected_components,
    pagerank,
    single_source_bellman_ford_path_length,
    single_source_dijkstra_path_length,
    single_source_shortest_path_length,
    single_target_shortest_path_length,
    transitivity,
    triangles,
    weakly_connected_components,
)
from evenly.networkx_backend.running import can_run, on_start_tests, should_run

__all__ = [
    "average_clustering",
    "betweenness_centrality",
    "can_run",
    "clustering",
    "connected_components",
    "convert_from_nx",
    "convert_to_nx",
    "core_number",
    "edge_betweenness_centrality",
    "greedy_color",
    "is_connected",
    "is_weakly_connected",
    "maximal_independent_set",
    "node_connected_component",
    "number_connected_components",
    "number_weakly_connected_components",
    "on_start_tests",
    "pagerank",
    "should_run",
    "single_source_bellman_ford_path_length",
    "single_source_dijkstra_path_length",
    "single_source_shortest_path_length",
    "single_target_shortest_path_length",
    "transitivity",
    "triangles",
    "weakly_connected_components",
]
