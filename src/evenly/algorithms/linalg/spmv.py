"""SpMV, y = A x: a sparse matrix times a dense vector.

Two kernels, one for the layouts whose tiles are rows and one for the others; under which
schedule they run, and where, is nobody's business here.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenly.algorithms.linalg.grouping import by_row
from evenly.arguments import as_layout
from evenly.errors import InputError
from evenly.interop import arrays, sparse
from evenly.language.diagnostics import LanguageError
from evenly.language.names import atomic_add
from evenly.language.types import from_dtype, read_as
from evenly.layouts import Coo, Csc
from evenly.layouts.contract import accessors, is_layout, leaves
from evenly.layouts.fields import value_types
from evenly.runtime.kernel import Bound, kernel

_BY_ATOMS = (Csc, Coo)  # layouts whose tiles are no rows, and can be grouped


@kernel
def spmv_rows(A, x, y):
    """A tile is a row: CSR, ELL, BCSR, DIA, a subset of one of them, your own."""
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


_checked = spmv_rows.apart()  # the calls that it remembers have passed the checks of `spmv`
_product = Bound(_checked)


@kernel
def spmv_atoms(A, x, y):
    """A tile is a column (CSC) or a nonzero (COO): they add to y, which must be zero before."""
    for tile in A.tiles():
        for k in A.atoms(tile):
            atomic_add(y, A.row(k), A.value(k) * x[A.column(k)])


def spmv(A: Any, x: Any, out: Any = None, *, schedule: Any = "auto", target: str = "auto") -> Any:
    """y = A x, as the caller's own kind of array (NumPy, CuPy, PyTorch, `ev.DeviceArray`).

    A: (m, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout (`ev.csr`, ..., one of
      your own whose tiles are rows).
    x: (n,), contiguous, beside A.
    out: (m,) where the result goes, beside them and apart from them; default: a new array
      of NumPy's result type of A and x, and of float16 or bfloat16 where both are (the sums
      are float32 all the same: an `out` of float32 keeps them). Rows that a subset leaves
      out stay as they are (in a new array: 0).
    schedule: "auto", a name such as "merge_path", or a schedule such as `ev.MergePath()`.
    target: "auto" (where the arrays are), "cuda", "cpu", "simt" or "python".

    The same arguments give the same bits on every run. For that, CSC and COO are grouped by
    row first, on the host and at every call: keep them as `ev.csr` to multiply often. (After
    the structure of a matrix is changed in place, "auto" may take what it chose for the old one.)

    Raises InputError for shapes, types and devices that do not fit.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> ev.spmv(A, np.array([1.0, 10.0, 100.0]))
    array([201.,  30.])
    """
    usual = schedule == target == "auto"
    product = _product if usual else Bound(_checked, schedule, target)
    if out is not None and product.again(A, x, out):
        return out
    compressed = sparse.is_compressed(A)
    if not compressed:  # as it is, its calls are remembered
        A = _in_rows(as_layout(A, "A"))
    rows, columns = A.shape if compressed else _shape(A)
    _check_vector(x, columns, "x", "columns")
    if out is None:
        # A subset leaves rows as they are.
        whole = compressed or leaves(type(A), "tile_id")
        values = (A.dtype,) if compressed else value_types(A)
        found = _product_type(arrays.dtype_of(x, "x"), *values)
        out = _new(arrays.empty if whole else arrays.zeros, A, x, rows, found)
    else:
        _check_vector(out, rows, "out", "rows")
    try:
        product(A, x, out)
    except InputError as error:
        if error.argument == "y":  # what the kernel calls it
            error.argument = "out"
        raise
    except LanguageError as error:
        if error.location.file != __file__:  # a mistake in a layout of the user's
            raise
        raise _unfit(A, x, out) from None
    return out


def _unfit(A: Any, x: Any, out: Any) -> InputError:
    """The error for an `out` that the products are not stored into: the one thing that types decide here."""
    given = arrays.dtype_of(out, "out")
    values = value_types(as_layout(A, "A"))
    product = _product_type(arrays.dtype_of(x, "x"), *values)
    return InputError("out", expected=f"an array for products of {product}", given=str(given))


def _new(make: Any, A: Any, x: Any, rows: int, dtype: Any) -> Any:
    """An array for the result. Raises InputError where the matrix has no such rows."""
    try:
        return make(x, (rows,), dtype)
    except (TypeError, ValueError, MemoryError):
        as_layout(A, "A")  # which refuses what is not sound
        given = f"{rows:,} rows"
        expected = "a matrix whose product fits into memory"
        raise InputError("A", expected=expected, given=given) from None


def _in_rows(A: Any) -> Any:
    """The layout with rows as tiles."""
    if isinstance(A, _BY_ATOMS):
        _shape(A)
        return by_row(A)
    if is_layout(A) and not tiles_are_rows(A):
        expected = "a layout whose tiles are rows, CSC or COO"
        raise InputError("A", expected=expected, given=type(A).__name__)
    return A


def tiles_are_rows(A: Any) -> bool:
    """Whether a tile of the layout is a row: its `row(k)` asks for the tile, or there is none."""
    cls: Any = type(A)
    found = accessors(cls).get("row")
    if found is None and getattr(cls, "delegate", None):
        return tiles_are_rows(getattr(A, cls.delegate))
    return found is None or found[0]


def _shape(A: Any) -> tuple[int, int]:
    shape = getattr(A, "shape", None)
    known = is_layout(A) or not arrays.is_array(A)
    if not isinstance(shape, tuple) or len(shape) != 2 or not known:
        hint = "give the layout a field num_columns" if is_layout(A) else ""
        if arrays.is_array(A):
            hint = "scipy.sparse.csr_array(dense) makes one of a dense array"
        raise InputError("A", expected="a sparse matrix", given=type(A).__name__, hint=hint)
    return shape


@functools.cache
def _product_type(*given: np.dtype[Any]) -> np.dtype[Any]:
    """NumPy's type of a product of these; of 16 bits where no other numbers stand beside those."""
    types = {dtype: from_dtype(dtype) for dtype in given if dtype.kind != "b"}
    if len(set(types.values())) == 1:
        found = next(iter(types))
    else:
        found = np.result_type(*(read_as(t).dtype for t in types.values() if t), np.bool_)
    if found.kind == "b":
        hint = "x.astype(numpy.int32) counts"
        raise InputError("x", expected="numbers, in x or in A", given="bool in both", hint=hint)
    return found


def _check_vector(x: Any, length: int, name: str, what: str) -> None:
    if arrays.is_array(x) and getattr(x, "shape", None) == (length,):
        return
    found = tuple(arrays.view(x, name).shape)
    if found != (length,):
        expected = f"a vector of {length}, the {what} of A"
        raise InputError(name, expected=expected, given=f"shape {found}")
