"""SpMV, y = A x: a sparse matrix times a dense vector.

There are two kernels: one for layouts whose tiles are rows, and one for the others. Neither
depends on the schedule or the target.
"""

from __future__ import annotations

from typing import Any

import evenly as ev
from evenly import kit


@ev.kernel
def spmv_rows(A, x, y):
    """y = A x for layouts whose tiles are rows: CSR, ELL, BCSR, DIA, their subsets, a user's own."""
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


_checked = spmv_rows.copy()  # it remembers only calls that have passed the checks of `spmv`
_product = _checked["auto"]


@ev.kernel
def spmv_atoms(A, x, y):
    """y += A x with atomics, for layouts whose tiles are columns (CSC) or nonzeros (COO)."""
    for tile in A.tiles():
        for k in A.atoms(tile):
            ev.atomic_add(y, A.row(k), A.value(k) * x[A.column(k)])


def spmv(A: Any, x: Any, out: Any = None, *, schedule: Any = "auto", target: str = "auto") -> Any:
    """Compute y = A x. The result is an array of the same library as x (NumPy, CuPy, PyTorch, `ev.DeviceArray`).

    A: (m, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout (`ev.csr`, ..., or your
      own whose tiles are rows).
    x: (n,), contiguous, on the same device as A.
    out: (m,), an array for the result, on the same device. It may not overlap A or x.
      Default: a new array of NumPy's result type of A and x; float16 or bfloat16 if both are.
      Sums of 16-bit values are float32, and an `out` of float32 keeps them. Over a subset of
      rows, the other rows of `out` stay as they are; in a new array they are 0.
    schedule: "auto", a name such as "merge_path", or a schedule such as `ev.MergePath()`.
    target: "auto" (where the arrays are), "cuda", "cpu", "simt" or "python".

    The same arguments give the same bits on every run. For that, CSC and COO are grouped by
    row first, at every call: convert them with `ev.csr` or `A.tocsr()` to multiply often. After
    you change the structure of a matrix in place, "auto" may use its choice for the old one.

    Raises InputError if shapes, dtypes or devices do not match.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> ev.spmv(A, np.array([1.0, 10.0, 100.0]))
    array([201.,  30.])
    """
    product = _product if schedule == target == "auto" else _checked[schedule].on(target)
    if out is not None and product.repeat(A, x, out):
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
        ours = error.location.file == __file__  # else the mistake is in a user's layout
        if not ours or out.dtype == found:
            raise
        # Only one thing here depends on types: `out` cannot store the products.
        expected = f"an array for products of {found}"
        raise ev.InputError("out", expected=expected, given=str(out.dtype)) from None
    return out
