"""Read the arrays of sparse matrices of SciPy, CuPy and PyTorch, without copying (`parts`).

None of these libraries is imported here: whoever passes a matrix of one has imported it.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop.arrays import has_no_gradient

# evenly's names for the arrays of each format, in SciPy's order.
ARRAYS = {
    "csr": ("values", "indices", "offsets"),
    "csc": ("values", "indices", "offsets"),
    "bsr": ("values", "indices", "offsets"),
    "coo": ("values", "rows", "columns"),
    "dia": ("values", "diagonals"),
}


@dataclass(frozen=True, slots=True)
class Parts:
    """The arrays of a sparse matrix. They are the matrix's own, not copies.

    format: csr, csc, coo, bsr or dia. shape: (rows, columns).
    arrays: by the names in `ARRAYS`. The values of bsr are (blocks, R, C), those of dia
    (diagonals, width), where values[d, j] belongs to column j.
    """

    format: str
    shape: tuple[int, int]
    arrays: dict[str, Any]


def library(obj: object) -> str | None:
    """Return the library of a sparse matrix: "scipy", "cupy" or "torch". None for anything else."""
    cls: Any = type(obj)
    whose = _whose(cls)
    dense = whose == "torch" and str(obj.layout) == "torch.strided"  # type: ignore[attr-defined]
    return None if dense else whose


@functools.cache
def _whose(cls: type) -> str | None:
    """Return the library of a class of sparse matrices, of which PyTorch's has dense ones, too."""
    for base in cls.__mro__:
        module = base.__module__
        if module.startswith("scipy.sparse"):
            return "scipy"
        if module.startswith("cupyx.scipy.sparse"):
            return "cupy"
        if module.startswith("torch") and base.__name__ == "Tensor":
            return "torch"
    return None


_COMPRESSED: dict[type, bool] = {}  # a cache by class


def is_compressed(obj: Any) -> bool:
    """Whether `obj` is a CSR matrix of SciPy or CuPy, with the arrays `data`, `indices` and `indptr`."""
    cls = type(obj)
    found = _COMPRESSED.get(cls)
    if found is None:
        found = library(obj) in ("scipy", "cupy") and obj.format == "csr"
        _COMPRESSED[cls] = found
    return found and len(obj.shape) == 2


def is_sparse(obj: object) -> bool:
    """Whether `obj` is a sparse matrix of SciPy, CuPy or PyTorch."""
    return library(obj) is not None


def parts(obj: Any, name: str = "A", format: str | None = None) -> Parts:
    """Return the arrays of a sparse matrix. Its own library converts it first if `format` is another.

    SciPy's lil becomes CSR, its dok COO.
    Raises InputError if `obj` is not a sparse matrix, or does not have two axes.
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
    """Return SciPy's name for the format of a sparse matrix: "csr", "coo", ..."""
    if library(obj) == "torch":
        return str(obj.layout).removeprefix("torch.sparse_")
    return str(obj.format)


def known_format(obj: Any, name: str = "A") -> Any:
    """Convert a matrix to a format of `ARRAYS`, if it has another: SciPy's lil becomes CSR, its dok COO."""
    if library(obj) == "torch" or obj.format in ARRAYS:
        return obj
    if obj.format == "lil":
        _check_lists(obj, name)
    format = "coo" if obj.format == "dok" else "csr"
    return by_library(lambda: obj.asformat(format), obj, format, name)


def _check_lists(obj: Any, name: str) -> None:
    """Raise InputError unless a lil matrix has two lists of equal length for each row.

    SciPy's conversion would write beyond its arrays otherwise.
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
    """Run a conversion by the library of `obj`, and turn its errors into an InputError about the matrix."""
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
        if found == "bsr":  # PyTorch makes nothing else of it
            obj = obj.to_sparse(layout=torch.sparse_coo)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse .* tensor support is in beta")
            obj = obj.to_sparse(layout=wanted[format])
        found = format
    shape = (int(obj.shape[0]), int(obj.shape[1]))
    if found == "coo":
        # These need no coalesced tensor: duplicates are allowed in COO.
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
