"""Sparse attention: scores at the places of a sparse matrix, their softmax over each row, and a product with it.

One kernel: the threads that own a row compute its scores (as SDDMM does), then weights, then the sum of rows of V (as
SpMM does). Scores and weights are as many as nonzeros, and are read again while they are still in a cache.
"""

from __future__ import annotations

import math
from typing import Any

import evenly as ev
from evenly import kit

TURNED = {6: "Q", 7: "K", 8: "V", 9: "out"}


@ev.kernel
def attention_rows(
    A, Q, K, V, weights, out, Q_turned, K_turned, V_turned, out_turned, scale
):  # fmt: skip
    """out = softmax(scale Q K^T) V over each row of the pattern of A. weights: memory for a number for each atom."""
    for row in A.tiles():
        for k in A.atoms(row):
            column = A.column(k)
            dot = sum(
                kit.element(Q, row, j, Q_turned) * kit.element(K, column, j, K_turned)
                for j in ev.lanes(kit.width(Q, Q_turned))
            )
            weights[k] = scale * dot
        top = max((weights[k] for k in A.atoms(row)), default=-math.inf)
        total = 0.0
        for k in A.atoms(row):
            weight = math.exp(weights[k] - top)
            weights[k] = weight
            total += weight
        for k in A.atoms(row):
            weights[k] = weights[k] / total
        for j in ev.lanes(kit.width(V, V_turned)):
            mixed = sum(weights[k] * kit.element(V, A.column(k), j, V_turned) for k in A.atoms(row))
            if out_turned is None:
                out[row, j] = mixed
            else:
                out[j, row] = mixed


def plan(
    A: Any,
    Q: Any,
    K: Any,
    V: Any,
    *,
    scale: float | None = None,
    out: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> kit.Planned:
    """Decide everything about `ev.linalg.attention(A, Q, K, V, ...)`, and return a call of it: `layer()` returns `out`.

    The arguments are those of `ev.linalg.attention`. It is repeated for other values of the arrays, or as
    `layer(Q, K, V)` for other operands of the same types. Its calls share memory for weights, so they must not run at
    the same time.
    """
    A, kernel = kit.as_rows(A, keep=True), attention_rows[schedule].on(target)
    weights: list[Any] = []

    def prepare(Q: Any, K: Any, V: Any, out: Any = None) -> kit.Call:
        call = _prepared(kernel, A, Q, K, V, scale, out, *weights)
        weights[:] = call.arguments[4:5]
        return call

    return kit.Planned(prepare, (Q, K, V), out)


@kit.with_plan(plan)
def attention(
    A: Any,
    Q: Any,
    K: Any,
    V: Any,
    *,
    scale: float | None = None,
    out: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Compute softmax(scale Q K^T) V, where row i attends to the columns of the nonzeros of row i of A.

    It is PyTorch's `scaled_dot_product_attention` with a sparse mask, in one kernel. Nothing of the size of the dense
    scores is made. Rows without a nonzero are 0. The values of A are not read.

    A: (m, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout whose tiles are rows, or are grouped by rows first
      (CSC, COO). Every atom counts, also the zeros of BCSR's blocks.
    Q, K, V: (m, d), (n, d) and (n, e), real numbers, on the same device as A; in C or Fortran order, others are copied.
    scale: default: 1 / sqrt(d).
    out: (m, e), an array for the result, on the same device. Default: a new array of the library of Q, of NumPy's
      result type of Q, K and V; float16 or bfloat16 if all are (scores and sums are float32).
    schedule, target: as of `ev.spmv`. Under a schedule that splits rows, each pass is a launch.

    The same arguments give the same bits on every run, except under "tuned". Raises InputError if shapes, dtypes or
    devices do not match, for complex numbers, and for a subset of rows.

    Source: the chain of SDDMM, softmax and SpMM of graph attention networks (Velickovic and others, ICLR 2018).

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1, 0, 1], [0, 1, 0]])
    >>> ev.linalg.attention(A, np.zeros((2, 4)), np.zeros((3, 4)), np.array([[1.0], [2.0], [5.0]]))
    array([[3.],
           [2.]])
    """
    kernel = attention_rows[schedule].on(target)
    return _prepared(kernel, kit.as_rows(A), Q, K, V, scale, out).run()


def _prepared(
    kernel: Any,
    A: Any,
    Q: Any,
    K: Any,
    V: Any,
    scale: float | None,
    out: Any,
    weights: Any = None,
) -> kit.Call:
    rows, columns = kit.shape(A)
    if kit.leaves_rows(A):
        raise ev.InputError(
            "A",
            expected="all rows of a matrix: a subset's atoms keep their numbers",
            given=type(A).__name__,
            hint="compute the whole matrix, or make one of these rows",
        )
    given = [kit.dense(x, name) for x, name in ((Q, "Q"), (K, "K"), (V, "V"))]
    width, wide = Q.shape[1], V.shape[1]
    kit.check_shape(Q, (rows, width), "Q", "as many rows as A")
    kit.check_shape(K, (columns, width), "K", "as many rows as A has columns, as wide as Q")
    kit.check_shape(V, (columns, wide), "V", "as many rows as A has columns")
    for x, name in ((K, "K"), (V, "V")):
        kit.check_beside(x, name, Q, "Q")
    with kit.renamed(x="Q"):
        kit.result_type(Q, K)  # not both bool
        found = kit.result_type(Q, K, V)
    if found.kind not in "fV":
        raise ev.InputError("Q", expected="real numbers of a floating-point type", given=str(found))
    if out is None:
        out = kit.empty(Q, (rows, wide), found)
    kit.check_output(out, (rows, wide), Q, "Q", "the rows of A and the columns of V")
    kit.check_holds(out, found)
    to = kit.dense(out, "out")
    held = kit.held_as(out)
    if weights is None:
        weights = kit.empty(Q, (kit.atom_count(A),), held)
    scale = max(width, 1) ** -0.5 if scale is None else scale
    factor = kit.number_of(scale, held, "scale")
    arrays = *(x.array for x in given), weights, to.array
    turned = *(x.turned for x in given), to.turned
    written = to.array if to.copied else None
    return kit.Call(kernel, (A, *arrays, *turned, factor), out, {}, written, TURNED)
