"""Graphs of NetworkX as sparse matrices, and back. NetworkX keeps what is converted until the graph changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse

import evenly as ev

EXACT = 2**53  # integers up to here are float64


class Graph:
    """A graph as NetworkX's backends have it: vertices 0, 1, ... in the order of its nodes. Parallel edges are one.

    nodes: the node of each vertex. index: the vertex of each node. attr: the attribute that is the weight, or None.
    matrix: (n, n), a csr_array of weights, of which columns ascend; ones without `attr`. Weights are float64, so that
    each kernel is compiled once. whole: whether they are integers.
    """

    __networkx_backend__ = "evenly"

    def __init__(
        self, nodes: list[Any], matrix: Any, directed: bool, multi: bool, attr: Any, whole: bool
    ) -> None:
        self.nodes, self.matrix, self.attr, self.whole = nodes, matrix, attr, whole
        self.index = {node: i for i, node in enumerate(nodes)}
        self._directed, self._multi = directed, multi
        self.device = nx.config.backends.evenly.device

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return self._multi

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.index
        except TypeError:  # not hashable
            return False

    @cached_property
    def csr(self) -> Any:
        """The layout of the matrix, on the device that is configured."""
        return ev.csr(self.matrix, check=False).to(self.device)

    @cached_property
    def csc(self) -> Any:
        """The same as `ev.csc` makes it."""
        return self.csr.tocsc() if self._directed else self.csr.transpose()

    @cached_property
    def simple(self) -> Any:
        """The layout without self loops, of an undirected graph."""
        if not self.loops:
            return self.csr
        bare = self.matrix.tocoo()
        keep = bare.row != bare.col
        arrays = bare.data[keep], (bare.row[keep], bare.col[keep])
        return ev.csr(scipy.sparse.csr_array(arrays, shape=bare.shape)).to(self.device)

    @cached_property
    def loops(self) -> bool:
        """Whether there is an edge from a node to itself."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.matrix.indptr))
        return bool((rows == self.matrix.indices).any())

    def by_node(self, values: Any) -> dict[Any, Any]:
        """Return an array (n,) as a dictionary of Python's own numbers."""
        found: list[Any] = ev.kit.to_numpy(values).tolist()
        return dict(zip(self.nodes, found, strict=True))


def convert_from_nx(graph: Any, *, edge_attrs: dict[str, Any] | None = None, **_: Any) -> Graph:
    """Convert a graph of NetworkX. edge_attrs: the name of the attribute that is the weight, and its default.

    Raises NotImplementedError for weights that are not numbers: NetworkX runs its own function then.
    """
    if isinstance(graph, Graph):
        return graph
    nodes = list(graph)
    index = {node: i for i, node in enumerate(nodes)}
    neighbours = [graph._adj[node] for node in nodes]
    offsets = np.concatenate([[0], np.cumsum([len(of) for of in neighbours], dtype=np.int64)])
    heads = map(index.__getitem__, itertools.chain.from_iterable(neighbours))
    indices = np.fromiter(heads, np.int32, int(offsets[-1]))
    attr, default = next(iter(edge_attrs.items())) if edge_attrs else (None, 1)
    if attr is None:
        values, whole = np.ones(len(indices)), True
    elif graph.is_multigraph():
        raise NotImplementedError("weights of parallel edges")
    else:
        given = (data.get(attr, default) for of in neighbours for data in of.values())
        values, whole = _numbers(given)
    shape = len(nodes), len(nodes)
    matrix = scipy.sparse.csr_array((values, indices, offsets), shape=shape)
    matrix.sort_indices()
    return Graph(nodes, matrix, graph.is_directed(), graph.is_multigraph(), attr, whole)


def _numbers(values: Iterable[Any]) -> tuple[Any, bool]:
    """Return numbers as float64, and whether they are integers."""
    found = list(values)
    try:
        array = np.array(found) if found else np.zeros(0, np.int64)
    except (ValueError, OverflowError):
        raise NotImplementedError("weights that are not numbers") from None
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise NotImplementedError("weights that are not numbers")
    whole = array.dtype.kind != "f"
    if (
        whole
        and max(int(array.max(initial=0)), -int(array.min(initial=0))) * (len(array) + 1) >= EXACT
    ):
        raise NotImplementedError("integers whose sums a float64 may not hold")
    return array.astype(np.float64), whole


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Convert a graph back to NetworkX; anything else stays as it is."""
    if not isinstance(result, Graph):
        return result
    made = nx.DiGraph() if result.is_directed() else nx.Graph()
    made.add_nodes_from(result.nodes)
    edges = result.matrix.tocoo()
    weights = edges.data.astype(np.int64) if result.whole else edges.data
    for u, v, weight in zip(edges.row.tolist(), edges.col.tolist(), weights.tolist(), strict=True):
        data = {} if result.attr is None else {result.attr: weight}
        made.add_edge(result.nodes[u], result.nodes[v], **data)
    return made
