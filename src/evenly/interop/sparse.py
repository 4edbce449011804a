"""Sparse matrices of SciPy, CuPy and PyTorch as one neutral record, without copying.

None of these libraries is imported here: a matrix that comes from one has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop.arrays import has_no_gradient

# What the arrays of a format are called here, in SciPy's order.
ARRAYS = {
    "csr": ("values", "indices", "offsets"),
    "csc": ("values", "indices", "offsets"),
    "bsr": ("values", "indices", "offsets"),
    "coo": ("values", "rows", "columns"),
    "dia": ("values", "diagonals"),
}


@dataclass(frozen=True, slots=True)
class Parts:
    """A sparse matrix taken apart. The arrays are the owner's own, not copies.

    format: csr, csc, coo, bsr or dia; shape: (rows, columns);
    arrays: by the names of `ARRAYS` (values of bsr: (blocks, R, C); of dia:
    (diagonals, width), where values[d, j] stands in column j).
    """

    format: str
    shape: tuple[int, int]
    arrays: dict[str, Any]


def library(obj: object) -> str | None:
    """Whose sparse matrix it is: "scipy", "cupy", "torch" or None."""
    for cls in type(obj).__mro__:
        module = cls.__module__
        if module.startswith("scipy.sparse"):
            return "scipy"
        if module.startswith("cupyx.scipy.sparse"):
            return "cupy"
        if module.startswith("torch") and cls.__name__ == "Tensor":
            return None if str(obj.layout) == "torch.strided" else "torch"  # type: ignore[attr-defined]
    return None


_COMPRESSED: dict[type, bool] = {}  # the answers so far


def is_compressed(obj: Any) -> bool:
    """Whether it is a CSR matrix of SciPy or CuPy: three plain arrays, `data`, `indices` and `indptr`."""
    cls = type(obj)
    found = _COMPRESSED.get(cls)
    if found is None:
        found = library(obj) in ("scipy", "cupy") and obj.format == "csr"
        _COMPRESSED[cls] = found
    return found and len(obj.shape) == 2


def is_sparse(obj: object) -> bool:
    """Whether `parts` takes it."""
    return library(obj) is not None


def parts(obj: Any, name: str = "A", format: str | None = None) -> Parts:
    """Take a sparse matrix apart, converted by its own library if `format` asks for another.

    Formats other than those of `ARRAYS` (lil, dok) become CSR.
    Raises InputError for what is no sparse matrix, or has not two axes.
    """
    whose = library(obj)
    if whose is None:
        raise InputError(
            name,
            expected="a sparse matrix of SciPy, CuPy or PyTorch",
            given=type(obj).__name__,
            hint="scipy.sparse.csr_array(dense) makes one of a dense array",
        )
    if len(obj.shape) != 2:
        raise InputError(name, expected="a matrix (two axes)", given=f"shape {tuple(obj.shape)}")
    return _torch(obj, name, format) if whose == "torch" else _scipy(obj, name, format)


def format_of(obj: Any) -> str:
    """The format of a sparse matrix, as SciPy calls it."""
    if library(obj) == "torch":
        return str(obj.layout).removeprefix("torch.sparse_")
    return str(obj.format)


def known_format(obj: Any, name: str = "A") -> Any:
    """The matrix in a format of `ARRAYS`: SciPy's lil becomes CSR, its dok COO."""
    if library(obj) == "torch" or obj.format in ARRAYS:
        return obj
    if obj.format == "lil":
        _check_lists(obj, name)
    format = "coo" if obj.format == "dok" else "csr"
    return by_library(lambda: obj.asformat(format), obj, format, name)


def _check_lists(obj: Any, name: str) -> None:
    """InputError for a lil whose lists are not as many as its rows, or in pairs of one length.

    SciPy's conversion writes beyond its arrays where they are not.
    """
    count = obj.shape[0]
    for part in ("rows", "data"):
        lists = getattr(obj, part)
        if not isinstance(lists, np.ndarray) or lists.dtype != object or lists.shape != (count,):
            found = getattr(lists, "shape", None)
            given = type(lists).__name__ if found is None else f"shape {found} of {lists.dtype}"
            expected = f"an array of {count} lists, one for each row"
            raise InputError(f"{name}.{part}", expected=expected, given=given)
        for row, one in enumerate(lists):
            if not isinstance(one, list):
                given = f"{type(one).__name__} in row {row}"
                raise InputError(f"{name}.{part}", expected="lists", given=given)
    for row, (columns, values) in enumerate(zip(obj.rows, obj.data, strict=True)):
        if len(columns) != len(values):
            expected = f"{len(columns)} values, as many as columns"
            given = f"{len(values)} in row {row}"
            raise InputError(f"{name}.data", expected=expected, given=given)


def by_library(convert: Callable[[], Any], obj: Any, format: str, name: str) -> Any:
    """A conversion by the library of `obj`, whose complaints are about the matrix."""
    try:
        return convert()
    except (ValueError, TypeError, IndexError, OverflowError, RuntimeError, MemoryError) as error:
        expected = f"a matrix that can become {format}"
        given = f"{obj.format}: {str(error) or type(error).__name__}"
        raise InputError(name, expected=expected, given=given) from None


def _scipy(obj: Any, name: str, format: str | None) -> Parts:
    obj = known_format(obj, name)
    if format is not None and obj.format != format:
        given = obj
        obj = by_library(lambda: given.asformat(format), given, format, name)
    shape = (int(obj.shape[0]), int(obj.shape[1]))
    if obj.format == "coo":
        arrays = {"values": obj.data, "rows": obj.row, "columns": obj.col}
    elif obj.format == "dia":
        arrays = {"values": obj.data, "diagonals": obj.offsets}
    else:
        arrays = {"values": obj.data, "indices": obj.indices, "offsets": obj.indptr}
    return Parts(obj.format, shape, arrays)


def _torch(obj: Any, name: str, format: str | None) -> Parts:
    has_no_gradient(obj, name)
    found = format_of(obj)
    if found not in ("csr", "csc", "coo", "bsr"):
        given = str(obj.layout)
        raise InputError(name, expected="a torch.sparse_csr, csc, coo or bsr tensor", given=given)
    if format is not None and format != found:
        if format in ("bsr", "dia"):
            raise InputError(
                name,
                expected=f"a torch tensor that can become {format}",
                given=str(obj.layout),
                hint="convert it first: .to_sparse_bsr((R, C)), or go through SciPy",
            )
        torch = sys.modules["torch"]
        wanted = {"csr": torch.sparse_csr, "csc": torch.sparse_csc, "coo": torch.sparse_coo}
        obj = obj.to_sparse(layout=wanted[format])
        found = format
    shape = (int(obj.shape[0]), int(obj.shape[1]))
    if found == "coo":
        # The raw parts: duplicates are legal here, so coalescing is not needed.
        both = obj._indices()
        if len(both) != 2:
            given = f"{len(both)} sparse axes, the others dense"
            raise InputError(name, expected="a tensor of two sparse axes", given=given)
        arrays = {"values": obj._values(), "rows": both[0], "columns": both[1]}
    elif found == "csc":
        arrays = {
            "values": obj.values(),
            "indices": obj.row_indices(),
            "offsets": obj.ccol_indices(),
        }
    else:
        arrays = {
            "values": obj.values(),
            "indices": obj.col_indices(),
            "offsets": obj.crow_indices(),
        }
    return Parts(found, shape, arrays)
