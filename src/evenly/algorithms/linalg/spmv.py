"""SpMV, y = A x: a sparse matrix times a dense vector.

Two kernels, one for the layouts whose tiles are rows and one for the others; under which
schedule they run, and where, is nobody's business here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenly.algorithms.linalg.grouping import by_row
from evenly.arguments import accept
from evenly.errors import InputError
from evenly.interop import arrays
from evenly.language.names import atomic_add
from evenly.language.types import from_dtype, read_as
from evenly.layouts import Coo, Csc
from evenly.layouts.contract import accessors
from evenly.runtime.kernel import Bound, kernel


@kernel
def spmv_rows(A, x, y):
    """A tile is a row: CSR, ELL, BCSR, DIA, a subset of one of them, your own."""
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


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
    row first, on the host and at every call: keep them as `ev.csr` to multiply often.

    Raises InputError for shapes, types and devices that do not fit.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> ev.spmv(A, np.array([1.0, 10.0, 100.0]))
    array([201.,  30.])
    """
    A = accept(A, "A")
    rows, columns = _shape(A)
    _check_vector(x, columns, "x", "columns")
    if isinstance(A, Csc | Coo):
        A = by_row(A)
    elif not tiles_are_rows(A):
        expected = "a layout whose tiles are rows, CSC or COO"
        raise InputError("A", expected=expected, given=type(A).__name__)
    if out is None:
        whole = "tile_id" in type(A).__default_methods__  # every row is stored into
        out = (arrays.empty if whole else arrays.zeros)(x, (rows,), _result_type(A, x))
    else:
        _check_vector(out, rows, "out", "rows")
    try:
        Bound(spmv_rows, schedule, target)(A, x, out)
    except InputError as error:
        if error.argument == "y":  # what the kernel calls it
            error.argument = "out"
        raise
    return out


def tiles_are_rows(A: Any) -> bool:
    """Whether a tile of the layout is a row: its `row(k)` asks for the tile, or there is none."""
    cls: Any = type(A)
    found = accessors(cls).get("row")
    if found is None and getattr(cls, "delegate", None):
        return tiles_are_rows(getattr(A, cls.delegate))
    return found is None or found[0]


def _shape(A: Any) -> tuple[int, int]:
    shape = getattr(A, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or arrays.is_array(A):
        hint = "scipy.sparse.csr_array(dense) makes one of a dense array"
        hint = hint if arrays.is_array(A) else "give the layout a field num_columns"
        raise InputError("A", expected="a sparse matrix", given=type(A).__name__, hint=hint)
    return int(shape[0]), int(shape[1])


def _result_type(A: Any, x: Any) -> np.dtype[Any]:
    """NumPy's type of a product of A and x; of 16 bits where no other numbers stand beside those.

    A's own type is that of its arrays of values.
    """
    given = [arrays.dtype_of(x, "x"), *_value_types(A)]
    types = {dtype: from_dtype(dtype) for dtype in given if dtype.kind != "b"}
    if len(set(types.values())) == 1:
        found = next(iter(types))
    else:
        found = np.result_type(*(read_as(t).dtype for t in types.values() if t), np.bool_)
    if found.kind == "b":
        hint = "x.astype(numpy.int32) counts"
        raise InputError("x", expected="numbers, in x or in A", given="bool in both", hint=hint)
    return found


def _value_types(A: Any) -> Iterator[np.dtype[Any]]:
    for field in type(A).__fields__.values():
        value = getattr(A, field.name)
        if field.kind == "layout":
            yield from _value_types(value)
        elif field.kind == "array":
            yield arrays.dtype_of(value, field.name)


def _check_vector(x: Any, length: int, name: str, what: str) -> None:
    found = tuple(arrays.view(x, name).shape)
    if found != (length,):
        expected = f"a vector of {length}, the {what} of A"
        raise InputError(name, expected=expected, given=f"shape {found}")
