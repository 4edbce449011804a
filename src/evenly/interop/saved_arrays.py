"""Check the arrays that scipy.sparse.save_npz wrote, before SciPy converts them.

SciPy's native code trusts offsets and indices. One that is out of bounds crashes the process,
there or later in a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenly.errors import shown

from .matrix_market import free_memory, sums_overflow

Arrays = Mapping[str, Any]
MOST = 1 << 62  # rows or columns


def saved_matrix(arrays: Arrays) -> Any:
    """Make a csr_array of the arrays of a file. Raises ValueError, which says what is wrong with them."""
    format, shape = _format(arrays), _shape(arrays)
    demand((free_memory() or MOST) > 16 * shape[0], f"{shape[0]:,} rows, more than fit into memory")
    return _summed(MADE[format](arrays, shape))


def _summed(made: Any) -> Any:
    """Convert to csr_array, with duplicates summed, integers in 64 bits."""
    import scipy.sparse

    if made.format in ("csr", "csc"):
        made = scipy.sparse.csr_array(made)
        if made.has_canonical_format:
            return made
    coo = scipy.sparse.coo_array(made)
    matrix = scipy.sparse.csr_array(coo)
    if coo.dtype.kind not in "iu" or matrix.nnz == coo.nnz:
        return matrix
    wide = coo.data.astype(f"{coo.dtype.kind}8")
    coo = scipy.sparse.coo_array((wide, coo.coords), shape=coo.shape)
    demand(not sums_overflow(coo), f"entries of one place whose sum is beyond {coo.dtype}")
    return scipy.sparse.csr_array(coo)


def demand(condition: Any, what: str) -> None:
    if not condition:
        raise ValueError(what)


def _format(arrays: Arrays) -> str:
    given = _array(arrays, "format", 0).item()
    name = given.decode("latin-1") if isinstance(given, bytes) else str(given)
    demand(name in MADE, f"format {shown(name)}, none of {', '.join(MADE)}")
    return name


def _shape(arrays: Arrays) -> tuple[int, int]:
    shape = _integers(arrays, "shape")
    demand(len(shape) == 2, f"{len(shape)} dimensions")
    demand(shape.min() >= 0 and shape.max() < MOST, f"shape {shape.tolist()}")
    return int(shape[0]), int(shape[1])


def _compressed(arrays: Arrays, data: Any, across: tuple[int, int]) -> Any:
    """Return the checked (data, indices, indptr) of CSR, CSC or BSR.

    across: the lengths of the compressed and the other axis; for BSR, in blocks.
    """
    indices, offsets = _integers(arrays, "indices"), _integers(arrays, "indptr")
    rows, columns = across
    demand(len(offsets) == rows + 1, f"{len(offsets):,} offsets for {rows:,} of them + 1")
    demand(offsets[0] == 0 and (offsets[1:] >= offsets[:-1]).all(), "offsets that fall")
    count = int(offsets[-1])
    demand(count <= len(indices) and count <= len(data), f"{count:,} entries that are not there")
    _within(indices[:count], columns, "indices")
    return data[:count], indices[:count], offsets


def _csr(arrays: Arrays, shape: tuple[int, int]) -> Any:
    import scipy.sparse

    made = _compressed(arrays, _values(arrays, 1), shape)
    return scipy.sparse.csr_array(made, shape=shape)


def _csc(arrays: Arrays, shape: tuple[int, int]) -> Any:
    import scipy.sparse

    made = _compressed(arrays, _values(arrays, 1), shape[::-1])
    return scipy.sparse.csc_array(made, shape=shape)


def _bsr(arrays: Arrays, shape: tuple[int, int]) -> Any:
    import scipy.sparse

    values = _values(arrays, 3)
    _, height, width = values.shape
    fits = height > 0 and width > 0 and shape[0] % height == 0 and shape[1] % width == 0
    demand(fits, f"blocks of {height} x {width} in {shape[0]:,} x {shape[1]:,}")
    blocks = shape[0] // height, shape[1] // width
    return scipy.sparse.bsr_array(_compressed(arrays, values, blocks), shape=shape)


def _coo(arrays: Arrays, shape: tuple[int, int]) -> Any:
    import scipy.sparse

    values, rows, columns = _values(arrays, 1), _integers(arrays, "row"), _integers(arrays, "col")
    same = len(values) == len(rows) == len(columns)
    demand(same, f"{len(values):,} values, {len(rows):,} rows and {len(columns):,} columns")
    _within(rows, shape[0], "row")
    _within(columns, shape[1], "col")
    return scipy.sparse.coo_array((values, (rows, columns)), shape=shape)


def _dia(arrays: Arrays, shape: tuple[int, int]) -> Any:
    """Convert diagonals to COO. values[d, column] belongs to row column - offsets[d], if there is such a row."""
    import scipy.sparse

    values, offsets = _values(arrays, 2), _integers(arrays, "offsets")
    demand(len(values) == len(offsets), f"{len(values):,} diagonals and {len(offsets):,} offsets")
    demand(len(np.unique(offsets)) == len(offsets), "offsets that are there twice")
    demand(((offsets > -MOST) & (offsets < MOST)).all(), "offsets beyond the matrix")
    values = values[:, : shape[1]]
    columns = np.arange(values.shape[1])
    rows = columns - offsets[:, None]
    kept = (rows >= 0) & (rows < shape[0]) & (values != 0)
    columns = np.broadcast_to(columns, rows.shape)
    return scipy.sparse.coo_array((values[kept], (rows[kept], columns[kept])), shape=shape)


MADE = {"csr": _csr, "csc": _csc, "coo": _coo, "bsr": _bsr, "dia": _dia}


def _array(arrays: Arrays, name: str, dimensions: int) -> Any:
    demand(name in arrays, f"no array {name!r}")
    found = arrays[name]
    demand(found.ndim == dimensions, f"{name} of {found.ndim} dimensions")
    return found


def _values(arrays: Arrays, dimensions: int) -> Any:
    found = _array(arrays, "data", dimensions)
    fits = found.dtype.kind in "biufc" and found.dtype.isnative
    demand(fits, f"values of type {found.dtype}")
    return found.astype(np.float32) if found.dtype == np.float16 else found  # SciPy has no float16


def _integers(arrays: Arrays, name: str) -> Any:
    found = _array(arrays, name, 1)
    fits = found.dtype.kind == "i" and found.dtype.isnative and found.dtype.itemsize >= 4
    demand(fits, f"{name} of type {found.dtype}")
    return found


def _within(indices: Any, size: int, name: str) -> None:
    if len(indices):
        least, most = indices.min(), indices.max()
        demand(
            least >= 0 and most < size, f"{name} {least} .. {most}, outside of 0 .. {size - 1:,}"
        )
