"""NetworkX's functions, by those of `ev.graph`. Arguments, results and errors are NetworkX's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import evenly as ev
from evenly.interop.transfer import to_place
from evenly.networkx_backend.conversion import Graph, convert_from_nx


# ---- searches and shortest paths -------------------------------------------------------------------
def single_source_shortest_path_length(G: Any, source: Any, cutoff: Any = None) -> dict[Any, int]:
    G = convert_from_nx(G)
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return _fewest_edges(G, source, cutoff)


def single_target_shortest_path_length(G: Any, target: Any, cutoff: Any = None) -> dict[Any, int]:
    G = convert_from_nx(G)
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    found = ev.graph.bfs(G.csc.transpose(), G.index[target], csc=G.csr.transpose())
    return _reached(G, found, cutoff)


def single_source_dijkstra_path_length(
    G: Any, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    G = _weighted(G, weight)
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if weight is None:
        return _fewest_edges(G, source, cutoff)
    if not (G.matrix.data >= 0).all():
        raise NotImplementedError("negative weights: what NetworkX does then")
    return _lengths(G, source, cutoff)


def single_source_bellman_ford_path_length(
    G: Any, source: Any, weight: Any = "weight"
) -> dict[Any, Any]:
    G = _weighted(G, weight)
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    if weight is None:
        return _fewest_edges(G, source, None)
    try:
        return _lengths(G, source, None)
    except ev.InputError:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from None


def _weighted(G: Any, weight: Any) -> Graph:
    """Convert a graph with its weights. Where `weight` is None, it may come from an earlier call, with weights."""
    found = convert_from_nx(G, edge_attrs=None if weight is None else {weight: 1})
    if weight is not None and found.attr != weight:
        raise NotImplementedError(f"weights {weight!r} of a graph that was converted without them")
    return found


def _fewest_edges(G: Graph, source: Any, cutoff: Any) -> dict[Any, Any]:
    return _reached(G, ev.graph.bfs(G.csr, G.index[source], csc=G.csc), cutoff)


def _lengths(G: Graph, source: Any, cutoff: Any) -> dict[Any, Any]:
    if not np.isfinite(G.matrix.data).all():  # nodes at the distance inf are reached, too
        raise NotImplementedError("infinite weights or NaN: what NetworkX does then")
    lengths = ev.kit.to_numpy(ev.graph.sssp(G.csr, G.index[source]))
    found = np.where(np.isinf(lengths) & (lengths > 0), np.nan, lengths)
    return _reached(G, found, cutoff, np.int64 if G.whole else None)


def _reached(G: Graph, lengths: Any, cutoff: Any, dtype: Any = None) -> dict[Any, Any]:
    """Return the lengths of what is reached, neither -1 nor NaN, the nearest nodes first."""
    lengths = ev.kit.to_numpy(lengths)
    keep = lengths != -1 if lengths.dtype.kind == "i" else ~np.isnan(lengths)
    if cutoff is not None:
        keep &= lengths <= cutoff
    at = np.flatnonzero(keep)
    at = at[np.argsort(lengths[at], kind="stable")]
    found = lengths[at] if dtype is None else lengths[at].astype(dtype)
    return {G.nodes[i]: length for i, length in zip(at.tolist(), found.tolist(), strict=True)}


# ---- centrality ------------------------------------------------------------------------------------
def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> Any:
    G = _weighted(G, weight)
    if len(G) == 0:
        return {}
    data = G.matrix.data
    if weight is not None and not ((data >= 0) & (data < np.inf)).all():
        raise NotImplementedError("weights that are negative or not finite")
    vectors = {"personalization": personalization, "dangling": dangling, "start": nstart}
    try:
        found = ev.graph.pagerank(
            G.csr,
            damping=alpha,
            weighted=weight is not None,
            **{name: _vector(G, given) for name, given in vectors.items()},
            tolerance=tol,
            max_rounds=max_iter,
            csc=G.csc,
        )
    except ev.InputError as error:
        if error.argument == "max_rounds":
            raise nx.PowerIterationFailedConvergence(max_iter) from None
        raise NotImplementedError(str(error)) from None
    return G.by_node(found)


def _vector(G: Graph, given: Any) -> Any:
    if given is None:
        return None
    found = np.array([given.get(node, 0) for node in G.nodes], np.float64)
    if found.sum() == 0:
        raise ZeroDivisionError
    return to_place(found, G.device)


def betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> Any:
    G = convert_from_nx(G)
    n = len(G)
    chosen = None if k is None else [G.index[v] for v in seed.sample(G.nodes, k)]
    if chosen == []:
        raise ZeroDivisionError("k is 0")
    sources = None if chosen is None else to_place(np.array(chosen, np.int32), G.device)
    found = ev.kit.to_numpy(
        ev.graph.betweenness(G.csr, sources=sources, normalized=False, csc=G.csc)
    )
    if n < 3:
        return G.by_node(found)
    pairs = (n - 1) * (n - 2) if normalized else 1 if G.is_directed() else 2
    found = found / pairs
    if k is not None:  # a source is no source of paths through itself
        found = found * ((n - 1) / n)
        found[chosen] *= k / (k - 1) if k > 1 else np.nan
    return G.by_node(found)


def edge_betweenness_centrality(
    G: Any, k: int | None = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> Any:
    G = convert_from_nx(G)
    chosen = None if k is None else [G.index[v] for v in seed.sample(G.nodes, k)]
    if chosen == [] and len(G) > 1:
        raise ZeroDivisionError("k is 0")
    sources = None if chosen is None else to_place(np.array(chosen, np.int32), G.device)
    found = ev.kit.to_numpy(
        ev.graph.edge_betweenness(G.csr, sources=sources, normalized=normalized, csc=G.csc)
    )
    edges = G.matrix.tocoo()
    if not G.is_directed():  # the sum of both directions, at the one that NetworkX lists
        back = np.lexsort((edges.row, edges.col))
        found = (found + found[back]) / (1 if normalized else 2)
    ends = zip(edges.row.tolist(), edges.col.tolist(), found.tolist(), strict=True)
    every = G.is_directed()
    return {(G.nodes[u], G.nodes[v]): value for u, v, value in ends if every or u <= v}


# ---- components ------------------------------------------------------------------------------------
def connected_components(G: Any) -> Iterator[set[Any]]:
    G = convert_from_nx(G)
    labels = ev.kit.to_numpy(ev.graph.connected_components(G.csr))
    order = np.argsort(labels, kind="stable")
    first = np.flatnonzero(np.diff(labels[order], prepend=-1))
    for at in np.split(order, first[1:]) if len(G) else []:
        yield {G.nodes[i] for i in at.tolist()}


def number_connected_components(G: Any) -> int:
    G = convert_from_nx(G)
    return len(np.unique(ev.kit.to_numpy(ev.graph.connected_components(G.csr))))


def is_connected(G: Any) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return number_connected_components(G) == 1


def node_connected_component(G: Any, n: Any) -> set[Any]:
    G = convert_from_nx(G)
    labels = ev.kit.to_numpy(ev.graph.connected_components(G.csr))
    return {G.nodes[i] for i in np.flatnonzero(labels == labels[G.index[n]]).tolist()}


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components


def is_weakly_connected(G: Any) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return number_connected_components(G) == 1


# ---- triangles and cores ---------------------------------------------------------------------------
def triangles(G: Any, nodes: Any = None) -> Any:
    G = convert_from_nx(G)
    return _of(G, nodes, ev.graph.triangles(G.simple, check=False))


def clustering(G: Any, nodes: Any = None, weight: Any = None) -> Any:
    G = convert_from_nx(G)
    return _of(G, nodes, ev.graph.clustering(G.simple, check=False))


def average_clustering(
    G: Any, nodes: Any = None, weight: Any = None, count_zeros: bool = True
) -> float:
    found = list(clustering(G, nodes).values())
    if not count_zeros:
        found = [share for share in found if share > 0]
    return float(sum(found) / len(found))


def transitivity(G: Any) -> float:
    G = convert_from_nx(G)
    closed = 2 * int(ev.kit.to_numpy(ev.graph.triangles(G.simple, check=False)).sum())
    degrees = np.diff(ev.kit.to_numpy(G.simple.offsets)).astype(np.int64)
    return 0 if closed == 0 else closed / int((degrees * (degrees - 1)).sum())


def _of(G: Graph, nodes: Any, values: Any) -> Any:
    """Return the values of all nodes, of some, or of one, as NetworkX does."""
    found = G.by_node(values)
    if nodes is None:
        return found
    if nodes in G:
        return found[nodes]
    try:
        return {node: found[node] for node in nodes if node in G}
    except TypeError:
        raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from None


def core_number(G: Any) -> Any:
    G = convert_from_nx(G)
    if G.loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(ev.graph.core_numbers(G.csr, check=False))


# ---- colours and sets ------------------------------------------------------------------------------
def greedy_color(G: Any, strategy: Any = "largest_first", interchange: bool = False) -> Any:
    G = convert_from_nx(G)
    return G.by_node(ev.graph.greedy_coloring(G.simple, check=False))


def maximal_independent_set(G: Any, nodes: Any = None, seed: Any = None) -> list[Any]:
    G = convert_from_nx(G)
    chosen = ev.graph.maximal_independent_set(G.simple, seed=seed.getrandbits(32), check=False)
    return [G.nodes[i] for i in np.flatnonzero(ev.kit.to_numpy(chosen)).tolist()]
