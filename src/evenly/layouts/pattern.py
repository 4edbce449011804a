"""Batches of one pattern: many matrices that differ in their values alone. The pattern is stored once.

Source: the batched CSR matrices of Ginkgo, and `torch.sparse_csr` tensors of three axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import sparse
from evenly.interop.vectors import part
from evenly.layouts.arguments import same_device
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, Static, is_layout, layout
from evenly.layouts.csr import Csr, csr
from evenly.layouts.entries import check_offsets, check_range
from evenly.layouts.fields import as_field
from evenly.layouts.items import Items, Starts
from evenly.layouts.narrow import index_type, narrowed, shifted
from evenly.layouts.search import Searched


@layout
class PatternBatch(Items, Searched):
    """`num_items` sparse matrices with the same offsets and columns, as one block-diagonal matrix.

    Atom k of the batch is nonzero k % n of item k // n, for n nonzeros an item. Row r of an item begins at
    offsets[r]. Columns are stored within the item.
    """

    offsets: Array[Index]  # (rows + 1,), non-decreasing, offsets[0] == 0: of one item
    indices: Array  # (nonzeros,), the columns of one item; uint8 or uint16 where they fit
    values: Array  # (num_items * nonzeros,), of all items one after another
    num_items: int
    item_columns: Static  # the columns of an item. Constants make positions cheap: each pattern is compiled for itself
    rows: Static  # the rows of an item, at least 1
    item_tiles: Static  # the rows of an item
    item_atoms: Static  # the nonzeros of an item

    id_bounds = {"column": "num_columns"}

    @property
    def num_tiles(self):
        return self.num_items * self.item_tiles

    @property
    def num_atoms(self):
        return self.num_items * self.item_atoms

    @property
    def num_columns(self):
        return self.num_items * self.item_columns

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.num_tiles), int(self.num_columns)

    def begin(self, tile):
        item = tile // self.rows
        return item * self.item_atoms + self.offsets[tile - item * self.rows]

    def end(self, tile):
        item = tile // self.rows
        return item * self.item_atoms + self.offsets[tile - item * self.rows + 1]

    def item_begin(self, item):
        return item * self.item_tiles

    def item_end(self, item):
        return (item + 1) * self.item_tiles

    def columns_begin(self, item):
        return item * self.item_columns

    def columns_end(self, item):
        return (item + 1) * self.item_columns

    def row(self, tile, k):
        return tile

    def column(self, tile, k):
        item = tile // self.rows
        return item * self.item_columns + int(self.indices[k - item * self.item_atoms])

    def local_column(self, item, k):
        """The column of an atom of the item, within the item."""
        return int(self.indices[k - item * self.item_atoms])

    def value(self, k):
        return self.values[k]

    def validate(self, name: str = "A") -> None:
        """Check every offset and every column. Raises InputError for the first that is wrong."""
        check_offsets(self.offsets, f"{name}.offsets", len(self.indices))
        indices = shifted(self.indices, 0, index_type(self.item_columns))
        check_range(indices, self.item_columns, f"{name}.indices", "column indices")

    def _starts(self) -> Starts:
        items = np.arange(int(self.num_items) + 1)
        sizes = len(self.offsets) - 1, len(self.indices), self.item_columns
        return Starts(*(items * size for size in sizes))

    def _item(self, i: int) -> Csr:
        count = len(self.indices)
        indices = shifted(self.indices, 0, index_type(self.item_columns))
        values = part(self.values, i * count, (i + 1) * count)
        return Csr(self.offsets, indices, values, self.item_columns)


def pattern_batch(pattern: Any, values: Any, validate: bool, name: str) -> PatternBatch:
    """Make a :class:`PatternBatch` of a CSR matrix and values (items, nonzeros) on its device. They are not copied."""
    if is_layout(pattern):
        known = isinstance(pattern, Csr)
    else:
        known = sparse.is_sparse(pattern) and sparse.format_of(pattern) == "csr"
    if not known:
        expected = "a CSR matrix, in whose order the values are"
        raise InputError(name, expected=expected, given=type(pattern).__name__)
    A = csr(pattern, name=name)
    count = len(A.indices)
    given = as_field(values, "values", index=False)
    if len(given.shape) != 2 or given.shape[1] != count:
        expected = f"an array of shape (items, {count}), a value for each nonzero of each item"
        raise InputError("values", expected=expected, given=f"shape {tuple(given.shape)}")
    same_device({"offsets": A.offsets, "values": given}, name)
    items = int(given.shape[0])
    indices = narrowed(A.indices, A.num_columns)
    rows = len(A.offsets) - 1
    made = PatternBatch(
        A.offsets,
        indices,
        given.reshape(items * count),
        items,
        A.num_columns,
        max(rows, 1),
        rows,
        count,
    )
    return finished(made, name, False, validate)


def torch_items(tensor: Any, name: str) -> tuple[Csr, Any] | list[Csr]:
    """Return the pattern and values of a `torch.sparse_csr` tensor of three axes, or its matrices if they differ."""
    if len(tensor.shape) != 3:
        given = f"one of {len(tensor.shape)}"
        raise InputError(name, expected="a sparse tensor of three axes", given=given)
    if sparse.format_of(tensor) != "csr":
        hint = f"ev.batch(list({name})) takes them one by one"
        raise InputError(name, expected="torch.sparse_csr", given=str(tensor.layout), hint=hint)
    offsets, indices, values = tensor.crow_indices(), tensor.col_indices(), tensor.values()
    shape = tuple(map(int, tensor.shape[1:]))
    if len(offsets) == 0:
        nothing = values.new_zeros(0), indices.new_zeros(0), offsets.new_zeros(shape[0] + 1)
        return csr(nothing, shape=shape), values.reshape(0, 0)
    if all(bool((one == one[:1]).all()) for one in (offsets, indices)):
        return csr((values[0], indices[0], offsets[0]), shape=shape, name=name), values
    parts = zip(values, indices, offsets, strict=True)
    return [csr(one, shape=shape, check=False, name=f"{name}[{i}]") for i, one in enumerate(parts)]
