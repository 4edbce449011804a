"""Kernels with scratch arrays, and the schedules that own whole tiles."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import evenly as ev
from tests.kernels import SCHEDULES


@ev.kernel
def distinct(A, m, out):
    """A hash set of each row, of open addressing: how many distinct columns it has, modulo m."""
    for row in A.tiles():
        h = ev.scratch(2 * sum(1 for k in A.atoms(row)), np.int32)
        for k in A.atoms(row):
            key = A.column(k) % m + 1
            at = 7 * key % len(h)
            while True:
                old = ev.atomic_cas(h, at, 0, key)
                if old == 0 or old == key:
                    break
                at = (at + 1) % len(h)
        out[row] = sum(1 for i in ev.lanes(len(h)) if h[i] != 0)


@ev.kernel
def histogram(A, m, out):
    """A histogram of each row with as many bins as an argument says; then how many atoms share the bins of its atoms."""
    for row in A.tiles():
        counts = ev.scratch(m, np.uint32)
        lowest = ev.scratch(m, np.int64)
        for k in A.atoms(row):
            b = A.column(k) % m
            ev.atomic_add(counts, b, 1)
            ev.atomic_min(lowest, b, -A.column(k))
        together = sum(np.int64(counts[A.column(k) % m]) for k in A.atoms(row))
        for b in ev.lanes(len(counts)):
            if counts[b] > 0:
                together += lowest[b]
        out[row] = together


@ev.kernel
def symbolic(A, m, out):
    """The rows of A @ A that a product of sparse matrices would make: how many entries each has, modulo m."""
    for row in A.tiles():
        size = sum(
            A.end(A.column(k) % A.num_tiles) - A.begin(A.column(k) % A.num_tiles)
            for k in A.atoms(row)
        )
        seen = ev.scratch(min(size, m) + 1, np.int32)
        for k in A.atoms(row):
            other = A.column(k) % A.num_tiles
            for j in range(A.begin(other), A.end(other)):
                key = A.column(j) % m + 1
                at = key % len(seen)
                old = ev.atomic_cas(seen, at, 0, key)
                while old != 0 and old != key:
                    at = (at + 1) % seen.size
                    old = ev.atomic_cas(seen, at, 0, key)
        marks = ev.scratch(seen.size, bool)
        for i in ev.lanes(seen.size):
            marks[i] = seen[i] != 0
        found = 0
        for i in range(seen.size):
            if marks[i]:
                found += 1
        out[row] = found


def rows_of(matrix: sp.csr_array) -> list[np.ndarray]:
    columns = matrix.indices.astype(np.int64)
    return [columns[a:b] for a, b in itertools.pairwise(matrix.indptr)]


def by_sets(matrix: sp.csr_array, m: int) -> list[int]:
    return [len(set(row % m)) for row in rows_of(matrix)]


def by_counts(matrix: sp.csr_array, m: int) -> list[int]:
    found = []
    for row in rows_of(matrix):
        counts = np.bincount(row % m, minlength=m)
        lowest = [-max(row[row % m == b]) for b in range(m) if counts[b]]
        found.append(int((counts**2).sum() + sum(lowest)))
    return found


def by_products(matrix: sp.csr_array, m: int) -> list[int]:
    rows = rows_of(matrix)
    return [len({c for k in row for c in rows[k % len(rows)] % m}) for row in rows]


@dataclass(frozen=True)
class Case:
    kernel: Any
    expected: Callable[[sp.csr_array, int], list[int]]


CASES = {
    "distinct": Case(distinct, by_sets),
    "histogram": Case(histogram, by_counts),
    "symbolic": Case(symbolic, by_products),
}
OWNED = {n: s for n, s in SCHEDULES.items() if s.owns_tiles}


def agrees(
    case: str, matrix: sp.csr_array, m: int, schedule: Any, target: str, **options: Any
) -> None:
    """Compare a kernel's results with plain Python's."""
    kernel, A = CASES[case].kernel, ev.csr(matrix)
    out = np.full(A.num_tiles, -9, np.int64)
    kernel[schedule].on(target, **options)(A, m, out)
    np.testing.assert_array_equal(out, CASES[case].expected(matrix, m))
