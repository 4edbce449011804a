"""ELL (ELLPACK): rows padded to one width. A tile is a row, an atom is a slot of it.

Use it for rows of nearly equal length: kernels read no offsets. Slots with column -1 are
padding and masked. Source: Grimes, Kincaid, Young, "ITPACK 2.0" (1979);
Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on
Throughput-Oriented Processors" (SC 2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import sparse
from evenly.layouts.arguments import (
    affordable,
    dimensions,
    host_csr,
    inferred,
    refused,
    same_device,
)
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, LayoutInstance, layout
from evenly.layouts.entries import check_range
from evenly.layouts.fields import as_field
from evenly.layouts.moving import bounds, move


@layout
class Ell(LayoutInstance):
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


def ell(
    matrix: Any,
    *,
    shape: Any = None,
    max_bytes: int | None = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Ell:
    """Make an :class:`Ell` of a sparse matrix, or of the raw arrays (values, indices).

    matrix: as for `ev.csr`, padded to its longest row; or a tuple of values and indices, both
      (rows, width) in C order, with column -1 in unused slots (not copied).
    shape: (rows, columns) of raw arrays. Optional for arrays in CPU memory.
    max_bytes: the most memory for arrays to build. Default: 1 GiB, or four times the size of
      the matrix as CSR if that is more.
    check, validate: as for `ev.csr`.

    Raises InputError for malformed arrays, and if the arrays take more than `max_bytes`.
    """
    if isinstance(matrix, Ell):
        return finished(matrix, name, False, validate)
    if not sparse.is_sparse(matrix):
        return finished(_from_raw(matrix, shape, name), name, check, validate)
    source, device = host_csr(matrix, shape, name)
    rows, columns = source.shape
    lengths = np.diff(source.indptr)
    width = int(lengths.max(initial=0))
    each = source.indices.itemsize + source.data.itemsize
    longest = f"{rows:,} rows of the longest row's {width:,} slots"
    affordable(rows * width * each, source, max_bytes, name, "ELL", longest)
    indices = np.full(rows * width, -1, source.indices.dtype)
    values = np.zeros(rows * width, source.data.dtype)
    # the slot of each nonzero: its position plus the padding of the rows before it
    starts = np.arange(rows, dtype=np.int64) * width - source.indptr[:-1]
    slots = np.repeat(starts, lengths) + np.arange(source.nnz)
    indices[slots] = source.indices
    values[slots] = source.data
    made = Ell(indices, values, rows, columns, width)
    return finished(move(made, device), name, False, validate)


def _from_raw(given: Any, shape: Any, name: str) -> Ell:
    if not (isinstance(given, tuple) and len(given) == 2):
        raise refused(given, "ell", name)
    values = as_field(given[0], f"{name}.values", index=False)
    indices = as_field(given[1], f"{name}.indices", index=True)
    same_device({"values": values, "indices": indices}, name)
    for part, array in (("values", values), ("indices", indices)):
        if len(array.shape) != 2 or tuple(array.shape) != tuple(values.shape):
            expected = "an array (rows, width), of one shape with the other"
            found = f"shape {tuple(array.shape)}"
            raise InputError(f"{name}.{part}", expected=expected, given=found)
    rows, width = (int(n) for n in values.shape)
    indices, values = indices.reshape(-1), values.reshape(-1)
    if shape is None:
        return Ell(indices, values, rows, inferred(indices, name), width)
    size = dimensions(shape, name)
    if size[0] != rows:
        raise InputError(f"{name}.shape", expected=f"{rows} rows", given=f"shape={size}")
    return Ell(indices, values, rows, size[1], width)
