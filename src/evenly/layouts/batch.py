"""batch: many sparse matrices as one layout. A tile is a row of any of them, an atom a nonzero.

Use it for many small problems: one launch runs over all of them, whatever their sizes and patterns.
Source: Anzt, Collins, Dongarra, Flegar, Quintana-Orti, "Flexible Batched Sparse Matrix-Vector Product on GPUs"
(ScalA 2017).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays, sparse
from evenly.interop.transfer import to_where
from evenly.interop.vectors import part
from evenly.layouts.checker import finished
from evenly.layouts.compressed import Compressed
from evenly.layouts.contract import Array, Index, is_layout, layout
from evenly.layouts.conversions import ThroughCsr
from evenly.layouts.csr import Csr
from evenly.layouts.entries import check_offsets
from evenly.layouts.gluing import Glued, glue
from evenly.layouts.items import Items, Starts, on_host, remember
from evenly.layouts.narrow import index_type, renumbered, shifted
from evenly.layouts.numbering import RUN, RUN_BITS, parts_nearby
from evenly.layouts.pattern import pattern_batch, torch_items


class Listed(Items):
    """A mixin for batches with the fields `item_tiles` and `item_columns`: where each item begins."""

    if TYPE_CHECKING:
        offsets: Any
        indices: Any
        item_tiles: Any
        item_columns: Any

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

    def _check_items(self, name: str) -> None:
        check_offsets(self.item_tiles, f"{name}.item_tiles", int(self.num_tiles))
        check_offsets(self.item_columns, f"{name}.item_columns", int(self.num_columns))

    def _starts(self) -> Starts:
        tiles, columns, offsets = on_host(self.item_tiles, self.item_columns, self.offsets)
        return Starts(tiles, offsets[tiles], columns)

    def _parts(self, i: int) -> tuple[Any, Any]:
        """Return where the parts of item i begin, and what was added to the columns of each (layouts/numbering.py)."""
        raise NotImplementedError

    def _item(self, i: int) -> Csr:
        rows, atoms, columns = ((int(one[i]), int(one[i + 1])) for one in self.starts)
        count, (parts, first) = columns[1] - columns[0], self._parts(i)
        offsets, indices = part(self.offsets, rows[0], rows[1] + 1), part(self.indices, *atoms)
        return Csr(
            shifted(offsets, -atoms[0], arrays.dtype_of(offsets)),
            renumbered(indices, parts - atoms[0], -first, index_type(count)),
            part(self.values, *atoms),
            count,
        )


@layout
class Batch(Listed, Csr):
    """Sparse matrices one after another, as one block-diagonal CSR matrix.

    Item i has the tiles item_tiles[i] .. item_tiles[i+1]-1. Its columns are numbered through: they are
    item_columns[i] .. item_columns[i+1]-1.
    """

    item_tiles: Array[Index]  # (num_items + 1,), non-decreasing from 0 to num_tiles
    item_columns: Array[Index]  # (num_items + 1,), non-decreasing from 0 to num_columns

    def local_column(self, item, k):
        """The column of an atom of the item, within the item."""
        return self.indices[k] - self.item_columns[item]

    def validate(self, name: str = "A") -> None:
        """Check every offset and every column. Raises InputError for the first that is wrong."""
        Csr.validate(self, name)
        self._check_items(name)

    def _parts(self, i: int) -> tuple[Any, Any]:
        return self.starts.atoms[i : i + 2], self.starts.columns[i : i + 1]


@layout
class NarrowBatch(Listed, ThroughCsr, Compressed):
    """A :class:`Batch` whose columns take 8 or 16 bits: they count from a column nearby.

    Each 256 adjacent atoms share one, in `bases`. It is the first column of the first one's item. So nothing depends on
    an atom's row, and columns are contiguous reads. (Zukowski et al., "Super-Scalar RAM-CPU Cache Compression", ICDE
    2006, have frames of reference for columns of a database.)
    """

    offsets: Array[Index]  # (num_tiles + 1,), non-decreasing, offsets[0] == 0
    indices: (
        Array  # (num_atoms,), uint8 or uint16: the column of each nonzero, counted from its base
    )
    values: Array  # (num_atoms,)
    num_columns: int
    item_tiles: Array[Index]  # (num_items + 1,), non-decreasing from 0 to num_tiles
    item_columns: Array[Index]  # (num_items + 1,), non-decreasing from 0 to num_columns
    bases: Array[Index]  # (ceil(num_atoms / 256),), a column for each 256 atoms

    id_bounds = {"column": "num_columns"}

    @property
    def num_atoms(self):
        return len(self.indices)

    def row(self, tile, k):
        return tile

    def column(self, k):
        return self.bases[k >> RUN_BITS] + int(self.indices[k])

    def local_column(self, item, k):
        """The column of an atom of the item, within the item."""
        return self.bases[k >> RUN_BITS] + int(self.indices[k]) - self.item_columns[item]

    def value(self, k):
        return self.values[k]

    def tocsr(self) -> Csr:
        """Return the block-diagonal matrix as CSR, on its device. Its columns are new; it shares the other arrays."""
        count = int(self.num_atoms)
        runs, (bases,) = np.append(np.arange(0, count, RUN), count), on_host(self.bases)
        columns = int(self.num_columns)
        indices = renumbered(self.indices, runs, bases, index_type(columns))
        return Csr(self.offsets, indices, self.values, columns)

    def validate(self, name: str = "A") -> None:
        """Check every offset. Raises InputError for the first that is wrong."""
        check_offsets(self.offsets, f"{name}.offsets", len(self.indices))
        self._check_items(name)

    def _parts(self, i: int) -> tuple[Any, Any]:
        return parts_nearby(self.starts, slice(i, i + 1))


def batch(
    matrices: Any,
    values: Any = None,
    *,
    narrow: bool = True,
    validate: bool = False,
    name: str = "matrices",
) -> Any:
    """Make one layout of many sparse matrices. It is the block-diagonal matrix of them, as `scipy.sparse.block_diag`.

    matrices: a list, or anything else to iterate over, of matrices of SciPy, CuPy or PyTorch, or of CSR, CSC or COO
      layouts, of any sizes and patterns, on one device. Their arrays are copied; values get NumPy's
      result type of all. Every offset and column is checked.
      Or one CSR matrix, the pattern of all items; or a `torch.sparse_csr` tensor of three axes.
    values: with a pattern, the values of all items, (items, nonzeros), on its device. The pattern is stored once, and
      the values are not copied.
    narrow: of a list, store columns in 8 or 16 bits, counted from one nearby, if those of the items that share 256
      adjacent nonzeros lie within 65,536. False: always number them through, in 32 or 64 bits, as the CSR matrix has
      them. Those of a pattern always are narrow.
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
    if values is not None:
        return pattern_batch(matrices, values, validate, name)
    if isinstance(matrices, Items):
        return finished(matrices, name, False, validate)
    if sparse.library(matrices) == "torch" and len(matrices.shape) > 2:
        found = torch_items(matrices, name)
        if isinstance(found, tuple):
            return pattern_batch(*found, validate, name)
        matrices = found
    return _listed(glue(_list(matrices, name), name, narrow), validate, name)


def _list(matrices: Any, name: str) -> list[Any]:
    given, hint = type(matrices).__name__, ""
    one = is_layout(matrices) or sparse.is_sparse(matrices)
    if one:
        hint = f"ev.batch([{name}]) has one item; ev.batch({name}, values) many of this pattern"
    elif not arrays.is_array(matrices) and isinstance(matrices, Iterable):
        return list(matrices)
    raise InputError(name, expected="a list of matrices", given=given, hint=hint)


def _listed(found: Glued, validate: bool, name: str) -> Batch | NarrowBatch:
    like, (tiles, _, columns) = found.values, found.starts
    type_ = index_type(columns[-1])
    arrays_ = found.offsets, found.indices, found.values, int(columns[-1])
    of_tiles = to_where(like, tiles.astype(index_type(tiles[-1])))
    of_columns = to_where(like, columns.astype(type_))
    made: Batch | NarrowBatch
    if found.numbering.bases is not None:
        bases = to_where(like, found.numbering.bases.astype(type_))
        made = NarrowBatch(*arrays_, of_tiles, of_columns, bases)
    else:
        made = Batch(*arrays_, of_tiles, of_columns)
    remember(made, found.starts)
    return finished(made, name, False, validate)
