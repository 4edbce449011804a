"""CSR: compressed sparse rows. A tile is a row, an atom is a nonzero.

Use it for any matrix; it is the default. Source: Tinney and Walker (1967); the layout
of scipy.sparse.csr_array, cuSPARSE and torch.sparse_csr.
"""

from __future__ import annotations

from typing import Any

from evenly.layouts.arguments import compressed, inferred, take_apart
from evenly.layouts.checker import finished
from evenly.layouts.compressed import Compressed
from evenly.layouts.contract import Array, Index, layout
from evenly.layouts.conversions import Convertible, ThroughCsr
from evenly.layouts.entries import check_compressed
from evenly.layouts.moving import bounds


@layout
class Csr(Convertible, Compressed):
    """A sparse matrix of `num_tiles` rows. Row t has the atoms offsets[t] .. offsets[t+1]-1.

    The columns of a row may be unsorted and may repeat.
    """

    offsets: Array[Index]  # (num_tiles + 1,), non-decreasing, offsets[0] == 0
    indices: Array[Index]  # (num_atoms,), the column of each nonzero
    values: Array  # (num_atoms,)
    num_columns: int

    format = "csr"
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
        """Check every offset and every column index. Raises InputError for the first that is wrong."""
        check_compressed(self, self.num_columns, name, "column indices")

    def slice(self, tiles: Any) -> Csr:
        """Return the consecutive rows `tiles` (a slice or a range) as a matrix."""
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
    """Make a :class:`Csr` of a sparse matrix, or of the raw arrays (values, indices, offsets).

    matrix: a sparse matrix of SciPy, CuPy or PyTorch, or a tuple of arrays on one device, in
      SciPy's order: values (nonzeros,), indices (nonzeros,), offsets (rows + 1,). Values may have
      any dtype of the language (docs/language.md); indices and offsets are int32 or int64. Its own
      library converts a matrix that is not CSR. Nothing else is copied.
    shape: (rows, columns) of raw arrays. Optional for arrays in CPU memory.
    check: check every offset and index, once, and report the first that is wrong. On a GPU, a
      small kernel checks them, and the call waits for it. False: do not check.
    validate: also check the whole contract of layouts. From a GPU, the arrays are copied for it.

    Raises InputError for malformed arrays.
    """
    if isinstance(matrix, ThroughCsr):
        matrix = matrix.tocsr()
    if isinstance(matrix, Csr):
        return finished(matrix, name, False, validate)
    found = take_apart(matrix, "csr", shape, name)
    made = compressed(found, name, axis=0)
    columns = inferred(made["indices"], name) if found.shape is None else found.shape[1]
    layout = Csr(made["offsets"], made["indices"], made["values"], columns)
    return finished(layout, name, check, validate)
