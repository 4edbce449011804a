"""SpMM, Y = A X for a dense X. The columns of X are lanes, which threads may divide among them.

Run it: python examples/spmm.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def spmm(A, X, Y):
    for row in A.tiles():
        for j in ev.lanes(Y.shape[1]):
            Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))


def main(schedule="auto", target=None, columns=5):
    target = target or best()
    matrix = rmat(6)
    X = np.random.default_rng(0).random((matrix.shape[1], columns)).astype(matrix.dtype)
    A, X_there, Y = put(target, ev.csr(matrix), X, np.empty((matrix.shape[0], columns), X.dtype))
    spmm[schedule].on(target)(A, X_there, Y)
    np.testing.assert_allclose(get(Y), matrix @ X, rtol=1e-4)


if __name__ == "__main__":
    main()
    print(f"spmm on {best()}: equal to SciPy's result")
