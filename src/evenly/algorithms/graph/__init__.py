"""Graphs, as sparse matrices whose entry (i, j) is the edge from i to j."""

from evenly.algorithms.graph.csgraph_from_edges import csgraph_from_edges

__all__ = ["csgraph_from_edges"]
