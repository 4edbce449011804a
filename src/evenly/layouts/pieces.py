"""The items of a batch before they are glued: the arrays of each as CSR, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays, sparse
from evenly.layouts.contract import is_layout
from evenly.layouts.conversions import Convertible
from evenly.layouts.csr import Csr, csr
from evenly.layouts.fields import INDEX_TYPES


class Piece(NamedTuple):
    """The arrays of one CSR matrix."""

    values: Any
    indices: Any
    offsets: Any
    rows: int
    columns: int


def piece(matrix: Any, i: int, name: str) -> Piece:
    """Return the arrays of an item. What is wrong with it in O(1) is refused here."""
    if sparse.is_compressed(matrix):
        values, indices, offsets = matrix.data, matrix.indices, matrix.indptr
        rows, columns = matrix.shape
        if (
            type(values) is type(indices) is type(offsets)
            and indices.dtype in INDEX_TYPES
            and (offsets.dtype is indices.dtype or offsets.dtype in INDEX_TYPES)
            and offsets.shape == (rows + 1,)
            and _counts(offsets, indices, values)
        ):
            return Piece(values, indices, offsets, rows, columns)
    elif not (is_layout(matrix) or sparse.is_sparse(matrix)):
        expected = "a sparse matrix of SciPy, CuPy or PyTorch, or a CSR, CSC or COO layout"
        hint = "ev.csr(arrays, shape=...) makes a layout of raw arrays"
        hint = hint if isinstance(matrix, tuple) else arrays.not_an_array(matrix, name).hint
        given = type(matrix).__name__
        raise InputError(f"{name}[{i}]", expected=expected, given=given, hint=hint)
    made = layout_of(matrix, f"{name}[{i}]")
    if type(made.offsets) is np.ndarray and not _ends(made):
        made.validate(f"{name}[{i}]")
    if len(made.values) != len(made.indices):
        expected, given = f"{len(made.indices)} values, one a nonzero", str(len(made.values))
        raise InputError(f"{name}[{i}].values", expected=expected, given=given)
    rows, columns = len(made.offsets) - 1, int(made.num_columns)
    return Piece(made.values, made.indices, made.offsets, rows, columns)


def _counts(offsets: Any, indices: Any, values: Any) -> bool:
    """Whether there are as many indices and values as the offsets say. On a GPU a kernel looks at offsets later."""
    if type(offsets) is np.ndarray:
        count: int = offsets.item(-1)
        return bool(offsets.item(0) == 0 and values.shape == indices.shape == (count,))
    return arrays.kind(offsets) == "cupy" and values.shape == indices.shape and values.ndim == 1


def layout_of(matrix: Any, name: str) -> Csr:
    """Return a matrix or a layout of one as CSR. Its entries are not looked at."""
    if not is_layout(matrix):
        return csr(matrix, check=False, name=name)
    if not isinstance(matrix, Convertible):
        expected, given = "a CSR, CSC or COO layout", type(matrix).__name__
        raise InputError(name, expected=expected, given=given, hint="batch the matrix itself")
    made: Csr = matrix.tocsr()
    return made


def _ends(made: Csr) -> bool:
    """Whether the first and last offset are right. (A layout may have been made with check=False.)"""
    offsets, count = made.offsets, len(made.indices)
    return bool(len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == count)


def blame(matrices: Sequence[Any], items: Iterable[int], name: str) -> NoReturn:
    """Raise the error of the first of these items that its own check refuses."""
    for i in items:
        layout_of(matrices[i], f"{name}[{i}]").validate(f"{name}[{i}]")
    raise InputError(name, expected="matrices that stay as they are while they are copied")
