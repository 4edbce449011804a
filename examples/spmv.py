"""SpMV, y = A x: one kernel for CSR, ELL, DIA and BCSR, and one with atomics for CSC and COO.

Run it: python examples/spmv.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat
from evenly.layouts import convert


@ev.kernel
def spmv(A, x, y):
    """y = A x for layouts whose tiles are rows: CSR, ELL, DIA, BCSR, their subsets, your own."""
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def spmv_scatter(A, x, y):
    """y += A x for layouts whose tiles are columns (CSC) or nonzeros (COO). y must start as zeros."""
    for tile in A.tiles():
        for k in A.atoms(tile):
            ev.atomic_add(y, A.row(k), A.value(k) * x[A.column(k)])


KERNELS = {
    "csr": spmv, "ell": spmv, "dia": spmv, "bcsr": spmv, "csc": spmv_scatter, "coo": spmv_scatter,
}  # fmt: skip


def main(schedule="auto", target=None, layouts=tuple(KERNELS), matrix=None):
    target = target or best()
    matrix = rmat(6) if matrix is None else matrix
    x = np.random.default_rng(0).random(matrix.shape[1]).astype(matrix.dtype)
    for layout in layouts:
        A, x_there, y = put(target, convert(matrix, layout), x, np.zeros(matrix.shape[0], x.dtype))
        KERNELS[layout][schedule].on(target)(A, x_there, y)
        np.testing.assert_allclose(get(y), matrix @ x, rtol=1e-4, atol=1e-6)


if __name__ == "__main__":
    main()
    print(f"spmv over {', '.join(KERNELS)} on {best()}: equal to SciPy's result")
