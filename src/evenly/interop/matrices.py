"""Dense matrices as kernels take them: in C order, or as the transpose of one that is."""

from __future__ import annotations

from typing import Any, NamedTuple

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.vectors import contiguous


class Dense(NamedTuple):
    """A matrix of any strides as a kernel takes it.

    array: in C order. turned: None if it is the matrix; 1 if it is its transpose, whose memory the matrix shares.
    copied: whether it is a copy, since the matrix has other strides.
    """

    array: Any
    turned: int | None
    copied: bool


def dense(x: Any, name: str) -> Dense:
    """Return a matrix in C or Fortran order as it lies in memory, and one of other strides as a copy in C order.

    Raises InputError unless `x` is an array of two axes.
    """
    found = arrays.view(x, name)
    if len(found.shape) != 2:
        column = "x.reshape(-1, 1) makes a vector a matrix of one column"
        hint = column if len(found.shape) == 1 else ""
        given = f"shape {tuple(found.shape)}"
        raise InputError(name, expected="an array of two axes", given=given, hint=hint)
    if found.contiguous:
        return Dense(x, None, False)
    turned = x.T
    if arrays.view(turned, name).contiguous:
        return Dense(turned, 1, False)
    return Dense(contiguous(x, name), None, True)
