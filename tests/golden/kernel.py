"""The kernels of the golden files, in a file of their own."""

from __future__ import annotations

import evenly as ev


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def spmm(A, X, Y):
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))


@ev.kernel
def halves(T, x, y):
    for t in T.tiles():
        y[T.begin(t)] = sum(x[k] for k in T.atoms(t))
        middle = (T.begin(t) + T.end(t)) // 2
        if middle > T.begin(t):
            T.push(T.begin(t), middle)
            T.push(middle, T.end(t))


@ev.kernel
def by_items(B, x, y):
    for item in B.items():
        xs = ev.stage(x, B.columns(item))
        for row in B.tiles(item):
            y[row] = sum(B.value(k) * xs[B.column(k)] for k in B.atoms(row))


@ev.kernel
def shares(A, out):
    """Two passes, of which the second stores at its atoms."""
    for row in A.tiles():
        total = sum(A.value(k) for k in A.atoms(row))
        for k in A.atoms(row):
            out[k] = A.value(k) / total
