"""SDDMM: the entries of a dense product X Y^T at the places of a sparse matrix, scaled by its values.

Each atom computes a dot product of two dense rows, over lanes that accumulate.

Run it: python examples/sddmm.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def sddmm(A, X, Y, out):
    for row in A.tiles():
        for k in A.atoms(row):
            column = A.column(k)
            out[k] = A.value(k) * sum(X[row, j] * Y[column, j] for j in ev.lanes(X.shape[1]))


def main(schedule="auto", target=None, width=7):
    target = target or best()
    matrix = rmat(6)
    rng = np.random.default_rng(0)
    X, Y = (rng.random((n, width)).astype(matrix.dtype) for n in matrix.shape)
    A, X_there, Y_there, out = put(target, ev.csr(matrix), X, Y, np.empty_like(matrix.data))
    sddmm[schedule].on(target)(A, X_there, Y_there, out)
    expected = matrix.multiply(X @ Y.T).tocsr()
    np.testing.assert_allclose(get(out), expected.data, rtol=1e-4)


if __name__ == "__main__":
    main()
    print(f"sddmm on {best()}: equal to SciPy's result")
