"""Remember which CSR matrices have been checked, so that calls check the entries of each only once.

A call does not notice later changes in place. A plan and `ev.csr` always check.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

from evenly.interop import sparse
from evenly.layouts.csr import Csr, csr

_seen: dict[
    Any, tuple[weakref.ref[Any], ...]
] = {}  # key: the addresses of living arrays, and a shape


def as_csr(matrix: Any, name: str, anew: bool = False) -> Csr:
    """Return a CSR matrix as a layout. Its entries are checked unless they have been. anew: check them in any case."""
    objects, key = _structure(matrix)
    known = () if anew else _seen.get(key, ())
    if known and all(known_one() is one for known_one, one in zip(known, objects, strict=True)):
        return csr(matrix, check=False, name=name)
    made = csr(matrix, name=name)
    _remember(objects, key)
    return made


def _structure(matrix: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the objects that hold the structure of a matrix, and the key to look them up."""
    bare = sparse.is_compressed(matrix)
    objects = (matrix.indptr, matrix.indices) if bare else (matrix,)
    return objects, (*map(id, objects), *matrix.shape)


def _remember(objects: tuple[Any, ...], key: Any) -> None:
    with contextlib.suppress(TypeError):  # without weak references it is checked at each call
        _seen[key] = tuple(weakref.ref(one, lambda _: _seen.pop(key, None)) for one in objects)
