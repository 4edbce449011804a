"""The kernels of PyTorch's operators. P is a pattern as a layout; its values are an array beside it.

So plans keep what follows from a pattern, whatever values it gets. order: None, or the place of each nonzero's value.
"""

from __future__ import annotations

import math

import evenly as ev


@ev.func
def place(order, k):
    """The place of nonzero k among the values."""
    if order is None:
        return k
    return order[k]


@ev.kernel
def spmv(P, order, values, x, y, adds):
    """y = A x, or y += A x if `adds` is not None."""
    for row in P.tiles():
        product = sum(values[place(order, k)] * x[P.column(k)] for k in P.atoms(row))
        y[row] = product if adds is None else y[row] + product


@ev.kernel
def spmm(P, order, values, B, C, adds):
    for row in P.tiles():
        for j in ev.lanes(B.shape[1]):
            product = sum(values[place(order, k)] * B[P.column(k), j] for k in P.atoms(row))
            C[row, j] = product if adds is None else C[row, j] + product


@ev.kernel
def spmm_gradients(P, order, values, B, G, of_values, of_B, adds):
    """Of C = A B, where G is the gradient of C and P has the pattern of A^T: those of A's values, and of B.

    Both are of the same rows of G, each of which is read once.
    """
    for column in P.tiles():
        for j in ev.lanes(B.shape[1]):
            product = 0
            for k in P.atoms(column):
                row = P.column(k)
                dot = sum(G[row, i] * B[column, i] for i in ev.lanes(B.shape[1]))
                of_values[place(order, k)] = dot
                product += values[place(order, k)] * G[row, j]
            of_B[column, j] = product if adds is None else of_B[column, j] + product


@ev.kernel
def sddmm(P, order, X, Y, out):
    for row in P.tiles():
        for k in P.atoms(row):
            column = P.column(k)
            dot = sum(X[row, j] * Y[column, j] for j in ev.lanes(X.shape[1]))
            out[place(order, k)] = dot


@ev.kernel
def softmax(P, order, scores, out):
    for row in P.tiles():
        top = max((scores[place(order, k)] for k in P.atoms(row)), default=-math.inf)
        total = sum(math.exp(scores[place(order, k)] - top) for k in P.atoms(row))
        for k in P.atoms(row):
            out[place(order, k)] = math.exp(scores[place(order, k)] - top) / total


@ev.kernel
def softmax_backward(P, order, result, gradient, out):
    """d scores = result * (gradient - sum(gradient * result) over the row)."""
    for row in P.tiles():
        mean = sum(result[place(order, k)] * gradient[place(order, k)] for k in P.atoms(row))
        for k in P.atoms(row):
            at = place(order, k)
            out[at] = result[at] * (gradient[at] - mean)


@ev.kernel
def repeat(R, y, out):
    """Each element of a list is what y has for the list."""
    for t in R.tiles():
        for k in R.atoms(t):
            out[k] = y[t]


@ev.kernel
def repeat_rows(R, y, out):
    for t in R.tiles():
        for k in R.atoms(t):
            for j in ev.lanes(y.shape[1]):
                out[k, j] = y[t, j]
