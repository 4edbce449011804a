"""A caller's graph: a square sparse matrix whose entry (i, j) is the edge from i to j."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import sparse
from evenly.kit.arguments import as_csr, shape
from evenly.language.func import func
from evenly.language.types import from_dtype, read_as
from evenly.layouts.csc import Csc
from evenly.layouts.csr import Csr
from evenly.schedules import by_name


def as_graph(G: Any, name: str = "G") -> Csr:
    """Return a graph as the layout that `ev.csr` makes: a tile is a vertex, an atom an edge that leaves it.

    G: a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. Others than CSR are
      converted at each call. The entries of a CSR matrix are checked when it is seen first.

    Raises InputError for anything else, and for a matrix that is not square.
    """
    if sparse.is_sparse(G):
        G = as_csr(G, name)
    rows, columns = shape(G, name)
    if rows != columns:
        raise InputError(name, expected="a square matrix", given=f"shape {(rows, columns)}")
    return as_csr(G, name)


def as_reverse(G: Csr, csc: Any) -> Csr:
    """Return the graph with its edges turned around. csc: None, or `G` as `ev.csc` makes it, if the caller has it."""
    if csc is None:
        csc = G.tocsc()
    elif (
        not isinstance(csc, Csc)
        or csc.shape != (G.num_tiles,) * 2
        or len(csc.indices) != len(G.indices)
    ):
        given = f"{type(csc).__name__} of shape {getattr(csc, 'shape', None)}"
        raise InputError("csc", expected="the graph G as ev.csc makes it", given=given)
    return csc.transpose()  # type: ignore[no-any-return]


def of_whole_tiles(schedule: Any) -> Any:
    """Return a schedule for frontiers whose tiles sum up floats: "auto", or one that gives whole tiles to owners.

    The tiles of a frontier come in another order at each run. Under other schedules the atoms that a thread sums up
    depend on that order, and so do the last bits of the result. Raises InputError for these.
    """
    made = by_name(schedule, auto=True)
    if made == "auto" or (
        made != "tuned" and made.owns_tiles and not getattr(made, "flatten", False)
    ):
        return made
    expected = (
        "'auto', or one that gives whole vertices to threads or groups, such as ev.GroupMapped(8)"
    )
    hint = "others sum up floats in another order at each run"
    raise InputError("schedule", expected=expected, given=str(made), hint=hint)


def vertex(given: Any, G: Csr, name: str = "source") -> int:
    """Return a vertex of a graph as an int. Raises InputError for any other."""
    try:
        found = operator.index(given)
    except TypeError:
        raise InputError(name, expected="a vertex", given=repr(given)) from None
    if not 0 <= found < G.num_tiles:
        expected = f"a vertex in 0..{G.num_tiles - 1}" if G.num_tiles else "a graph with vertices"
        raise InputError(name, expected=expected, given=str(found))
    return found


def priority_seed(given: Any) -> np.uint32:
    """Return the seed of hashed priorities. Raises InputError unless it is an integer in 0 .. 2**32 - 1."""
    try:
        found = operator.index(given)
    except TypeError:
        found = -1
    if not 0 <= found < 2**32:
        raise InputError("seed", expected="an integer in 0..2**32-1", given=repr(given))
    return np.uint32(found)


@func
def priority(v, seed):
    """In kernels: a hash of the vertex v, different for all vertices. Source: the end of MurmurHash3 (Appleby)."""
    h = np.uint32(v) ^ np.uint32(seed)
    h = (h ^ (h >> 16)) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> 13)) * np.uint32(0xC2B2AE35)
    return h ^ (h >> 16)


def float_type(G: Csr) -> np.dtype[Any]:
    """Return the float type in which edge weights are added: NumPy's of theirs and float32.

    Raises InputError for complex weights.
    """
    known = from_dtype(G.values.dtype)
    found = G.values.dtype if known is None else read_as(known).dtype
    if found.kind == "c":
        raise InputError("G", expected="real weights", given=str(found))
    return np.result_type(found, np.float32)
