"""Searches from several sources, which run at once over as many copies of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.kit.graphs import vertex
from evenly.kit.operands import index_type
from evenly.language.func import func
from evenly.language.names import atomic_cas, atomic_exch, atomic_min
from evenly.layouts.copies import Copies
from evenly.layouts.csr import Csr
from evenly.layouts.entries import check_range
from evenly.layouts.frontier import MOST
from evenly.targets.workspace import MOST_WORKSPACE, limit_of


def vertices(given: Any, G: Csr, name: str = "source") -> tuple[np.ndarray[Any, Any], bool]:
    """Return one vertex of a graph or several as an array, (k,) int32 or int64, and whether `given` is a list of them.

    given: an integer, or a list or vector of integers, which may repeat. Raises InputError for others.
    """
    if not (isinstance(given, list | tuple | np.ndarray) or arrays.is_array(given)):
        return np.array([vertex(given, G, name)], index_type(G.num_tiles)), False
    found = np.asarray(given) if isinstance(given, list | tuple) else to_numpy(given)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        what = f"shape {found.shape}" if found.ndim != 1 else f"dtype {found.dtype}"
        raise InputError(name, expected="a vertex, or a list of vertices", given=what)
    check_range(found, G.num_tiles, name, "vertices")
    return found.astype(index_type(G.num_tiles)), True


@func
def first_of(u, n):
    """In kernels: the first vertex of the copy that vertex u is in. n: the vertices of a copy; None: there is one."""
    if n is None:
        return 0
    return u - u % n


@func
def start(F, level, sources, s, n):
    """In kernels, as a statement: push source number s, at level 0, into the frontier F. n: as in `first_of`."""
    v = sources[s] if n is None else s * n + sources[s]
    atomic_exch(level, v, 0)
    F.push(v)


@func
def reach(F, level, parent, v, above, depth):
    """In kernels, as a statement: an edge leads from the vertex `above` to v, at this depth. Push v if it is the first.

    level: -1 where no edge has led. parent, unless None: the smallest vertex above, of those a level up.
    """
    seen = level[v]  # most are seen already: a load is cheaper than an atomic
    if seen == -1:
        seen = atomic_cas(level, v, -1, depth)
        if seen == -1:  # only one edge is the first
            F.push(v)
    if parent is not None and (seen == -1 or seen == depth) and above < parent[v]:
        atomic_min(parent, v, above)


def copies(G: Csr, count: int) -> Any:
    """Return a graph of `count` copies of G: vertex v of copy c is c * n + v. `column` gives a vertex of G itself."""
    return G if count == 1 else Copies(G, count)


def in_parts(count: int, G: Csr, bytes_each: int, max_workspace: int | None) -> Iterator[slice]:
    """Divide `count` searches through G into parts that run at once.

    bytes_each: the workspace of one search. Raises InputError if `max_workspace` is less.
    """
    most = MOST_WORKSPACE if max_workspace is None else limit_of(max_workspace)
    if max_workspace is not None and bytes_each > most:
        expected = f"at least {bytes_each:,} bytes, which one search takes"
        raise InputError("max_workspace", expected=expected, given=f"{most:,}")
    fitting = min(most // max(bytes_each, 1), MOST // max(G.num_tiles, len(G.indices), 1))
    step = max(1, fitting)
    return (slice(i, min(i + step, count)) for i in range(0, count, step))
