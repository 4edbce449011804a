"""batch: many sparse matrices as one layout. A tile is a row of any of them, an atom a nonzero.

Use it for many small problems: one launch runs over all of them, whatever their sizes and patterns.
Source: Anzt, Collins, Dongarra, Flegar, Quintana-Orti, "Flexible Batched Sparse Matrix-Vector Product on GPUs"
(ScalA 2017).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenly.errors import InputError
from evenly.interop import arrays, sparse
from evenly.interop.transfer import to_where
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, is_layout, layout
from evenly.layouts.csr import Csr
from evenly.layouts.entries import check_offsets
from evenly.layouts.gluing import glue, index_type
from evenly.layouts.items import Items, Starts, on_host, remember


@layout
class Batch(Items, Csr):
    """Sparse matrices one after another, as one block-diagonal CSR matrix.

    Item i has the tiles item_tiles[i] .. item_tiles[i+1]-1. Its columns are numbered through: they are
    item_columns[i] .. item_columns[i+1]-1.
    """

    item_tiles: Array[Index]  # (num_items + 1,), non-decreasing from 0 to num_tiles
    item_columns: Array[Index]  # (num_items + 1,), non-decreasing from 0 to num_columns

    @property
    def num_items(self):
        return len(self.item_tiles) - 1

    def item_begin(self, item):
        return self.item_tiles[item]

    def item_end(self, item):
        return self.item_tiles[item + 1]

    def columns_begin(self, item):
        return self.item_columns[item]

    def columns_end(self, item):
        return self.item_columns[item + 1]

    def columns(self, item):
        """The part of x that belongs to an item: a range."""
        return range(self.item_columns[item], self.item_columns[item + 1])

    def local_column(self, item, k):
        """The column of an atom of the item, within the item."""
        return self.indices[k] - self.item_columns[item]

    def validate(self, name: str = "A") -> None:
        """Check every offset and every column. Raises InputError for the first that is wrong."""
        Csr.validate(self, name)
        check_offsets(self.item_tiles, f"{name}.item_tiles", int(self.num_tiles))
        check_offsets(self.item_columns, f"{name}.item_columns", int(self.num_columns))

    def _starts(self) -> Starts:
        tiles, columns, offsets = on_host(self.item_tiles, self.item_columns, self.offsets)
        return Starts(tiles, offsets[tiles], columns)

    def _item(self, i: int) -> Csr:
        starts = self.starts
        rows, atoms, columns = (slice(int(one[i]), int(one[i + 1])) for one in starts)
        offsets = self.offsets[rows.start : rows.stop + 1] - atoms.start
        indices = self.indices[atoms] - columns.start
        return Csr(offsets, indices, self.values[atoms], columns.stop - columns.start)


def batch(matrices: Iterable[Any], *, validate: bool = False, name: str = "matrices") -> Batch:
    """Make one layout of many sparse matrices. It is the block-diagonal matrix of them, as `scipy.sparse.block_diag`.

    matrices: a list, or anything else to iterate over, of matrices of SciPy, CuPy or PyTorch, or of CSR, CSC or COO
      layouts, of any sizes and patterns, on one device. Their arrays are copied; values get NumPy's
      result type of all. Every offset and column is checked.
    validate: also check the whole contract of layouts. From a GPU, the arrays are copied for it.

    Kernels over rows run over it as over one CSR matrix: x and y are those of the items, one after another.
    `B.num_items`, `B.item_begin(item)` and `B.item_end(item)` say which tiles an item has;
    `B.columns_begin(item)` and `B.columns_end(item)` which part of x. On the host, `B.split(y)` returns the part of
    each item, `B[i]` is item i, and `B.with_values(values)` a batch of the same structure.

    Raises InputError, with the item's number, for anything else.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> B = ev.batch([scipy.sparse.csr_array([[1.0, 2.0]]), scipy.sparse.csr_array([[3.0], [4.0]])])
    >>> [y.tolist() for y in B.split(ev.spmv(B, np.array([1.0, 10.0, 100.0])))]
    [[21.0], [300.0, 400.0]]
    """
    if isinstance(matrices, Batch):
        return finished(matrices, name, False, validate)
    if sparse.is_sparse(matrices) or is_layout(matrices) or arrays.is_array(matrices):
        given, hint = type(matrices).__name__, f"ev.batch([{name}]) has one item"
        raise InputError(name, expected="a list of matrices", given=given, hint=hint)
    try:
        listed = list(matrices)
    except TypeError:
        given = type(matrices).__name__
        raise InputError(name, expected="a list of matrices", given=given) from None
    found = glue(listed, name)
    bounds = [
        to_where(found.values, one.astype(index_type(one[-1])))
        for one in (found.starts.tiles, found.starts.columns)
    ]
    made = Batch(found.offsets, found.indices, found.values, int(found.starts.columns[-1]), *bounds)
    remember(made, found.starts)
    return finished(made, name, False, validate)
