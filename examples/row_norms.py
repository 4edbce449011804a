"""The Euclidean norm of each row, with an `@ev.func`: a function that kernels may call.

Run it: python examples/row_norms.py
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse.linalg
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.func
def square(v):
    return v * v


@ev.kernel
def row_norms(A, norms):
    for row in A.tiles():
        norms[row] = math.sqrt(sum(square(A.value(k)) for k in A.atoms(row)))


def main(schedule="auto", target=None, matrix=None):
    target = target or best()
    matrix = rmat(6) if matrix is None else matrix
    A, norms = put(target, ev.csr(matrix), np.empty(matrix.shape[0], matrix.dtype))
    row_norms[schedule].on(target)(A, norms)
    np.testing.assert_allclose(get(norms), scipy.sparse.linalg.norm(matrix, axis=1), rtol=1e-5)


if __name__ == "__main__":
    main()
    print(f"row norms on {best()}: equal to SciPy's results")
