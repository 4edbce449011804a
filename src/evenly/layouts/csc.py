"""CSC: compressed sparse columns. A tile is a column, an atom is a nonzero.

Use it for work on columns (column norms, a scatter into rows with atomics).
Source: the layout of scipy.sparse.csc_array; CSR of the transpose.
"""

from __future__ import annotations

from typing import Any

from evenly.layouts.arguments import compressed, inferred, take_apart
from evenly.layouts.checker import finished
from evenly.layouts.compressed import Compressed
from evenly.layouts.contract import Array, Index, layout
from evenly.layouts.conversions import Convertible
from evenly.layouts.entries import check_compressed
from evenly.layouts.moving import bounds


@layout
class Csc(Convertible, Compressed):
    """A sparse matrix of `num_tiles` columns. Column t has the atoms offsets[t] .. offsets[t+1]-1.

    The rows of a column may be unsorted and may repeat.
    """

    offsets: Array[Index]  # (num_tiles + 1,), non-decreasing, offsets[0] == 0
    indices: Array[Index]  # (num_atoms,), the row of each nonzero
    values: Array  # (num_atoms,)
    num_rows: int

    format = "csc"
    id_bounds = {"row": "num_rows"}

    @property
    def num_atoms(self):
        return len(self.indices)

    @property
    def shape(self) -> tuple[int, int]:
        return self.num_rows, self.num_tiles

    def row(self, k):
        return self.indices[k]

    def column(self, tile, k):
        return tile

    def value(self, k):
        return self.values[k]

    def validate(self, name: str = "A") -> None:
        """Check every offset and every row index. Raises InputError for the first that is wrong."""
        check_compressed(self, self.num_rows, name, "row indices")

    def slice(self, tiles: Any) -> Csc:
        """Return the consecutive columns `tiles` (a slice or a range) as a matrix."""
        start, stop = bounds(tiles, self.num_tiles)
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        return Csc(
            self.offsets[start : stop + 1] - self.offsets[start],
            self.indices[first:last],
            self.values[first:last],
            self.num_rows,
        )


def csc(
    matrix: Any,
    *,
    shape: Any = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Csc:
    """Make a :class:`Csc` of a sparse matrix, or of the raw arrays (values, indices, offsets).

    matrix, shape, check, validate: as for `ev.csr`. Its own library converts a matrix that is not CSC.

    Raises InputError for malformed arrays.
    """
    if isinstance(matrix, Csc):
        return finished(matrix, name, False, validate)
    found = take_apart(matrix, "csc", shape, name)
    made = compressed(found, name, axis=1)
    rows = inferred(made["indices"], name) if found.shape is None else found.shape[0]
    layout = Csc(made["offsets"], made["indices"], made["values"], rows)
    return finished(layout, name, check, validate)
