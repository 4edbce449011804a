"""SDDMM: the entries of a dense product X Y^T at the places of a sparse matrix.

Each nonzero is a dot product of two rows, whose elements are lanes that reduce (docs/kernels.md, "Dense axes").
"""

from __future__ import annotations

from typing import Any

import evenly as ev
from evenly import kit

NAMES = {"alphas": "alpha", "betas": "beta"}
TURNED = {4: "X", 5: "Y"}


@ev.func
def entry(A, k, row, X, Y, X_turned, Y_turned, weighted):
    """Entry k of X Y^T at the pattern of A, times A's value if `weighted` is not None."""
    column = A.column(k)
    dot = sum(
        kit.element(X, row, j, X_turned) * kit.element(Y, column, j, Y_turned)
        for j in ev.lanes(kit.width(X, X_turned))
    )
    return dot if weighted is None else A.value(k) * dot


@ev.kernel
def sddmm_rows(
    A, X, Y, out, X_turned, Y_turned, weighted, alpha, beta, alphas, betas, adds
):  # fmt: skip
    """out = alpha (X Y^T at A's pattern) + beta out, for layouts whose tiles are rows."""
    for row in A.tiles():
        for k in A.atoms(row):
            product = entry(A, k, row, X, Y, X_turned, Y_turned, weighted)
            old = 0 if adds is None else out[k]
            out[k] = kit.scaled(product, old, alpha, beta, alphas, betas, adds)


@ev.kernel
def sddmm_atoms(
    A, X, Y, out, X_turned, Y_turned, weighted, alpha, beta, alphas, betas, adds
):  # fmt: skip
    """The same for layouts whose tiles are columns (CSC) or nonzeros (COO)."""
    for tile in A.tiles():
        for k in A.atoms(tile):
            product = entry(A, k, A.row(k), X, Y, X_turned, Y_turned, weighted)
            old = 0 if adds is None else out[k]
            out[k] = kit.scaled(product, old, alpha, beta, alphas, betas, adds)


def plan(
    A: Any,
    X: Any,
    Y: Any,
    *,
    out: Any = None,
    weighted: bool = True,
    alpha: Any = 1,
    beta: Any = 0,
    schedule: Any = "auto",
    target: str = "auto",
) -> kit.Planned:
    """Decide everything about `ev.linalg.sddmm(A, X, Y, ...)`, and return a call of it: `product()` returns the values.

    The arguments are those of `ev.linalg.sddmm`. It is repeated for other values of the arrays, or as `product(X, Y)`
    for other dense matrices of the same types.
    """
    A, by_rows = kit.by_atoms(A)
    kernel = _kernel(by_rows)[schedule].on(target)

    def prepare(X: Any, Y: Any, out: Any = None) -> kit.Call:
        return _prepared(kernel, A, X, Y, out, weighted, alpha, beta)

    return kit.Planned(prepare, (X, Y), out)


@kit.with_plan(plan)
def sddmm(
    A: Any,
    X: Any,
    Y: Any,
    *,
    out: Any = None,
    weighted: bool = True,
    alpha: Any = 1,
    beta: Any = 0,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Compute X Y^T at the nonzeros of A, times their values: out[k] = A[i, j] * sum(X[i, l] * Y[j, l] over l).

    i and j are the row and the column of nonzero k. Returns the values alone, (nonzeros,), in A's order: with A's
    indices and offsets they are a matrix of the same pattern. `torch.sparse.sampled_addmm(S, X, Y.T, beta=0)` and
    `dgl.sparse.sddmm(A, X, Y.T)` take the second operand transposed; the first of them does not read A's values, as
    `weighted=False` here.

    A: (m, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout. Slots of padded layouts without a nonzero give 0.
    X, Y: (m, d) and (n, d), on the same device as A; in C or Fortran order, others are copied. C order is faster.
    out: (nonzeros,), contiguous, on the same device. It may not overlap the others. Default: a new array of the library
      of X, of NumPy's result type of X, Y and A; float16 or bfloat16 if all are (sums are float32).
    weighted: whether A's values are factors. False: they are not read, and do not count for the type.
    alpha, beta: as of `ev.spmv`: out = alpha * (...) + beta * out.
    schedule, target: as of `ev.spmv`.

    The same arguments give the same bits on every run, except under "tuned". Raises InputError if shapes, dtypes or
    devices do not match, and for a beta without `out`.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> X, Y = np.array([[1.0, 1.0], [0.0, 1.0]]), np.arange(6.0).reshape(3, 2)
    >>> ev.linalg.sddmm(A, X, Y)
    array([ 1., 18.,  9.])
    >>> ev.linalg.sddmm(A, X, Y, weighted=False)
    array([1., 9., 3.])
    """
    A, by_rows = kit.by_atoms(A)
    kernel = _kernel(by_rows)[schedule].on(target)
    return _prepared(kernel, A, X, Y, out, weighted, alpha, beta).run()


def _kernel(by_rows: bool) -> Any:
    return sddmm_rows if by_rows else sddmm_atoms


def _prepared(
    kernel: Any, A: Any, X: Any, Y: Any, out: Any, weighted: bool, alpha: Any, beta: Any
) -> kit.Call:
    rows, columns = kit.shape(A)
    if kit.leaves_rows(A):
        raise ev.InputError(
            "A",
            expected="all rows of a matrix: a subset's atoms keep their numbers",
            given=type(A).__name__,
            hint="compute the values of the whole matrix, or make one of these rows",
        )
    left, right = kit.dense(X, "X"), kit.dense(Y, "Y")
    width = X.shape[1]
    kit.check_shape(X, (rows, width), "X", "as many rows as A")
    kit.check_shape(Y, (columns, width), "Y", "as many rows as A has columns, as wide as X")
    kit.check_beside(Y, "Y", X, "X")
    scales = kit.scales(alpha, beta, X, "X")
    scales.check_out(out, "out")
    with kit.renamed(x="X"):
        found = kit.result_type(X, Y)  # not both bool
        found = kit.result_type(X, Y, A) if weighted else found
    scales = kit.Scales() if scales.leaves(found) else scales
    found = scales.type_of(found, out)
    count = kit.atom_count(A)
    if out is None:
        out = kit.zeros(X, (count,), found)
    kit.check_output(out, (count,), X, "X", "as many as A has nonzeros")
    kit.check_holds(out, found)
    flag = 1 if weighted else None
    arguments = A, left.array, right.array, out, left.turned, right.turned, flag, *scales
    return kit.Call(kernel, arguments, out, NAMES, turned=TURNED)
