"""What NetworkX asks for when it is imported: which functions the backend "evenly" has. Imports nothing.

It stands outside of the package, since `import evenly.anything` imports all of evenly.
"""

from __future__ import annotations

from typing import Any

ANY_WEIGHT = "`weight` is None or the name of an attribute."
UNWEIGHTED = "`weight` is None."

FUNCTIONS = {
    "average_clustering": f"{UNWEIGHTED} Graphs are undirected.",
    "betweenness_centrality": f"{UNWEIGHTED} `endpoints` is False.",
    "clustering": f"{UNWEIGHTED} Graphs are undirected.",
    "connected_components": "",
    "core_number": "Graphs are undirected.",
    "edge_betweenness_centrality": UNWEIGHTED,
    "greedy_color": "`strategy` is 'random_sequential', in the order of a fixed hash; no `interchange`.",
    "is_connected": "",
    "is_weakly_connected": "",
    "maximal_independent_set": "`nodes` is None. The set follows from `seed`, but is not NetworkX's.",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": f"{ANY_WEIGHT} Weights are not negative.",
    "single_source_bellman_ford_path_length": ANY_WEIGHT,
    "single_source_dijkstra_path_length": f"{ANY_WEIGHT} Weights are not negative.",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "transitivity": "Graphs are undirected.",
    "triangles": "",
    "weakly_connected_components": "",
}


def get_info() -> dict[str, Any]:
    """Describe the backend, as the entry point `networkx.backend_info` has to."""
    return {
        "backend_name": "evenly",
        "project": "evenly",
        "package": "evenly.networkx_backend",
        "short_summary": "Irregular parallel work, balanced by schedules, on GPUs and CPUs.",
        "default_config": {"device": "cpu"},
        "functions": {
            name: {"additional_docs": text} if text else {} for name, text in FUNCTIONS.items()
        },
    }
