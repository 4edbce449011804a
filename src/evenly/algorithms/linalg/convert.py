"""Convert layouts of matrices among CSR, CSC and COO, on their device: the methods `tocsr`, `tocsc`, `tocoo`."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def number_atoms(A, out):
    for tile in A.tiles():
        for k in A.atoms(tile):
            out[k] = tile


def convert(A: Any, format: str, check: bool = True) -> Any:
    """Return a layout that `ev.csr`, `ev.csc` or `ev.coo` made as "csr", "csc" or "coo"; itself if it is that.

    Nonzeros keep their order within a row or column, and duplicates are kept. On a GPU, CSR and CSC need the
    package cuda-cccl.
    check: check the rows of a CSR result, or the columns of a CSC one. On a GPU, the call waits for it.

    Raises InputError for indices outside of the matrix.
    """
    if A.format == format:
        return A
    if format == "coo":
        return ev.coo((A.values, *ids(A)), shape=A.shape, check=False)
    axis = 0 if format == "csr" else 1
    count, make = A.shape[axis], (ev.csr, ev.csc)[axis]
    if A.format != "coo" and not kit.on_gpu(A.values):
        if check:
            kit.check_indices(A.indices, count, ("A.rows", "A.columns")[axis])
        arrays = kit.turned(A.values, A.indices, A.offsets, count)
        return make(arrays, shape=A.shape, check=False)
    by, others = ids(A)[axis], ids(A)[1 - axis]
    if check:
        kit.check_indices(by, count, ("A.rows", "A.columns")[axis])
    with kit.renamed(num_groups="A"):
        groups = ev.group_by(by, count, check=False)
    arrays = kit.take(A.values, groups.order), kit.take(others, groups.order), groups.offsets
    return make(arrays, shape=A.shape, check=False)


def transpose(A: Any) -> Any:
    """Return the transpose of a layout that `ev.csr`, `ev.csc` or `ev.coo` made, over the same arrays."""
    shape = A.shape[::-1]
    if A.format == "coo":
        return ev.coo((A.values, A.columns, A.rows), shape=shape, check=False)
    make = ev.csc if A.format == "csr" else ev.csr
    return make((A.values, A.indices, A.offsets), shape=shape, check=False)


def regroup(A: Any) -> tuple[Any, Any, Any]:
    """Return the nonzeros of a layout of `ev.csc` or `ev.coo` by rows: offsets (rows + 1,), their places in A, columns.

    On a GPU this needs the package cuda-cccl. Row indices are not checked.
    """
    rows, columns = ids(A)
    groups = ev.group_by(rows, A.shape[0], check=False)
    return groups.offsets, groups.order, kit.take(columns, groups.order)


def ids(A: Any) -> tuple[Any, Any]:
    """Return the row and the column of each nonzero."""
    if A.format == "coo":
        return A.rows, A.columns
    of_tile = tiles_of_atoms(A)
    return (of_tile, A.indices) if A.format == "csr" else (A.indices, of_tile)


def tiles_of_atoms(A: Any) -> Any:
    """Return the tile of each atom of a CSR or CSC layout, (num_atoms,)."""
    type_ = kit.index_type(A.num_tiles)
    if not kit.on_gpu(A.offsets):
        return np.repeat(np.arange(A.num_tiles, dtype=type_), np.diff(A.offsets))
    out = kit.empty(A.indices, (len(A.indices),), type_)
    number_atoms[ev.NonzeroSplit()](A, out)
    return out
