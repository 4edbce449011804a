"""The kernels that all targets are tested with, each with its arguments and what it stores.

A case makes its arguments from a layout and the matrix behind it. The reference is target
`python` on the CSR layout of the same matrix; on the same layout, where a kernel sees more
than the matrix (the zeros that some layouts fill in).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

import evenly as ev
from evenly.layouts import TABLE as LAYOUTS
from evenly.layouts import convert
from evenly.layouts.grouped import tiles_are_rows
from evenly.schedules import TABLE
from tests.batteries import matrices, vector
from tests.shared import once


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def row_extremes(A, least, greatest, where):
    for row in A.tiles():
        least[row] = min((A.value(k) for k in A.atoms(row)), default=7.0)
        greatest[row] = max(
            (A.value(k) for k in A.atoms(row) if A.column(k) % 2 == 0), default=-math.inf
        )
        best = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)
        where[row] = A.column(best) if best >= 0 else -1


@ev.func
def square(v):
    return v * v


@ev.kernel
def row_norms(A, y):
    for row in A.tiles():
        y[row] = math.sqrt(sum(square(A.value(k)) for k in A.atoms(row)))


@ev.kernel
def softmax_rows(A, x, y):
    """Three passes; the result of a row is its expectation of x."""
    for row in A.tiles():
        top = max((A.value(k) for k in A.atoms(row)), default=0.0)
        total = sum(math.exp(A.value(k) - top) for k in A.atoms(row))
        if total > 0:
            mean = sum(math.exp(A.value(k) - top) / total * x[A.column(k)] for k in A.atoms(row))
            y[row] = mean
        else:
            y[row] = -1.0


@ev.kernel
def spmv_dot(A, x, w, y, out):
    total = 0.0
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
        total += y[row] * w[row]
    out[0] = total


@ev.kernel
def spmm(A, X, Y):
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))


@ev.kernel
def weighted_by_tile(A, scale, y):
    """A value that depends on its tile, and a loop that accumulates two things."""
    for row in A.tiles():
        acc = 1.0
        count = 0
        for k in A.atoms(row):
            acc += A.value(k) * scale[row] * (row % 5)
            if A.column(k) > row:
                count += 1
        y[row] = acc + count


@ev.kernel
def two_loops(A, x, y, z):
    """The second loop over tiles reads what the first one stored, at other tiles."""
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
    for row in A.tiles():
        z[row] = sum(y[A.column(k) % len(y)] for k in A.atoms(row))


@ev.kernel
def column_counts(A, counts, longest):
    """Effects only: integer atomics."""
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(counts, A.column(k), 1)
            ev.atomic_max(longest, 0, A.column(k) + 1)


@ev.kernel
def normalised(A, y, z):
    """A scalar of the first loop is used in the second."""
    total = 0.0
    biggest = -1
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))
        total += y[row]
        biggest = max(biggest, row)
    mean = total / max(biggest + 1, 1)
    for row in A.tiles():
        z[row] = y[row] - mean


@ev.kernel
def bucket_counts(A, counts, y):
    """A histogram of each row, and the mean of the weights of its buckets in a second pass."""
    for row in A.tiles():
        h = ev.local(3, np.int32)
        for k in A.atoms(row):
            h[A.column(k) % 3] += 1
        y[row] = sum(A.value(k) * h[A.column(k) % 3] for k in A.atoms(row))
        for b in range(3):
            counts[row, b] = h[b]


@ev.kernel
def bucket_extremes(A, least, greatest):
    """Two arrays, of bits and of data, in one pass."""
    for row in A.tiles():
        low, seen = ev.local(2, np.float32), ev.local(2, np.int32)
        low[0] = math.inf
        low[1] = math.inf
        for k in A.atoms(row):
            b = A.column(k) & 1
            low[b] = min(low[b], np.float32(A.value(k)))
            seen[b] |= 1 << A.column(k) % 16
        for b in range(2):
            least[row, b] = low[b]
            greatest[row, b] = seen[b]


@ev.kernel
def top_three(A, y):
    """The three greatest values of a row, by insertion, in a walk that one thread makes."""
    for row in A.tiles():
        top = ev.local(3, np.float64)
        for i in range(3):
            top[i] = -math.inf
        for k in range(A.begin(row), A.end(row)):
            if A.valid(row, k):
                v = np.float64(A.value(k))
                if v > top[2]:
                    i = 2
                    while i > 0 and top[i - 1] < v:
                        top[i] = top[i - 1]
                        i -= 1
                    top[i] = v
        for i in range(3):
            y[row, i] = top[i]


@ev.kernel
def halved(A, y):
    """A pass in a loop that tiles leave at different times: for schedules that own whole tiles."""
    for row in A.tiles():
        scale = 1.0
        total = sum(A.value(k) * A.value(k) for k in A.atoms(row))
        while total > 10.0:
            scale = scale * 0.5
            total = sum(A.value(k) * scale * A.value(k) * scale for k in A.atoms(row))
        y[row] = total


@ev.func
def latest(a, b):
    """Associative, not commutative; its identity is 0."""
    return b if b != 0 else a


@ev.kernel
def scanned(A, start, kept, top, neighbours):
    """Each row's positive entries, one after another; its greatest running sum; products of neighbouring entries."""
    for row in A.tiles():
        best = 0.0
        total = 0.0
        for k in A.atoms(row):
            v = A.value(k)
            at = ev.rank(v > 0)
            best = max(best, ev.scan(v))
            total += v * ev.scan(v, latest, start=0.0, exclusive=True)
            if v > 0:
                kept[start[row] + at] = A.column(k)
        top[row] = best
        neighbours[row] = total


@dataclass(frozen=True)
class Case:
    """arguments(layout, matrix, dtype) gives all arguments; `outputs` are the places of the stored ones."""

    kernel: Any
    arguments: Callable[[Any, Any, Any], tuple[Any, ...]]
    outputs: tuple[int, ...]
    structural: bool = False  # sees the explicit zeros that DIA and BCSR fill in
    by_hand: bool = (
        False  # walks positions itself, so it needs ids of tiles and atoms that are positions
    )


def _nan(n: Any, dtype: Any) -> np.ndarray:
    """An array of NaN, so that an element that the kernel does not store shows."""
    return np.full(n, np.nan, dtype)


def _positives(matrix: Any) -> np.ndarray:
    """Where each row's positive entries go, if all are put one after another."""
    stored = scipy.sparse.csr_array(matrix)
    before = np.concatenate([[0], np.cumsum(stored.data > 0)])
    return before[stored.indptr].astype(np.int32)


CASES = {
    "spmv": Case(spmv, lambda L, M, t: (L, vector(M.shape[1], t), _nan(M.shape[0], t)), (2,)),
    "row_extremes": Case(
        row_extremes,
        lambda L, M, t: (
            L,
            _nan(M.shape[0], t),
            _nan(M.shape[0], t),
            np.full(M.shape[0], -9, np.int64),
        ),
        (1, 2, 3),
        True,
    ),
    "row_norms": Case(row_norms, lambda L, M, t: (L, _nan(M.shape[0], t)), (1,), True),
    "softmax": Case(
        softmax_rows, lambda L, M, t: (L, vector(M.shape[1], t), _nan(M.shape[0], t)), (2,), True
    ),
    "spmv_dot": Case(
        spmv_dot,
        lambda L, M, t: (
            L,
            vector(M.shape[1], t),
            vector(M.shape[0], t, 3),
            _nan(M.shape[0], t),
            _nan(1, t),
        ),
        (3, 4),
    ),
    "spmm": Case(
        spmm,
        lambda L, M, t: (L, vector(M.shape[1] * 3, t).reshape(-1, 3), _nan((M.shape[0], 3), t)),
        (2,),
    ),
    "weighted_by_tile": Case(
        weighted_by_tile,
        lambda L, M, t: (L, vector(M.shape[0], t), _nan(M.shape[0], t)),
        (2,),
        True,
    ),
    "two_loops": Case(
        two_loops,
        lambda L, M, t: (L, vector(M.shape[1], t), _nan(M.shape[0], t), _nan(M.shape[0], t)),
        (2, 3),
        True,
    ),
    "column_counts": Case(
        column_counts,
        lambda L, M, t: (L, np.zeros(M.shape[1], np.int32), np.zeros(1, np.int64)),
        (1, 2),
        True,
    ),
    "normalised": Case(
        normalised, lambda L, M, t: (L, _nan(M.shape[0], t), _nan(M.shape[0], t)), (1, 2)
    ),
    "scanned": Case(
        scanned,
        lambda L, M, t: (
            L,
            _positives(M),
            np.full(max(int(_positives(M)[-1]), 1), -9, np.int32),
            _nan(M.shape[0], t),
            _nan(M.shape[0], t),
        ),
        (2, 3, 4),
        True,  # the order of a row's blocks is its atoms' order
    ),
    "bucket_counts": Case(
        bucket_counts,
        lambda L, M, t: (L, np.full((M.shape[0], 3), -9, np.int32), _nan(M.shape[0], t)),
        (1, 2),
        True,
    ),
    "bucket_extremes": Case(
        bucket_extremes,
        lambda L, M, t: (L, _nan((M.shape[0], 2), t), np.full((M.shape[0], 2), -9, np.int64)),
        (1, 2),
        True,
    ),
    "top_three": Case(top_three, lambda L, M, t: (L, _nan((M.shape[0], 3), t)), (1,), True, True),
}

EYE = scipy.sparse.eye_array(2, format="csr")
MATRIX_LAYOUTS = [name for name, entry in LAYOUTS.items() if entry.of_matrix]
FIRST = ("csr", "ell", "dia", "bcsr")
# Layouts of the table that options make other classes of.
OPTIONS = {"ell_columns": ("ell", {"order": "F"}), "sell_sorted": ("sell", {"sigma": 16})}
# Those and whatever else the table has whose tiles are rows.
ROW_LAYOUTS = (
    *FIRST,
    *(n for n in MATRIX_LAYOUTS if n not in FIRST and tiles_are_rows(convert(EYE, n))),
    *OPTIONS,
)


def laid(matrix: Any, layout: str, **options: Any) -> Any:
    """Convert a matrix to one of ROW_LAYOUTS."""
    name, own = OPTIONS.get(layout, (layout, {}))
    return convert(matrix, name, **own, **options)


def others(known: Iterable[Any], by: Callable[[Any], Any] = type) -> dict[str, Any]:
    """The schedules of the table, as they are by default, that `known` has none like."""
    there = {by(schedule) for schedule in known}
    made = {name: entry.make() for name, entry in TABLE.items()}
    return {name: schedule for name, schedule in made.items() if by(schedule) not in there}


# One of each engine, with its own parameters.
ENGINES = [
    ev.ThreadMapped(),
    ev.GroupMapped(8),
    ev.GroupMapped(32, flatten=True),
    ev.DynamicChunks(),
    ev.Lrb(),
    ev.WorkOriented(),
    ev.MergePath(),
    ev.NonzeroSplit(),
]
ENGINES += others(ENGINES, by=lambda schedule: schedule.engine).values()

SCHEDULES = {
    "thread": ev.ThreadMapped(),
    "group 8": ev.GroupMapped(8, items=1),
    "group 3": ev.GroupMapped(3, block=64, items=2),
    "group 48": ev.GroupMapped(48, block=128, items=7),
    "warp": ev.WarpMapped(items=8, run=4),
    "block": ev.BlockMapped(128),
    "flat 32": ev.GroupMapped(32, flatten=True),
    "flat 64": ev.GroupMapped(64, flatten=True),
    "dynamic": ev.DynamicChunks(chunk=20, size=8, block=64, items=6),
    "dynamic 48": ev.DynamicChunks(chunk=3, size=48, block=128),
    "lrb": ev.Lrb(block=64, lanes=4, thread=2, group=16, warp=256),
    "work": ev.WorkOriented(block=64, items=3),
    "merge": ev.MergePath(block=128, items=4),
    "merge 7": ev.MergePath(block=256, items=7),
    "nonzero": ev.NonzeroSplit(block=64, items=5),
    "nonzero runs": ev.NonzeroSplit(block=64, items=4, run=4),
}
SCHEDULES |= others(SCHEDULES.values())


_references: dict[Any, tuple[np.ndarray, ...]] = {}


# A kernel is compiled for each size of block: one size a kernel, and all sizes among the kernels.
BLOCKS = ((2, 2), (3, 2), (1, 4), (6, 6), (4, 1), (8, 8))
FILLED = ("dia", "bcsr")
MOST = 20_000  # positions of a filled layout that the reference or an emulator walks one by one


def laid_out(case: Case, matrix: Any, layout: str) -> Any:
    """Convert a matrix to the case's layout."""
    if layout != "bcsr":
        return laid(matrix, "sell" if case.by_hand and layout == "sell_sorted" else layout)
    return convert(matrix, layout, block=BLOCKS[list(CASES.values()).index(case) % len(BLOCKS)])


def inputs(case: Case, layout: str, dtype: Any, all_walked: bool = False) -> dict[str, Any]:
    """The battery's matrices for a case on a layout. all_walked: every position costs (an emulator)."""
    found = matrices(dtype)
    if not (all_walked or (case.structural and layout in FILLED)):
        return found
    return {n: m for n, m in found.items() if laid_out(case, m, layout).num_atoms <= MOST}


def reference(
    case: Case, name: str, matrix: Any, layout: str, dtype: Any
) -> tuple[np.ndarray, ...]:
    """What target `python` stores for a battery's matrix."""
    shown = layout if case.structural and layout in FILLED else "csr"
    key = case.kernel.name, name, shown, np.dtype(dtype).name

    def stored() -> tuple[np.ndarray, ...]:
        args = case.arguments(laid_out(case, matrix, shown), matrix, dtype)
        case.kernel.on("python")(*args)
        return tuple(np.array(args[i]) for i in case.outputs)

    if key not in _references:
        _references[key] = once(f"reference of {key}", stored)
    return _references[key]


def tolerance(dtype: Any) -> dict[str, float]:
    """Sums of the battery's small integers are exact; exponentials and roots are not."""
    return (
        {"rtol": 2e-5, "atol": 1e-5}
        if np.dtype(dtype) == np.float32
        else {"rtol": 1e-12, "atol": 1e-12}
    )
