"""Sliced ELL: slices of C rows, each padded to its longest row. A tile is a row, an atom is a slot of it.

Use it where each thread has a row and lengths of rows differ: a slice is stored column by column, so
that loads coalesce, and a long row pads only its own slice. With sigma > 1 (SELL-C-sigma), rows are
sorted by length within windows of sigma rows, so that rows of a slice are about equally long. Slots
with column -1 are padding and masked.

Source: Monakov, Lokhmotov, Avetisyan, "Automatically Tuning Sparse Matrix-Vector Multiplication for
GPU Architectures" (HiPEAC 2010); Kreutzer, Hager, Wellein, Fehske, Bishop, "A Unified Sparse Matrix
Data Format for Efficient General Sparse Matrix-Vector Multiplication on Modern Processors with Wide
SIMD Units" (SIAM J. Sci. Comput. 2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import sparse
from evenly.interop.transfer import to_numpy
from evenly.interop.vectors import entry
from evenly.layouts.arguments import (
    affordable,
    dimensions,
    host_csr,
    inferred,
    refused,
    same_device,
    size_of,
)
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, Static, is_layout, layout
from evenly.layouts.defaults import cut
from evenly.layouts.entries import check_distinct, check_offsets, check_range
from evenly.layouts.fields import as_field
from evenly.layouts.moving import bounds, move
from evenly.layouts.padded import Padded
from evenly.layouts.slices import Slices


@layout
class Sell(Padded):
    """A sparse matrix of `num_rows` rows in slices of C rows.

    Slice s has the slots offsets[s] .. offsets[s+1]-1, the same number for each of its C rows. Slot j of
    its row i is at offsets[s] + j * C + i. The last slice is stored whole, with rows that the matrix
    lacks. Atoms are numbered row by row.
    """

    offsets: Array[Index]  # (slices + 1,), the first slot of each slice, multiples of C
    indices: Array[Index]  # (slots,), the column of each slot; -1: padding
    values: Array  # (slots,)
    slice_height: Static  # C
    num_rows: int  # at most C * slices
    num_columns: int
    num_atoms: int  # the slots of the first num_rows rows
    num_slots: int  # all; where they exceed 32 bits, kernels count with 64

    id_bounds = {"column": "num_columns"}
    tile_of_cost = "search"

    @property
    def num_tiles(self):
        return self.num_rows

    def _width(self, part):
        return (self.offsets[part + 1] - self.offsets[part]) // self.slice_height

    def begin(self, tile):
        return self.offsets[tile // self.slice_height] + tile % self.slice_height * self._width(
            tile // self.slice_height
        )

    def end(self, tile):
        return self.begin(tile) + self._width(tile // self.slice_height)

    def tile_of(self, atom):
        low = 0
        high = len(self.offsets) - 1
        while low < high:
            middle = (low + high) // 2
            if self.offsets[middle + 1] <= atom:
                low = middle + 1
            else:
                high = middle
        return low * self.slice_height + (atom - self.offsets[low]) // self._width(low)

    def _slot(self, tile, position):
        return (
            self.offsets[tile // self.slice_height]
            + (position - self.begin(tile)) * self.slice_height
            + tile % self.slice_height
        )

    def valid(self, tile, position):
        return self.indices[self._slot(tile, position)] >= 0

    def row(self, tile, k):
        return tile

    def column(self, tile, k):
        return self.indices[self._slot(tile, k)]

    def value(self, tile, k):
        return self.values[self._slot(tile, k)]

    def validate(self, name: str = "A") -> None:
        """Check every offset and every column. Raises InputError for the first that is wrong."""
        check_offsets(self.offsets, f"{name}.offsets", len(self.indices))
        offsets, height = to_numpy(self.offsets), int(self.slice_height)
        for at in np.flatnonzero(offsets % height)[:1]:
            expected = f"multiples of {height}, the rows of a slice"
            raise InputError(
                f"{name}.offsets", expected=expected, given=f"offsets[{at}]={offsets[at]}"
            )
        check_range(self.indices, self.num_columns, f"{name}.indices", "column indices", -1)

    def slice(self, tiles: Any) -> Sell:
        """Return the consecutive rows `tiles` as a matrix. The first must be a multiple of C."""
        start, stop = bounds(tiles, self.num_tiles)
        height = int(self.slice_height)
        if start % height:
            expected = f"a start that is a multiple of {height}, the rows of a slice"
            raise InputError("tiles", expected=expected, given=str(start))
        first, last = start // height, -(-stop // height)
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        offsets = self.offsets[first : last + 1] - self.offsets[first]
        parts = offsets, self.indices[begin:end], self.values[begin:end]
        return _made(parts, height, (stop - start, int(self.num_columns)))


@layout
class SortedSell(Sell):
    """A :class:`Sell` of sorted rows: tile t is row rows[t] of the matrix, and an atom's id is its slot.

    Kernels see the rows by their own numbers.
    """

    rows: Array[Index]  # (num_rows,), a permutation

    id_bounds = {"column": "num_columns", "tile_id": "num_rows", "atom_id": "num_slots"}

    def tile_id(self, tile):
        return self.rows[tile]

    def atom_id(self, tile, position):
        return self._slot(tile, position)

    def column(self, k):  # type: ignore[override]  # kernels call column(k) of both
        return self.indices[k]

    def value(self, k):  # type: ignore[override]
        return self.values[k]

    def validate(self, name: str = "A") -> None:
        """Check every offset, column and row. Raises InputError for the first that is wrong."""
        super().validate(name)
        check_range(self.rows, self.num_rows, f"{name}.rows", "rows")
        check_distinct(to_numpy(self.rows), f"{name}.rows", "rows")

    def slice(self, tiles: Any) -> Any:
        """Return the consecutive tiles `tiles`, in the sorted order, as a subset."""
        return cut(self, tiles)


def sell(
    matrix: Any,
    *,
    slice_height: int | None = None,
    sigma: int | None = None,
    shape: Any = None,
    max_bytes: int | None = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Sell:
    """Make a :class:`Sell` of a sparse matrix, or of the raw arrays (values, indices, offsets).

    matrix: as for `ev.csr`; another layout that has `tocsr`; or a tuple, as cuSPARSE and PETSc have
      it, of values (slots,), indices (slots,) with column -1 in unused slots, offsets (slices + 1,)
      and, if rows are sorted, rows (rows,): row rows[t] is at place t. Raw arrays are not copied.
    slice_height: the rows of a slice. Default: 32, as many as a warp has threads, or that of the
      `Sell` given.
    sigma: sort rows by length, longest first, within windows of so many rows, if it is more than 1.
      Kernels see every row by its own number. Default: 1, or the order of the `Sell` given.
    shape: (rows, columns) of raw arrays. Optional for arrays in CPU memory, if the last slice is full.
    max_bytes: the most memory for arrays to build. Default: 1 GiB, or four times the size of
      the matrix as CSR if that is more.
    check, validate: as for `ev.csr`.

    Raises InputError for malformed arrays, and if the arrays take more than `max_bytes`.
    """
    height = size_of(32 if slice_height is None else slice_height, "slice_height")
    window = size_of(1 if sigma is None else sigma, "sigma")
    if isinstance(matrix, Sell) and sigma is None and slice_height in (None, matrix.slice_height):
        return finished(matrix, name, False, validate)
    if sparse.is_sparse(matrix) or is_layout(matrix):
        made = _converted(matrix, shape, height, window, max_bytes, name)
        return finished(made, name, False, validate)
    if sigma is not None:
        expected = "none: raw arrays have the order of their rows, as their fourth"
        raise InputError("sigma", expected=expected, given=repr(sigma))
    return finished(_from_raw(matrix, shape, height, name), name, check, validate)


def _converted(
    matrix: Any, shape: Any, height: int, sigma: int, max_bytes: int | None, name: str
) -> Sell:
    source, device = host_csr(matrix, shape, name)
    found = Slices.of(np.diff(source.indptr), height, sigma)
    each = source.indices.itemsize + source.data.itemsize
    why = f"{found.slots:,} slots in slices of {height:,} rows"
    affordable(found.slots * each, source, max_bytes, name, "sliced ELL", why)
    at = found.places(source)
    indices = np.full(found.slots, -1, source.indices.dtype)
    values = np.zeros(found.slots, source.data.dtype)
    indices[at], values[at] = source.indices, source.data
    kind = np.int32 if max(found.slots, len(found.rows)) <= np.iinfo(np.int32).max else np.int64
    rows = found.rows.astype(kind) if sigma > 1 else None
    return move(
        _made((found.offsets.astype(kind), indices, values), height, source.shape, rows), device
    )


def _made(
    parts: tuple[Any, Any, Any], height: int, shape: tuple[int, int], rows: Any = None
) -> Sell:
    """Make the layout. Rows that the matrix lacks have the last positions, so they are no atoms."""
    atoms, slices = len(parts[1]), len(parts[0]) - 1
    missing = slices * height - shape[0]
    if missing:
        atoms -= missing * ((atoms - entry(parts[0], slices - 1)) // height)
    made = Sell(*parts, height, *shape, atoms, len(parts[1]))
    return made if rows is None else SortedSell(*parts, height, *shape, atoms, len(parts[1]), rows)


def _from_raw(given: Any, shape: Any, height: int, name: str) -> Sell:
    if not (isinstance(given, tuple) and len(given) in (3, 4)):
        raise refused(given, "csr", name)
    parts = {}
    for part, array in zip(("values", "indices", "offsets", "rows"), given, strict=False):
        parts[part] = as_field(array, f"{name}.{part}", index=part != "values")
        if len(parts[part].shape) != 1:
            found = f"shape {tuple(parts[part].shape)}"
            raise InputError(f"{name}.{part}", expected="an array of 1 axis", given=found)
    same_device(parts, name)
    rows = parts.get("rows")
    _same_length(f"{name}.indices", parts["indices"], len(parts["values"]), f"{name}.values has")
    slices = len(parts["offsets"]) - 1
    if slices < 0:
        raise InputError(f"{name}.offsets", expected="at least one offset", given="none")
    if shape is None:
        count = slices * height if rows is None else len(rows)
        size = (count, inferred(parts["indices"], name))
    else:
        size = dimensions(shape, name)
    if rows is not None:
        _same_length(f"{name}.rows", rows, size[0], "rows of the shape")
    if -(-size[0] // height) != slices:
        expected = f"{-(-size[0] // height) + 1} offsets for {size[0]} rows in slices of {height}"
        raise InputError(f"{name}.offsets", expected=expected, given=str(slices + 1))
    return _made((parts["offsets"], parts["indices"], parts["values"]), height, size, rows)


def _same_length(name: str, array: Any, count: int, what: str) -> None:
    if len(array) != count:
        expected = f"{count} entries, as many as {what}"
        raise InputError(name, expected=expected, given=str(len(array)))
