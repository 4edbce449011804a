"""SpMM, C = A B: a sparse matrix times a dense one.

The columns of B are lanes, which threads may divide among them (docs/kernels.md, "Dense axes"). The kernel takes
dense matrices in C order; one in Fortran order is the transpose of such a matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

NAMES = {"C": "out", "alphas": "alpha", "betas": "beta"}
TURNED = {3: "B", 4: "out"}
_ONE, _ZERO = 1, 0  # the defaults


@ev.kernel
def spmm_rows(A, B, C, B_turned, C_turned, alpha, beta, alphas, betas, adds):
    """C = alpha A B + beta C. B_turned, C_turned: None, or 1 if B or C has the transpose. Others: see `kit.Scales`."""
    for row in A.tiles():
        for j in ev.lanes(kit.width(C, C_turned)):
            product = sum(
                A.value(k) * kit.element(B, A.column(k), j, B_turned) for k in A.atoms(row)
            )
            old = 0 if adds is None else kit.element(C, row, j, C_turned)
            result = kit.scaled(product, old, alpha, beta, alphas, betas, adds)
            if C_turned is None:
                C[row, j] = result
            else:
                C[j, row] = result


def plan(
    A: Any,
    B: Any,
    *,
    out: Any = None,
    alpha: Any = 1,
    beta: Any = 0,
    schedule: Any = "auto",
    target: str = "auto",
) -> kit.Planned:
    """Decide everything about `ev.linalg.spmm(A, B, ...)`, and return a call of it: `product()` returns C.

    The arguments are those of `ev.linalg.spmm`. It is repeated for other values of the arrays, or as `product(B)` and
    `product(B, out=C)` for other dense matrices of the same types. If A is CSC or COO, as `A.T` of a CSR matrix is, the
    plan keeps how its nonzeros are grouped by row, and reads their values at each call.
    """
    A, kernel = kit.as_rows(A, keep=True), spmm_rows[schedule].on(target)

    def prepare(B: Any, out: Any = None) -> kit.Call:
        return _prepared(kernel, A, B, out, alpha, beta)

    return kit.Planned(prepare, (B,), out)


@kit.with_plan(plan)
def spmm(
    A: Any,
    B: Any,
    *,
    out: Any = None,
    alpha: Any = _ONE,
    beta: Any = _ZERO,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Compute C = A B, or C = alpha A B + beta C, for a sparse A and dense B and C.

    The result is an array of the same library as B (NumPy, CuPy, PyTorch, `ev.DeviceArray`).

    A: (m, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout (`ev.csr`, ..., or your own whose tiles are
      rows). `A.T` is the transpose of a layout of `ev.csr`, `ev.csc` or `ev.coo`.
    B: (n, k), on the same device as A. It is read where it lies if it is in C or in Fortran order, and copied if it has
      other strides. C order is faster: the threads along a row read adjacent elements.
    out: (m, k), an array for the result, on the same device, of any strides. It may not overlap A or B. Default: a new
      array in C order, of NumPy's result type of A and B; float16 or bfloat16 if both are (sums are float32). Over a
      subset of rows, the other rows of `out` stay as they are; in a new array they are 0.
    alpha, beta: as of `ev.spmv`. With beta, `out` is C.
    schedule: as of `ev.spmv`. "auto" also chooses how many threads lie along the columns.
    target: "auto" (where the arrays are), "cuda", "cpu", "simt" or "python".

    The same arguments give the same bits on every run, except under "tuned". For that, CSC and COO are grouped by row
    first, at every call; `ev.linalg.spmm.plan` does it once. One column of NumPy's, without `out`, alpha and beta, is a
    product with a vector, for which "auto" groups nothing (see `ev.spmv`). Raises InputError if shapes, dtypes or
    devices do not match, and for a beta without `out`.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> ev.linalg.spmm(A, np.arange(6.0).reshape(3, 2))
    array([[ 8., 11.],
           [ 6.,  9.]])
    """
    plain = alpha is _ONE and beta is _ZERO and out is None
    if plain and type(B) is np.ndarray and B.shape[1:] == (1,):
        return _of_a_column(A, B, schedule, target)
    kernel = spmm_rows[schedule].on(target)
    return _prepared(kernel, kit.as_rows(A), B, out, alpha, beta).run()


def _of_a_column(A: Any, B: Any, schedule: Any, target: str) -> Any:
    """For a matrix of NumPy: on a CPU a vector takes less time than lanes, of which there is one."""
    rows, columns = kit.shape(A)
    kit.dense(B, "B")  # whose hints name B, where those for a vector name x
    kit.check_shape(B, (columns, 1), "B", "as many rows as A has columns")
    with kit.renamed(x="B"):
        return ev.spmv(A, B.ravel(), schedule=schedule, target=target).reshape(rows, 1)


def _prepared(kernel: Any, A: Any, B: Any, out: Any, alpha: Any, beta: Any) -> kit.Call:
    rows, columns = kit.shape(A)
    given = kit.dense(B, "B")
    width = B.shape[1]
    kit.check_shape(B, (columns, width), "B", "as many rows as A has columns")
    scales = kit.scales(alpha, beta, B, "B")
    scales.check_out(out, "C")
    with kit.renamed(x="B"):
        found = kit.result_type(B, A)
    scales = kit.Scales() if scales.leaves(found) else scales
    found = scales.type_of(found, out)
    if out is None:
        out = (kit.zeros if kit.leaves_rows(A) else kit.empty)(B, (rows, width), found)
    kit.check_output(out, (rows, width), B, "B", "the rows of A and the columns of B")
    kit.check_holds(out, found)
    to = kit.dense(out, "out")
    arguments = A, given.array, to.array, given.turned, to.turned, *scales
    return kit.Call(kernel, arguments, out, NAMES, to.array if to.copied else None, TURNED)
