"""Group the nonzeros of CSC or COO by row, without copying their values."""

from __future__ import annotations

import contextlib
from typing import Any, TypeGuard

import numpy as np

from evenly.errors import InputError, UnavailableError
from evenly.interop.transfer import to_cuda, to_numpy
from evenly.interop.vectors import as_integers, from_numpy
from evenly.layouts.compressed import Compressed
from evenly.layouts.contract import Array, Index, LayoutInstance, accessors, layout
from evenly.layouts.conversions import converted, regrouped
from evenly.layouts.coo import Coo
from evenly.layouts.csc import Csc
from evenly.layouts.entries import check_range
from evenly.layouts.moving import device_of


@layout
class Grouped(Compressed):
    """The nonzeros of another layout, grouped by row. Within a row, they keep their order.

    Atom k is nonzero order[k]. The values are the other layout's own array.
    """

    offsets: Array[Index]  # (num_tiles + 1,), non-decreasing, offsets[0] == 0
    order: Array[Index]  # (num_atoms,), a permutation
    columns: Array[Index]  # (num_atoms,), the column of each atom
    values: Array  # (num_atoms,), in the other layout's order
    num_columns: int

    @property
    def num_atoms(self):
        return len(self.order)

    def row(self, tile, k):
        return tile

    def column(self, k):
        return self.columns[k]

    def value(self, k):
        return self.values[self.order[k]]


def can_be_grouped(A: object) -> TypeGuard[Csc | Coo]:
    """Whether `by_row` accepts `A`: a layout of a matrix whose tiles are not rows."""
    return isinstance(A, Csc | Coo)


def tiles_are_rows(A: LayoutInstance) -> bool:
    """Whether the tiles of a layout are rows: its accessor `row` needs the tile, or it has none."""
    cls: Any = type(A)
    if getattr(cls, "delegate_tile", None) is not None:
        return False  # its rows are those of another layout, with other tiles
    found = accessors(cls).get("row")
    if found is None and getattr(cls, "delegate", None):
        return tiles_are_rows(getattr(A, cls.delegate))
    return found is None or found[0]


def by_row(A: Csc | Coo, name: str = "A", keep: bool = False) -> Any:
    """Return a layout with the nonzeros of `A`, whose tiles are rows, on the device of `A`.

    In CPU memory it is a :class:`Grouped`, made by a counting sort; of CSC a CSR matrix, made by one that moves the
    values along. On a GPU it is a CSR matrix that is made there. Without cuda-cccl it is a :class:`Grouped` there, too,
    made of a copy of the indices in CPU memory.
    keep: a :class:`Grouped` in any case, which has the values of `A` when these change.

    Raises InputError for row indices outside of the matrix.
    """
    found = A.indices if isinstance(A, Csc) else A.rows
    check_range(found, A.num_rows, f"{name}.rows", "row indices")
    on_gpu = device_of(A) == "cuda"
    if on_gpu:
        with contextlib.suppress(UnavailableError):
            if keep:
                return Grouped(*regrouped(A), A.values, int(A.shape[1]))
            return converted(A, "csr", check=False)
    try:
        if isinstance(A, Csc) and not (on_gpu or keep):
            return converted(A, "csr", check=False)
        structure = _structure(A, to_numpy(found))
    except (ValueError, MemoryError):  # offsets for that many rows do not fit into memory
        expected, given = "a matrix whose offsets fit into memory", f"{A.num_rows:,} rows"
        raise InputError(name, expected=expected, given=given) from None
    offsets, order, columns = (to_cuda(part) if on_gpu else part for part in structure)
    return Grouped(offsets, order, columns, A.values, int(A.shape[1]))


def _structure(A: Csc | Coo, rows: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Return the offsets of the rows of `A`, the order of its nonzeros, and their columns in this order."""
    if isinstance(A, Csc):
        counts = np.diff(to_numpy(A.offsets))
        columns = np.repeat(np.arange(A.num_tiles, dtype=rows.dtype), counts)
    else:
        columns = to_numpy(A.columns)
    offsets, order = stable_order(rows, int(A.num_rows))
    return offsets, order, columns[order]


def stable_order(rows: np.ndarray[Any, Any], count: int) -> tuple[Any, Any]:
    """Sort `rows` (n,) stably. Returns the offsets (count + 1,) of each row's entries, and the order (n,).

    SciPy's conversion from CSC to CSR is a stable counting sort. Here it converts a matrix
    with one entry in each column; the column indices of the result are the order.
    """
    from scipy.sparse import csc_array

    n = len(rows)
    one_a_column = csc_array((np.ones(n, np.int8), rows, np.arange(n + 1)), shape=(count, n))
    sorted_ = one_a_column.tocsr()
    return sorted_.indptr, sorted_.indices


def turned(values: Any, indices: Any, offsets: Any, count: int) -> tuple[Any, Any, Any]:
    """Group nonzeros in CPU memory, stored by rows, by `count` columns; or those stored by columns by rows.

    Returns values, indices and offsets. Within a group, nonzeros keep their order. SciPy's conversion is a counting
    sort, which moves values of its own types along: so these have other names for it.
    """
    from scipy.sparse import csr_array

    host = to_numpy(values)
    moved = host if host.dtype.itemsize > 8 else as_integers(host)
    given = moved, to_numpy(indices), to_numpy(offsets)
    made = csr_array(given, shape=(len(offsets) - 1, count)).tocsc()
    arrays = made.data.view(host.dtype), made.indices, made.indptr
    return tuple(
        from_numpy(array, like)
        for array, like in zip(arrays, (values, indices, offsets), strict=True)
    )
