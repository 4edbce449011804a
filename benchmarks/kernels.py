"""Kernels that gather nothing, for benchmarks: a row argmax, and a sum whose terms depend on their tile."""

from __future__ import annotations

import evenly as ev


@ev.kernel
def row_argmax(A, where):
    for row in A.tiles():
        best = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)
        where[row] = best


@ev.kernel
def weighted(A, w, y):
    for row in A.tiles():
        scale = w[row]
        y[row] = sum(abs(A.value(k) - scale) for k in A.atoms(row))
