"""CSR: compressed sparse rows. A tile is a row, an atom is a nonzero.

When: the default; any matrix. Source: Tinney and Walker (1967); the layout of
scipy.sparse.csr_array, cuSPARSE and torch.sparse_csr.
"""

from __future__ import annotations

from typing import Any

from evenly.layouts.arguments import compressed, inferred, take_apart
from evenly.layouts.checker import finished
from evenly.layouts.compressed import Compressed
from evenly.layouts.contract import Array, Index, layout
from evenly.layouts.entries import check_offsets, check_range
from evenly.layouts.moving import bounds


@layout
class Csr(Compressed):
    """A sparse matrix of `num_tiles` rows; row t holds atoms offsets[t] .. offsets[t+1]-1.

    Unsorted and duplicate columns within a row are legal.
    """

    offsets: Array[Index]  # (num_tiles + 1,), non-decreasing, offsets[0] == 0
    indices: Array[Index]  # (num_atoms,), the column of each nonzero
    values: Array  # (num_atoms,)
    num_columns: int

    id_bounds = {"column": "num_columns"}

    @property
    def num_atoms(self):
        return len(self.indices)

    def row(self, tile, k):
        return tile

    def column(self, k):
        return self.indices[k]

    def value(self, k):
        return self.values[k]

    def validate(self, name: str = "A") -> None:
        """The offsets are sound and every column lies in the matrix, entry by entry."""
        check_offsets(self.offsets, f"{name}.offsets", len(self.indices))
        check_range(self.indices, self.num_columns, f"{name}.indices", "column indices")

    def slice(self, tiles: Any) -> Csr:
        """The consecutive rows `tiles` (a slice or a range) as a matrix of their own."""
        start, stop = bounds(tiles, self.num_tiles)
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        return Csr(
            self.offsets[start : stop + 1] - self.offsets[start],
            self.indices[first:last],
            self.values[first:last],
            self.num_columns,
        )


def csr(
    matrix: Any,
    *,
    shape: Any = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Csr:
    """A :class:`Csr` of a sparse matrix, or of the raw arrays (values, indices, offsets).

    matrix: scipy.sparse, cupyx.scipy.sparse or a torch.sparse tensor (what is not
      CSR is converted by its own library), or a tuple in SciPy's order of three
      arrays of one axis on one device; values of any type of the language (see
      docs/language.md); indices and offsets int32 or int64 in any mix. Nothing is copied.
    shape: (rows, columns) of raw arrays; in CPU memory it may be left out.
    check: look at every offset and index, once, and name the first that is wrong (on a GPU
      by a small kernel, which is waited for). False: they are taken at their word.
    validate: check the whole contract of layouts, too (from a GPU by a copy).

    Raises InputError.
    """
    if isinstance(matrix, Csr):
        return finished(matrix, name, False, validate)
    found = take_apart(matrix, "csr", shape, name)
    made = compressed(found, name, axis=0)
    columns = inferred(made["indices"], name) if found.shape is None else found.shape[1]
    layout = Csr(made["offsets"], made["indices"], made["values"], columns)
    return finished(layout, name, check, validate)
