"""Subsets whose number of tiles is in GPU memory: the host never reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import evenly as ev
from evenly.language.names import atomic_add
from tests.batteries import matrices, vector

NAMES = ("power law", "a tile longer than a block", "many empty between", "all equal")


@ev.kernel
def reached(F, x, y, degrees, visits):
    for row in F.tiles():
        y[row] = sum(F.value(k) * x[F.column(k)] for k in F.atoms(row))
        size = 0
        for k in F.atoms(row):
            size += 1
            atomic_add(visits, k, 1)
        degrees[row] = size


def reaches_what_it_names(
    schedule: Any,
    target: str,
    share: float,
    put: Callable[[Any], Any] = np.asarray,
    get: Callable[[Any], np.ndarray] = np.asarray,
    **options: Any,
) -> None:
    """Run `reached` on frontiers of a share of the rows. put, get: move arrays to `target` and back."""
    for name in NAMES:
        matrix = matrices(np.float32)[name]
        rows = matrix.shape[0]
        order = np.random.default_rng(3).permutation(rows).astype(np.int32)
        used = int(rows * share)
        base = ev.csr(
            (put(matrix.data), put(matrix.indices), put(matrix.indptr)), shape=matrix.shape
        )
        frontier = ev.subset(base, put(order), count=put(np.array([used], np.int32)))
        x = vector(matrix.shape[1])
        y, degrees = put(np.full(rows, -7, np.float32)), put(np.full(rows, -7, np.int64))
        visits = put(np.zeros(matrix.nnz, np.int32))
        reached[schedule].on(target, **options)(frontier, put(x), y, degrees, visits)
        inside = np.zeros(rows, bool)
        inside[order[:used]] = True
        lengths = np.diff(matrix.indptr)
        np.testing.assert_array_equal(get(y), np.where(inside, matrix @ x, -7), err_msg=name)
        np.testing.assert_array_equal(get(degrees), np.where(inside, lengths, -7))
        np.testing.assert_array_equal(get(visits), np.repeat(inside, lengths))
