"""Sparse attention: scores at the places of a sparse matrix, their softmax over each row, and a product with it.

One pass over the atoms of a row: each has a score, and adds its row of V, weighed by the exponential of that, to what
the ones before have added. If its score is the greatest so far, that is scaled. So rows of K and V are read once, and
scores are nowhere in memory.

Source: Milakov, Gimelshein, "Online normalizer calculation for softmax" (2018); with the product, section 3.1 of Dao
and others, "FlashAttention" (NeurIPS 2022).
"""

from __future__ import annotations

import math
from typing import Any

import evenly as ev
from evenly import kit

TURNED = {5: "Q", 6: "K", 7: "V", 8: "out"}
NONE = (-math.inf, 0.0, 0.0)  # the mean of no rows
LOG2_E = 1 / math.log(2)  # powers of 2 take fewer instructions


@ev.func
def product(A, k, row, Q, K, Q_turned, K_turned):
    """The product of the rows of Q and K that nonzero k is at."""
    column = A.column(k)
    return sum(
        kit.element(Q, row, i, Q_turned) * kit.element(K, column, i, K_turned)
        for i in ev.lanes(kit.width(Q, Q_turned))
    )


@ev.func
def joined(a, b):
    """Two weighed sums as one: (top, total, mixed), sums of weights and of weighed rows, over 2 to the power top."""
    top = max(a[0], b[0])
    less = math.exp2(-abs(a[0] - b[0]))
    left, right = less if a[0] < top else 1.0, less if b[0] < top else 1.0
    return top, a[1] * left + b[1] * right, a[2] * left + b[2] * right


@ev.func
def mean(top, total, mixed):
    """The weighed mean: 0 of no rows, nan if the greatest score is infinite."""
    if total == 0:
        return 0.0 * total
    return mixed / total if abs(top) < math.inf else top - top


@ev.kernel
def attention_rows(
    A, Q, K, V, out, Q_turned, K_turned, V_turned, out_turned, scale, one
):  # fmt: skip
    """out = softmax(scale ln(2) Q K^T) V over each row of the pattern of A. one: 1, of the type of sums."""
    for row in A.tiles():
        for j in ev.lanes(kit.width(V, V_turned)):
            top, total, mixed = ev.reduce(
                joined,
                (
                    (
                        scale * product(A, k, row, Q, K, Q_turned, K_turned),
                        one,
                        kit.element(V, A.column(k), j, V_turned),
                    )
                    for k in A.atoms(row)
                ),
                NONE,
            )
            result = mean(top, total, mixed)
            if out_turned is None:
                out[row, j] = result
            else:
                out[j, row] = result


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
    `layer(Q, K, V)` for other operands of the same types.
    """
    A, kernel = kit.as_rows(A, keep=True), attention_rows[schedule].on(target)

    def prepare(Q: Any, K: Any, V: Any, out: Any = None) -> kit.Call:
        return _prepared(kernel, A, Q, K, V, scale, out)

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

    It is PyTorch's `scaled_dot_product_attention` with a sparse mask, in one kernel. No scores are kept in memory. Rows
    without a nonzero are 0. The values of A are not read.

    A: (m, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout whose tiles are rows, or are grouped by rows first
      (CSC, COO). Every atom counts, also the zeros of BCSR's blocks.
    Q, K, V: (m, d), (n, d) and (n, e), real numbers, on the same device as A; in C or Fortran order, others are copied.
    scale: default: 1 / sqrt(d).
    out: (m, e), an array for the result, on the same device. Default: a new array of the library of Q, of NumPy's
      result type of Q, K and V; float16 or bfloat16 if all are (scores and sums are float32).
      Over a subset of rows, the other rows of `out` stay as they are; in a new array they are 0.
    schedule, target: as of `ev.spmv`. Schedules that split rows compute the scores anew for each column of V.

    The same arguments give the same bits on every run, except under "tuned". Raises InputError if shapes, dtypes or
    devices do not match, and for complex numbers.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1, 0, 1], [0, 1, 0]])
    >>> ev.linalg.attention(A, np.zeros((2, 4)), np.zeros((3, 4)), np.array([[1.0], [2.0], [5.0]]))
    array([[3.],
           [2.]])
    """
    kernel = attention_rows[schedule].on(target)
    return _prepared(kernel, kit.as_rows(A), Q, K, V, scale, out).run()


def _prepared(
    kernel: Any, A: Any, Q: Any, K: Any, V: Any, scale: float | None, out: Any
) -> kit.Call:
    rows, columns = kit.shape(A)
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
        out = (kit.zeros if kit.leaves_rows(A) else kit.empty)(Q, (rows, wide), found)
    kit.check_output(out, (rows, wide), Q, "Q", "the rows of A and the columns of V")
    kit.check_holds(out, found)
    to = kit.dense(out, "out")
    held = kit.held_as(out)
    scale = max(width, 1) ** -0.5 if scale is None else scale
    factor = kit.number_of(scale, held, "scale") * held.type(LOG2_E)
    arrays = *(x.array for x in given), to.array
    turned = *(x.turned for x in given), to.turned
    written = to.array if to.copied else None
    return kit.Call(kernel, (A, *arrays, *turned, factor, held.type(1)), out, {}, written, TURNED)
