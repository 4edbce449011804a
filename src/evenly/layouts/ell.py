"""ELL (ELLPACK): rows padded to one width. A tile is a row, an atom is a slot of it.

Use it for rows of nearly equal length: kernels read no offsets. Slots with column -1 are
padding and masked. Source: Grimes, Kincaid, Young, "ITPACK 2.0" (1979);
Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on
Throughput-Oriented Processors" (SC 2009), who store slots column by column: threads that
have a row each then read adjacent slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays, sparse
from evenly.layouts.arguments import (
    affordable,
    dimensions,
    host_csr,
    inferred,
    refused,
    same_device,
)
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, is_layout, layout
from evenly.layouts.entries import check_range
from evenly.layouts.fields import as_field
from evenly.layouts.moving import bounds, device_of, move
from evenly.layouts.padded import Padded


@layout
class Ell(Padded):
    """A sparse matrix of `num_rows` rows, each with `width` slots.

    The arrays are row-major: slot j of row t is at t * width + j.
    """

    indices: Array[Index]  # (num_rows * width,), the column of each slot; -1: padding
    values: Array  # (num_rows * width,)
    num_rows: int
    num_columns: int
    width: int

    id_bounds = {"column": "num_columns"}

    @property
    def num_tiles(self):
        return self.num_rows

    @property
    def num_atoms(self):
        return self.num_rows * self.width

    def begin(self, tile):
        return tile * self.width

    def end(self, tile):
        return tile * self.width + self.width

    def tile_of(self, atom):
        return atom // self.width

    def valid(self, tile, position):
        return self.indices[position] >= 0

    def _slot(self, tile, position):
        return position

    def row(self, tile, k):
        return tile

    def column(self, k):
        return self.indices[k]

    def value(self, k):
        return self.values[k]

    def validate(self, name: str = "A") -> None:
        """Check that every column is in the matrix, or -1. Raises InputError for the first that is not."""
        check_range(self.indices, self.num_columns, f"{name}.indices", "column indices", -1)

    def slice(self, tiles: Any) -> Ell:
        """Return the consecutive rows `tiles` (a slice or a range) as a matrix."""
        start, stop = bounds(tiles, self.num_tiles)
        first, last = start * self.width, stop * self.width
        indices, values = self.indices[first:last], self.values[first:last]
        return Ell(indices, values, stop - start, self.num_columns, self.width)


@layout
class ColumnEll(Ell):
    """An :class:`Ell` whose arrays are column-major: slot j of row t is at j * pitch + t.

    Atoms are numbered row by row, as those of `Ell` are.
    """

    pitch: int  # rows stored for each column of slots
    num_slots: int  # width * pitch; where they exceed 32 bits, kernels count with 64

    def _slot(self, tile, position):
        return (position - tile * self.width) * self.pitch + tile

    def valid(self, tile, position):
        return self.indices[self._slot(tile, position)] >= 0

    def column(self, tile, k):  # type: ignore[override]  # kernels call column(k) of both
        return self.indices[self._slot(tile, k)]

    def value(self, tile, k):  # type: ignore[override]
        return self.values[self._slot(tile, k)]

    def slice(self, tiles: Any) -> ColumnEll:
        """Return the consecutive rows `tiles` (a slice or a range) as a matrix."""
        start, stop = bounds(tiles, self.num_tiles)
        parts = self.indices[start:], self.values[start:], stop - start, self.num_columns
        return ColumnEll(*parts, self.width, self.pitch, self.num_slots)


def ell(
    matrix: Any,
    *,
    order: str | None = None,
    shape: Any = None,
    max_bytes: int | None = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Ell:
    """Make an :class:`Ell` of a sparse matrix, or of the raw arrays (values, indices).

    matrix: as for `ev.csr`, padded to its longest row; another layout that has `tocsr`; or a
      tuple of values and indices, both (rows, width), with column -1 in unused slots (not copied).
    order: "C" stores slots row by row, "F" column by column (a :class:`ColumnEll`), so that loads
      coalesce if each thread has a row. Raw arrays are in this order, as NumPy has it. Default: "C",
      or that of the `Ell` given.
    shape: (rows, columns) of raw arrays. Optional for arrays in CPU memory.
    max_bytes: the most memory for arrays to build. Default: 1 GiB, or four times the size of
      the matrix as CSR if that is more.
    check, validate: as for `ev.csr`.

    Raises InputError for malformed arrays, and if the arrays take more than `max_bytes`.
    """
    if order not in ("C", "F", None):
        expected = "'C' (row by row) or 'F' (column by column)"
        raise InputError("order", expected=expected, given=repr(order))
    if isinstance(matrix, Ell):
        return finished(_reordered(matrix, order), name, False, validate)
    if not (sparse.is_sparse(matrix) or is_layout(matrix)):
        return finished(_from_raw(matrix, shape, order == "F", name), name, check, validate)
    source, device = host_csr(matrix, shape, name)
    rows, columns = source.shape
    lengths = np.diff(source.indptr)
    width = int(lengths.max(initial=0))
    each = source.indices.itemsize + source.data.itemsize
    longest = f"{rows:,} rows of the longest row's {width:,} slots"
    affordable(rows * width * each, source, max_bytes, name, "ELL", longest)
    indices = np.full(rows * width, -1, source.indices.dtype)
    values = np.zeros(rows * width, source.data.dtype)
    # the position of each nonzero, with the padding of the rows before it
    starts = np.arange(rows, dtype=np.int64) * width - source.indptr[:-1]
    positions = np.repeat(starts, lengths) + np.arange(source.nnz)
    made = _made((indices, values), rows, columns, width, order == "F")
    slots = made._slot(np.repeat(np.arange(rows), lengths), positions)
    indices[slots] = source.indices
    values[slots] = source.data
    return finished(move(made, device), name, False, validate)


def _made(parts: tuple[Any, Any], rows: int, columns: int, width: int, by_column: bool) -> Ell:
    if by_column:
        return ColumnEll(*parts, rows, columns, width, rows, rows * width)
    return Ell(*parts, rows, columns, width)


def _reordered(A: Ell, order: str | None) -> Ell:
    """Return `A` itself if it has this order, else a copy."""
    if order is None or (order == "F") is isinstance(A, ColumnEll):
        return A
    host = A.to("cpu")
    rows, width = int(A.num_rows), int(A.width)
    positions = np.arange(rows * width)
    slots = host._slot(positions // max(width, 1), positions)
    parts = [given[slots].reshape(rows, width) for given in (host.indices, host.values)]
    if order == "F":
        parts = [part.T for part in parts]
    flat = [np.ascontiguousarray(part).reshape(-1) for part in parts]
    return move(_made((flat[0], flat[1]), rows, A.num_columns, width, order == "F"), device_of(A))


def _from_raw(given: Any, shape: Any, by_column: bool, name: str) -> Ell:
    if not (isinstance(given, tuple) and len(given) == 2):
        raise refused(given, "ell", name)
    if by_column:
        given = tuple(
            _turned(array, f"{name}.{part}")
            for array, part in zip(given, ("values", "indices"), strict=True)
        )
    values = as_field(given[0], f"{name}.values", index=False)
    indices = as_field(given[1], f"{name}.indices", index=True)
    same_device({"values": values, "indices": indices}, name)
    for part, array in (("values", values), ("indices", indices)):
        if len(array.shape) != 2 or tuple(array.shape) != tuple(values.shape):
            expected = "an array (rows, width), of one shape with the other"
            found = tuple(array.shape)[:: -1 if by_column else 1]
            raise InputError(f"{name}.{part}", expected=expected, given=f"shape {found}")
    rows, width = (int(n) for n in tuple(values.shape)[:: -1 if by_column else 1])
    parts = indices.reshape(-1), values.reshape(-1)
    if shape is None:
        return _made(parts, rows, inferred(parts[0], name), width, by_column)
    size = dimensions(shape, name)
    if size[0] != rows:
        raise InputError(f"{name}.shape", expected=f"{rows} rows", given=f"shape={size}")
    return _made(parts, rows, size[1], width, by_column)


def _turned(array: Any, name: str) -> Any:
    """Return the transpose (width, rows) of an array in Fortran order, which is in C order."""
    if not arrays.is_array(array):
        return array  # `as_field` refuses it
    if not hasattr(array, "T"):
        expected = "an array of NumPy, CuPy or PyTorch, in Fortran order"
        raise InputError(name, expected=expected, given=type(array).__name__)
    if len(array.shape) == 2 and not arrays.view(array.T, name).contiguous:
        hint = "numpy.asfortranarray(...) copies it"
        raise InputError(
            name, expected="an array in Fortran order", given="another order", hint=hint
        )
    return array.T
