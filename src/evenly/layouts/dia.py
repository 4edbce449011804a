"""DIA: a matrix of few diagonals. A tile is a row, an atom is a cell of a diagonal.

Use it for banded matrices and stencils: kernels read no column indices. Cells outside of
the matrix are masked. Zeros that are stored within it are atoms, too. Source: the layout
of scipy.sparse.dia_array; Bell and Garland (SC 2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import sparse
from evenly.interop.narrow import narrowed, widened
from evenly.interop.transfer import to_numpy, to_where
from evenly.language.types import BFLOAT16, from_dtype
from evenly.layouts.arguments import (
    affordable,
    host_csr,
    take_apart,
)
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, LayoutInstance, layout
from evenly.layouts.moving import bounds, move


@layout
class Dia(LayoutInstance):
    """A sparse matrix of `num_rows` rows. Each row has one atom for each of the D diagonals.

    Diagonal d has the cells with column - row == diagonals[d]. Its cell in column j is
    values[d * pitch + j], as in SciPy. Position t * D + d is the cell of row t on diagonal d.
    """

    diagonals: Array[Index]  # (D,)
    values: Array  # (D * pitch,)
    num_rows: int
    num_columns: int
    pitch: int  # cells stored for each diagonal

    id_bounds = {"column": "num_columns"}

    @property
    def num_tiles(self):
        return self.num_rows

    @property
    def num_atoms(self):
        return self.num_rows * len(self.diagonals)

    def begin(self, tile):
        return tile * len(self.diagonals)

    def end(self, tile):
        return tile * len(self.diagonals) + len(self.diagonals)

    def tile_of(self, atom):
        return atom // len(self.diagonals)

    @property
    def reach(self):
        return self.pitch if self.pitch < self.num_columns else self.num_columns

    def valid(self, tile, position):
        return 0 <= self.column(tile, position) < self.reach

    def row(self, tile, k):
        return tile

    def column(self, tile, k):
        return tile + self.diagonals[k - tile * len(self.diagonals)]

    def value(self, tile, k):
        return self.values[
            (k - tile * len(self.diagonals)) * self.pitch
            + tile
            + self.diagonals[k - tile * len(self.diagonals)]
        ]

    def slice(self, tiles: Any) -> Dia:
        """Return the consecutive rows `tiles` (a slice or a range) as a matrix."""
        start, stop = bounds(tiles, self.num_tiles)
        # Row `start` becomes row 0, so the diagonals' numbers change; the cells stay.
        return Dia(self.diagonals + start, self.values, stop - start, self.num_columns, self.pitch)


def dia(
    matrix: Any,
    *,
    shape: Any = None,
    max_bytes: int | None = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Dia:
    """Make a :class:`Dia` of a sparse matrix, or of the raw arrays (values, diagonals).

    matrix: scipy.sparse.dia_array or CuPy's dia (not copied); another sparse matrix, whose
      duplicates are summed; or a tuple of values (D, pitch) and diagonals (D,).
    shape: (rows, columns). Raw arrays need it.
    max_bytes: the most memory for diagonals to build. Default: 1 GiB, or four times the size of
      the matrix as CSR if that is more.
    check: move diagonals that lie outside of the matrix, and so have no cells, to its edge.
    validate: as for `ev.csr`.

    Raises InputError for malformed arrays, and if the diagonals take more than `max_bytes`.
    """
    if isinstance(matrix, Dia):
        return finished(matrix, name, False, validate)
    if sparse.is_sparse(matrix) and getattr(matrix, "format", None) != "dia":
        return finished(_converted(matrix, shape, max_bytes, name), name, False, validate)
    found = take_apart(matrix, "dia", shape, name)
    if found.shape is None:
        raise InputError(f"{name}.shape", expected="shape=(rows, columns)", given="none")
    values, diagonals = found.arrays["values"], found.arrays["diagonals"]
    if len(diagonals) != values.shape[0]:
        raise InputError(
            f"{name}.diagonals",
            expected=f"{values.shape[0]} entries, one for each row of {name}.values",
            given=str(len(diagonals)),
        )
    pitch = int(values.shape[1])
    if check:
        diagonals = _within(diagonals, found.shape)
    made = Dia(diagonals, values.reshape(-1), *found.shape, pitch)
    return finished(made, name, False, validate)


def _within(diagonals: Any, shape: tuple[int, int]) -> Any:
    """Move diagonals outside of the matrix to just outside. Sums with those farther away could overflow."""
    given = to_numpy(diagonals)
    whole = np.iinfo(given.dtype)
    clipped = np.clip(given, max(-shape[0], whole.min), min(shape[1], whole.max))
    return diagonals if np.array_equal(given, clipped) else to_where(diagonals, clipped)


def _converted(matrix: Any, shape: Any, max_bytes: int | None, name: str) -> Dia:
    source, device = host_csr(matrix, shape, name)
    rows, columns = source.shape
    row = np.repeat(np.arange(rows, dtype=np.int64), np.diff(source.indptr))
    diagonals, which = np.unique(source.indices - row, return_inverse=True)
    count = f"{len(diagonals):,} diagonals of {columns:,} cells"
    cells = len(diagonals) * columns
    affordable(cells * source.data.itemsize, source, max_bytes, name, "DIA", count)
    short = from_dtype(source.data.dtype) is BFLOAT16  # NumPy cannot add bfloat16
    given = widened(source.data) if short else source.data
    values = np.zeros(cells, given.dtype)
    np.add.at(values, which.reshape(-1) * columns + source.indices, given)
    values = narrowed(values) if short else values
    made = Dia(diagonals.astype(source.indices.dtype), values, rows, columns, columns)
    return move(made, device)
