"""SpMV fused with a dot product: y = A p and p . y in one kernel, as conjugate gradients need it.

`dot` is accumulated over all tiles. This is a grid reduction: deterministic, without atomics.

Run it: python examples/spmv_dot.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import stencil


@ev.kernel
def spmv_dot(A, p, y, result):
    dot = 0.0
    for row in A.tiles():
        y_row = sum(A.value(k) * p[A.column(k)] for k in A.atoms(row))
        y[row] = y_row
        dot += p[row] * y_row
    result[0] = dot


def main(schedule="auto", target=None):
    target = target or best()
    matrix = stencil(20, np.float64)
    p = np.random.default_rng(0).random(matrix.shape[1])
    A, p_there, y, result = put(target, ev.csr(matrix), p, np.empty_like(p), np.empty(1))
    spmv_dot[schedule].on(target)(A, p_there, y, result)
    np.testing.assert_allclose(get(y), matrix @ p, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(get(result)[0], p @ (matrix @ p), rtol=1e-12)


if __name__ == "__main__":
    main()
    print(f"spmv with a dot product on {best()}: equal to SciPy's result")
