"""Graphs, as sparse matrices whose entry (i, j) is the edge from i to j: `ev.graph.bfs(G, source)` and others.

Each algorithm is a file of kernels (docs/graph.md). They run under every schedule, on every target.
"""

from evenly.algorithms.graph.betweenness import betweenness, edge_betweenness
from evenly.algorithms.graph.bfs import bfs
from evenly.algorithms.graph.connected_components import connected_components
from evenly.algorithms.graph.core_numbers import core_numbers
from evenly.algorithms.graph.csgraph_from_edges import csgraph_from_edges as from_edges
from evenly.algorithms.graph.greedy_coloring import greedy_coloring
from evenly.algorithms.graph.maximal_independent_set import maximal_independent_set
from evenly.algorithms.graph.pagerank import pagerank
from evenly.algorithms.graph.sssp import sssp
from evenly.algorithms.graph.triangles import clustering, triangles
from evenly.algorithms.graph.undirected import undirected

__all__ = [
    "betweenness",
    "bfs",
    "clustering",
    "connected_components",
    "core_numbers",
    "edge_betweenness",
    "from_edges",
    "greedy_coloring",
    "maximal_independent_set",
    "pagerank",
    "sssp",
    "triangles",
    "undirected",
]
