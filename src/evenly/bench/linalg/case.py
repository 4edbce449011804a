"""One matrix, and dense operands of a width, where they are worked on."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

import evenly as ev
from evenly.bench.matrices import Source, in_type
from evenly.bench.place import Bench
from evenly.errors import InputError


class Case:
    """matrix: (m, n) csr_array, in CPU memory. A, arrays: the layout over offsets, columns and values at the place.

    width: the columns of dense operands. Raises InputError for a matrix without nonzeros.
    """

    def __init__(self, place: Bench, source: Source, matrix: Any, width: int) -> None:
        self.place, self.source, self.matrix, self.width = place, source, matrix, width
        self.on_cpu, self.shape = place.target == "cpu", matrix.shape
        put: Any = np.asarray if self.on_cpu else place.cupy.asarray  # type: ignore[attr-defined]
        self._put = put
        self.arrays = tuple(map(put, (matrix.indptr, matrix.indices, matrix.data)))
        offsets, columns, values = self.arrays
        self.A = ev.csr((values, columns, offsets), shape=matrix.shape)
        self.nnz, self.itemsize = int(matrix.nnz), int(matrix.dtype.itemsize)
        self._dense: dict[tuple[int, int], Any] = {}

    def dense(self, rows: int, seed: int) -> Any:
        """Return a matrix of this many rows at the place, (rows, width), of numbers from 0 to 1."""
        key = rows, seed
        if key not in self._dense:
            numbers = np.random.default_rng(seed).random((rows, self.width), self.matrix.dtype.type)
            self._dense[key] = self._put(numbers)
        return self._dense[key]

    def vector(self) -> Any:
        """Return a new vector of a number for each nonzero, at the place."""
        return self._put(np.zeros(self.nnz, self.matrix.dtype))

    @cached_property
    def row_of(self) -> Any:
        """The row of each nonzero, in CPU memory."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.matrix.indptr))

    @cached_property
    def other_matrix(self) -> Any:
        """What the matrix is multiplied by: itself, or its transpose if it is not square."""
        rows, columns = self.shape
        return self.matrix if rows == columns else self.matrix.T.tocsr()

    @cached_property
    def other(self) -> Any:
        if self.other_matrix is self.matrix:
            return self.A
        return ev.csr(self.other_matrix).to("cpu" if self.on_cpu else "cuda")

    @property
    def structure(self) -> int:
        """The bytes of offsets and columns."""
        return int(self.matrix.indptr.nbytes + self.matrix.indices.nbytes)

    @property
    def rows_of_both(self) -> int:
        """The bytes of two dense matrices: of A's rows, and of A's columns."""
        rows, columns = self.shape
        return int((rows + columns) * self.width * self.itemsize)


def matrix_of(source: Source, dtype: str) -> Any:
    """Read or generate the matrix of a source. Raises InputError if it cannot be read, is empty or complex."""
    made = source.make()
    if made.dtype.kind == "c":
        raise InputError(
            source.name,
            expected=f"real values, for {dtype}",
            given="complex ones",
            hint="evenly spmm FILE --dtype complex64 measures one",
        )
    matrix = in_type(made, dtype)
    if not matrix.nnz:
        raise InputError(source.name, expected="a matrix with nonzeros", given="none")
    return matrix
