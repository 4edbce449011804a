"""COO: coordinates. A tile is a nonzero, and so is its one atom.

Use it while a matrix is being assembled, or if it has far fewer nonzeros than rows.
Source: the layout of scipy.sparse.coo_array.
"""

from __future__ import annotations

from typing import Any

from evenly.layouts.arguments import inferred, same_length, take_apart
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, LayoutInstance, layout
from evenly.layouts.conversions import Convertible
from evenly.layouts.entries import check_range
from evenly.layouts.moving import bounds


@layout
class Coo(Convertible, LayoutInstance):
    """A sparse matrix as a list of (row, column, value), in any order. Duplicates are allowed."""

    rows: Array[Index]  # (num_atoms,)
    columns: Array[Index]  # (num_atoms,)
    values: Array  # (num_atoms,)
    num_rows: int
    num_columns: int

    format = "coo"
    id_bounds = {"row": "num_rows", "column": "num_columns"}

    @property
    def num_tiles(self):
        return len(self.rows)

    @property
    def num_atoms(self):
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, int]:
        return self.num_rows, self.num_columns

    def begin(self, tile):
        return tile

    def end(self, tile):
        return tile + 1

    def tile_of(self, atom):
        return atom

    def row(self, k):
        return self.rows[k]

    def column(self, k):
        return self.columns[k]

    def value(self, k):
        return self.values[k]

    def validate(self, name: str = "A") -> None:
        """Check every row and column index. Raises InputError for the first that is wrong."""
        check_range(self.rows, self.num_rows, f"{name}.rows", "row indices")
        check_range(self.columns, self.num_columns, f"{name}.columns", "column indices")

    def slice(self, tiles: Any) -> Coo:
        """Return the consecutive nonzeros `tiles` (a slice or a range), as a matrix of the same shape."""
        start, stop = bounds(tiles, self.num_tiles)
        rows, columns = self.rows[start:stop], self.columns[start:stop]
        return Coo(rows, columns, self.values[start:stop], self.num_rows, self.num_columns)


def coo(
    matrix: Any,
    *,
    shape: Any = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Coo:
    """Make a :class:`Coo` of a sparse matrix, or of the raw arrays (values, rows, columns), each (nonzeros,).

    matrix, shape, check, validate: as for `ev.csr`. Its own library converts a matrix that is not COO.

    Raises InputError for malformed arrays.
    """
    if isinstance(matrix, Coo):
        return finished(matrix, name, False, validate)
    found = take_apart(matrix, "coo", shape, name)
    made = found.arrays
    same_length(made, "rows", "columns", name)
    same_length(made, "rows", "values", name)
    if found.shape is None:
        size = (inferred(made["rows"], name), inferred(made["columns"], name))
    else:
        size = found.shape
    layout = Coo(made["rows"], made["columns"], made["values"], *size)
    return finished(layout, name, check, validate)
