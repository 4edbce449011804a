"""Elements of dense matrices, in kernels."""

from __future__ import annotations

from evenly.interop.matrices import Dense, dense
from evenly.language.func import func

__all__ = ["Dense", "dense", "element", "width"]


@func
def element(M, i, j, turned):
    """In kernels: element (i, j) of a dense matrix, of which `dense` returned the array M and `turned`."""
    if turned is None:
        return M[i, j]
    return M[j, i]


@func
def width(M, turned):
    """In kernels: how many columns such a matrix has."""
    if turned is None:
        return M.shape[1]
    return M.shape[0]
