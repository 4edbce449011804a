"""SpMV, y = A x: a sparse matrix times a dense vector.

Two kernels, one for the layouts whose tiles are rows and one for the others; under which
schedule they run, and where, is nobody's business here.
"""

from __future__ import annotations

from typing import Any

import evenly as ev
from evenly import kit


@ev.kernel
def spmv_rows(A, x, y):
    """A tile is a row: CSR, ELL, BCSR, DIA, a subset of one of them, your own."""
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


_checked = spmv_rows.apart()  # the calls that it remembers have passed the checks of `spmv`
_product = _checked["auto"]


@ev.kernel
def spmv_atoms(A, x, y):
    """A tile is a column (CSC) or a nonzero (COO): they add to y, which must be zero before."""
    for tile in A.tiles():
        for k in A.atoms(tile):
            ev.atomic_add(y, A.row(k), A.value(k) * x[A.column(k)])


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
    product = _product if schedule == target == "auto" else _checked[schedule].on(target)
    if out is not None and product.again(A, x, out):
        return out
    A = kit.as_rows(A)
    rows, columns = kit.shape(A)
    kit.check_shape(x, (columns,), "x", "the columns of A")
    if out is None:
        make = kit.zeros if kit.leaves_rows(A) else kit.empty
        out = make(x, (rows,), kit.result_type(x, A))
    else:
        kit.check_shape(out, (rows,), "out", "the rows of A")
    try:
        with kit.renamed(y="out"):
            product(A, x, out)
    except ev.LanguageError as error:
        found = kit.result_type(x, A)
        ours = error.location.file == __file__  # else it is a mistake in a layout of the user's
        if not ours or out.dtype == found:
            raise
        # The one thing that types decide here: an `out` that the products are not stored into.
        expected = f"an array for products of {found}"
        raise ev.InputError("out", expected=expected, given=str(out.dtype)) from None
    return out
