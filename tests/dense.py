"""Kernels with a dense axis, and schedules whose threads lie along it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import evenly as ev

from .kernels import spmm

WIDTHS = (0, 1, 3, 8, 31, 32, 33, 128, 300)


@ev.kernel
def spmm_columns(A, X, Y):
    """Column-major: the lanes are the rows of the arrays."""
    for row in A.tiles():
        for j in ev.lanes(X.shape[0]):
            Y[j, row] = sum(A.value(k) * X[j, A.column(k)] for k in A.atoms(row))


@ev.kernel
def update(A, X, Y, bias, alpha):
    """It reads what it stores, and an array of the axis alone."""
    for row in A.tiles():
        for j in ev.lanes(len(bias)):
            total = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))
            Y[row, j] = alpha * total - Y[row, j] + bias[j]


@ev.kernel
def centred(A, X, Y, Z):
    """Two passes a lane, the second with the result of the first; a pass before the axis; two outputs, one sometimes."""
    for row in A.tiles():
        count = sum(1 for k in A.atoms(row))
        for j in ev.lanes(X.shape[1]):
            top = max((X[A.column(k), j] for k in A.atoms(row)), default=-math.inf)
            shift = top + count
            below = 0
            total = 0.0
            for k in A.atoms(row):
                x = X[A.column(k), j]
                total += (x - shift) * A.value(k)
                if x < top:
                    below += j % 3 + 1
            Y[row, j] = total
            if below > 0:
                Z[row, j] = below + j


@ev.kernel
def divided(A, X, Y):
    """Divisions by what only a lane of the axis has, and by sums of atoms."""
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            total = sum(100 // X[A.column(k), j] for k in A.atoms(row))
            size = sum(1 for k in A.atoms(row))
            Y[row, j] = total // size if size > 0 else j


@ev.kernel
def limited(A, X, Y, limits):
    """Each lane reads an element that atomics may change."""
    for row in A.tiles():
        ev.atomic_max(limits, row % len(limits), -100)
        for j in ev.lanes(X.shape[1]):
            limit = limits[j]
            Y[row, j] = limit + max((X[A.column(k), j] * limit for k in A.atoms(row)), default=0)


@ev.kernel
def part(A, X, Y, count):
    """An axis shorter than the rows of the arrays, which are often words."""
    for row in A.tiles():
        for j in ev.lanes(count):
            Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))


@ev.kernel
def overwritten(A, X, Y, Z):
    """Later stores of a lane into the same element, some under a condition."""
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            total = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))
            Y[row, j] = total
            Z[row, j] = 1
            if total > 0:
                Y[row, j] = -1.0
                Z[row, j] = j
            Z[row, j] = 2 * X.shape[1]


@ev.kernel
def read_back(A, X, Y, Z):
    """A lane reads what it has just stored."""
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row)) - Y[row, j]
            Z[row, j] = 2 * Y[row, j]


@ev.kernel
def modulo(A, X, Y, at):
    """Lengths of rows in the arithmetic of indices."""
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            Y[row, j] = sum(
                A.value(k) * X[at[k, j] % len(X), at[k, j] % X.shape[1]] for k in A.atoms(row)
            )


@ev.kernel
def picked(A, X, Y, at):
    """Rows that differ from lane to lane, of what is read and of what is stored."""
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            r = at[row, j] % len(X)
            top = max((X[A.column(k), j] - X[r, j] for k in A.atoms(row)), default=0)
            to = at[row, j] % 2
            Y[2 * row + to, j] = top + sum(A.value(k) * X[r, 0] for k in A.atoms(row))


@ev.kernel
def sddmm(A, X, Z, out):
    """Lanes inside atoms: a dot product for each."""
    for row in A.tiles():
        for k in A.atoms(row):
            out[k] = A.value(k) * sum(X[row, j] * Z[A.column(k), j] for j in ev.lanes(X.shape[1]))


@ev.kernel
def nearest(A, X, Z, best, total, hits):
    """Distances: two reductions inside each atom, and several over atoms; effects under a condition."""
    for row in A.tiles():
        least = math.inf
        far = 0.0
        for k in A.atoms(row):
            c = A.column(k)
            squares = sum((X[row, j] - Z[c, j]) ** 2 for j in ev.lanes(Z.shape[1]))
            top = max((j for j in ev.lanes(Z.shape[1]) if X[row, j] > Z[c, j]), default=-1)
            least = min(least, squares)
            far += squares * A.value(k)
            if top > 1:
                hits[k] = top
        best[row] = least
        total[row] = far


@ev.kernel
def carried(A, X, Z, out):
    """A variable that passes from lane to lane: one thread walks them."""
    for row in A.tiles():
        for k in A.atoms(row):
            total = 0.0
            for j in ev.lanes(X.shape[1]):
                total += X[row, j] * Z[A.column(k), j]
            out[k] = total


@ev.kernel
def outer(A, X, out):
    """Each lane of an atom stores an element of its own."""
    for row in A.tiles():
        for k in A.atoms(row):
            for j in ev.lanes(X.shape[1]):
                out[k, j] = A.value(k) * X[A.column(k), j] + X[row % len(X), j]


@ev.kernel
def masked(A, X, Z, out, some):
    """Rows that are read for some atoms alone: others lie beyond X. Stores for all atoms, and for some lanes."""
    for row in A.tiles():
        for k in A.atoms(row):
            c = A.column(k)
            i = c - len(X) // 2
            heavy = A.value(k) > 0
            for j in ev.lanes(X.shape[1]):
                x = X[c, j] if c < len(X) else (Z[row, j] if heavy else 5)
                out[k, j] = x + (X[i, j] if i >= 0 and i < len(X) and not heavy else 1)
                if i >= 0:
                    some[k, j] = X[c, j] if c < len(X) and j < 9 else Z[row, j] - 1
                elif heavy:
                    some[k, j] = X[len(X) - 1, j]


@ev.kernel
def found_where(A, X, out, hits):
    """Beside what it stores, a branch computes where rows are; beyond the end of a tile there is none."""
    for row in A.tiles():
        for k in A.atoms(row):
            i = 5
            if A.value(k) > -100:
                hits[k] = A.value(k)
                i = A.column(k) + 5
            out[k] = sum(X[i - 5, j] for j in ev.lanes(X.shape[1]))


@ev.kernel
def found_later(A, X, Z, out, hits):
    """Whether and where rows are read follows from a sum over lanes, which an atom may store."""
    for row in A.tiles():
        for k in A.atoms(row):
            i = A.column(k) + len(Z)
            top = sum(X[row, j] for j in ev.lanes(X.shape[1]))
            if top + A.value(k) > 0:
                hits[k] = top
                i = A.column(k)
            out[k] = sum((Z[i, j] if i < len(Z) else 7) * (j + 1) for j in ev.lanes(X.shape[1]))


@ev.kernel
def unlike(A, X, Z, out, sums):
    """Two axes inside: of columns that are words, and of columns that fill a word each."""
    for row in A.tiles():
        for k in A.atoms(row):
            c = A.column(k)
            out[k] = sum(X[c, j] for j in ev.lanes(X.shape[1]))
            sums[k] = sum(Z[c, j] for j in ev.lanes(Z.shape[1]))


@ev.func
def greater(a, b):
    """The greatest first number, with the greatest second one of all, and the sum of the third ones."""
    return max(a[0], b[0]), max(a[1], b[1]), a[2] + b[2]


@ev.kernel
def weighed(A, X, Z, V, out, top):
    """Lanes around a pass and inside: a product of rows weighs each lane; some results are the same for all lanes."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            shift = j % 3
            count = 0
            total = 0.0
            for k in A.atoms(row):
                c = A.column(k)
                weight = A.value(k) * sum(X[row, i] * Z[c, i] for i in ev.lanes(X.shape[1]))
                other = sum(Z[c, i] for i in ev.lanes(Z.shape[1])) + weight
                count += 1
                total += weight * (V[c, j] + shift) - other
            out[row, j] = total + count
            if j < top.shape[1]:
                top[row, j] = count


@ev.kernel
def chosen(A, X, Z, V, out):
    """The same with a reduction of tuples, of which one part differs from lane to lane."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            best, least, total = ev.reduce(
                greater,
                (
                    (
                        sum(X[row, i] * Z[A.column(k), i] for i in ev.lanes(X.shape[1])),
                        -A.value(k),
                        V[A.column(k), j] * A.value(k),
                    )
                    for k in A.atoms(row)
                ),
                (-1000.0, -1000.0, 0.0),
            )
            out[row, j] = total + best - least


@ev.kernel
def weighed_some(A, X, Z, V, out):
    """Inside of lanes around, rows are read under conditions: of atoms, and of a sum over lanes before."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            total = 0.0
            for k in A.atoms(row):
                c = A.column(k)
                dot = sum(X[row, i] * Z[c, i] for i in ev.lanes(X.shape[1]))
                other = sum(
                    (Z[c - 2, i] if c > 1 and dot > 0 else 0) + (X[row, i] if dot < -3 else 1)
                    for i in ev.lanes(X.shape[1])
                )
                total += other * (V[c, j] if A.value(k) > 0 else 2) + dot
            out[row, j] = total


@ev.func
def at_greatest(a, b):
    """Sums over what has the greatest key: a factor of 0 for others."""
    top = max(a[0], b[0])
    left, right = 0.0 if a[0] < top else 1.0, 0.0 if b[0] < top else 1.0
    return top, a[1] * left + b[1] * right, right * b[2] + left * a[2]


@ev.kernel
def keyed(A, X, Z, V, out):
    """A reduction by a key, which lanes inside of the pass compute; values before and after these."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            top, count, total = ev.reduce(
                at_greatest,
                (
                    (
                        A.value(k)
                        + sum(X[row, i] * Z[A.column(k), i] for i in ev.lanes(X.shape[1])) / 2.0,
                        A.value(k) * A.value(k) + 0.0,
                        V[A.column(k), j] * A.value(k) + 0.0,
                    )
                    for k in A.atoms(row)
                ),
                (-math.inf, 0.0, 0.0),
            )
            out[row, j] = total + count + max(top, -1000.0)


@ev.kernel
def stored_inside(A, X, V, weights, at, out, dots):
    """Lanes around a pass and inside, of the same rows of V; an atom stores the product, somewhere, and weighs a row."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            total = 0.0
            for k in A.atoms(row):
                c = A.column(k)
                dots[at[k]] = sum(V[c, i] * X[row, i] for i in ev.lanes(V.shape[1]))
                total += weights[at[k]] * V[c, j]
            out[row, j] = total


@ev.kernel
def stored_alike(A, X, V, out, dots, flags):
    """All lanes around a pass store the same: the product of an atom in its own place, a constant in a row's."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            total = 0.0
            for k in A.atoms(row):
                dots[k] = sum(V[A.column(k), i] * X[row, i] for i in ev.lanes(V.shape[1]))
                total += A.value(k) * V[A.column(k), j]
            out[row, j] = total
            flags[row] = 1


@ev.kernel
def by_lane(A, X, Z, V, out):
    """The lanes inside depend on the one around: there is nothing to compute once."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            out[row, j] = sum(
                V[A.column(k), j]
                * sum(X[row, i] * (Z[A.column(k), i] + j) for i in ev.lanes(X.shape[1]))
                for k in A.atoms(row)
            )


@ev.kernel
def changed(A, X, Z, V, out):
    """Variables get other values after a lane has used them, and what lanes have in common is added in two steps."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            total = 0.0
            alike = 0.0
            for k in A.atoms(row):
                c = A.column(k)
                t = A.value(k)
                alike += t
                own = t + V[c, j]
                t = sum(X[row, i] * Z[c, i] for i in ev.lanes(X.shape[1]))
                total += own * t
                alike += t
            out[row, j] = total + alike


@ev.kernel
def changed_sum(A, X, Z, V, out):
    """The value that a loop over lanes inside has made gets another one after a lane has used it."""
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            total = 0.0
            for k in A.atoms(row):
                t = sum(X[row, i] * Z[A.column(k), i] for i in ev.lanes(X.shape[1]))
                own = t * V[A.column(k), j]
                t = t * 2 + 1
                total += own + t
            out[row, j] = total


@dataclass(frozen=True)
class Case:
    """arguments(A, matrix, width, dtype) gives all arguments; `outputs` are the places of the stored ones."""

    kernel: Any
    arguments: Callable[[Any, Any, int, Any], tuple[Any, ...]]
    outputs: tuple[int, ...]


def filled(rows: int, columns: int, dtype: Any, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-4, 5, (rows, columns)).astype(dtype)


def unaligned(array: np.ndarray) -> np.ndarray:
    """A copy that begins an element after a multiple of 16 bytes."""
    flat = np.zeros(array.size + 33, array.dtype)
    first = (-flat.ctypes.data // array.itemsize) % (16 // array.itemsize) + 1
    made = flat[first : first + array.size].reshape(array.shape)
    made[...] = array
    return made


CASES = {
    "spmm": Case(
        spmm, lambda A, M, n, t: (A, filled(M.shape[1], n, t), filled(M.shape[0], n, t)), (2,)
    ),
    "columns": Case(
        spmm_columns,
        lambda A, M, n, t: (A, filled(n, M.shape[1], t), filled(n, M.shape[0], t)),
        (2,),
    ),
    "update": Case(
        update,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1], n, t),
            filled(M.shape[0], n, t, 2),
            filled(1, n, t, 3)[0],
            t(3),
        ),
        (2,),
    ),
    "centred": Case(
        centred,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1], n, t),
            filled(M.shape[0], n, t),
            filled(M.shape[0], n, np.int64),
        ),
        (2, 3),
    ),
    "divided": Case(
        divided,
        lambda A, M, n, t: (
            A,
            np.abs(filled(M.shape[1], n, np.int32)) + 1,
            filled(M.shape[0], n, np.int64),
        ),
        (2,),
    ),
}
CASES |= {
    "limited": Case(
        limited,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1], n, t),
            filled(M.shape[0], n, np.float64),
            np.arange(n) - 2,
        ),
        (2, 3),
    ),
    "part": Case(
        part,
        lambda A, M, n, t: (A, filled(M.shape[1], 8, t), filled(M.shape[0], 8, t), min(n, 8)),
        (2,),
    ),
    "overwritten": Case(
        overwritten,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1], n, t),
            filled(M.shape[0], n, t),
            filled(M.shape[0], n, np.int64),
        ),
        (2, 3),
    ),
    "read_back": Case(
        read_back,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1], n, t),
            filled(M.shape[0], n, t, 2),
            filled(M.shape[0], n, t),
        ),
        (2, 3),
    ),
    "picked": Case(
        picked,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1], n, t),
            filled(2 * M.shape[0], n, np.float64),
            np.abs(filled(M.shape[0], n, np.int64, 2)),
        ),
        (2,),
    ),
    "modulo": Case(
        modulo,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1], n, t),
            filled(M.shape[0], n, t),
            filled(A.num_atoms, n, np.int64, 2),
        ),
        (2,),
    ),
}

# Lanes inside passes.
INSIDE = {
    "sddmm": Case(
        sddmm,
        lambda A, M, n, t: (
            A,
            filled(M.shape[0], n, t),
            filled(M.shape[1], n, t, 2),
            filled(1, A.num_atoms, t)[0],
        ),
        (3,),
    ),
    "carried": Case(
        carried,
        lambda A, M, n, t: (
            A,
            filled(M.shape[0], n, t),
            filled(M.shape[1], n, t, 2),
            filled(1, A.num_atoms, np.float64)[0],
        ),
        (3,),
    ),
    "nearest": Case(
        nearest,
        lambda A, M, n, t: (
            A,
            filled(M.shape[0], n, t),
            filled(M.shape[1], n, t, 2),
            filled(1, M.shape[0], np.float64)[0],
            filled(1, M.shape[0], np.float64)[0],
            filled(1, A.num_atoms, np.int64)[0],
        ),
        (3, 4, 5),
    ),
    "outer": Case(
        outer,
        lambda A, M, n, t: (A, filled(M.shape[1], n, t), filled(A.num_atoms, n, t)),
        (2,),
    ),
    "masked": Case(
        masked,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1] // 2, n, t),
            filled(M.shape[0], n, t, 2),
            filled(A.num_atoms, n, np.float64),
            filled(A.num_atoms, n, t),
        ),
        (3, 4),
    ),
    "found_where": Case(
        found_where,
        lambda A, M, n, t: (A, filled(M.shape[1], n, t), *filled(2, A.num_atoms, t)),
        (2, 3),
    ),
    "found_later": Case(
        found_later,
        lambda A, M, n, t: (
            A,
            filled(M.shape[0], n, t),
            filled(M.shape[1] // 2, n, t, 2),
            filled(1, A.num_atoms, np.float64)[0],
            filled(1, A.num_atoms, np.float64)[0],
        ),
        (3, 4),
    ),
    "unlike": Case(
        unlike,
        lambda A, M, n, t: (
            A,
            filled(M.shape[1], n, t),
            filled(M.shape[1], n, np.complex128),
            filled(1, A.num_atoms, t)[0],
            filled(1, A.num_atoms, np.complex128)[0],
        ),
        (3, 4),
    ),
}
CASES |= INSIDE


def both(A: Any, M: Any, n: int, t: Any, *more: Any) -> tuple[Any, ...]:
    """Axes of n columns around the pass, and of a number that is a multiple of a word, or not, inside."""
    m, inside = M.shape[0], {8: 12, 9: 8, 33: 5, 4: 4}.get(n, 3)
    return (
        A, filled(m, inside, t), filled(M.shape[1], inside, t, 2), filled(M.shape[1], n, t, 3),
        filled(m, n, t), *more,
    )  # fmt: skip


def placed(M: Any, A: Any, n: int, t: Any) -> tuple[Any, ...]:
    """Of `stored_inside`: atoms have places in another order."""
    (m, columns), count = M.shape, A.num_atoms
    at = np.random.default_rng(4).permutation(count).astype(np.int32)
    weights = filled(1, count, t)[0]
    return A, filled(m, n, t), filled(columns, n, t, 2), weights, at, filled(m, n, t), weights * 0


# Lanes around passes and inside.
BOTH = {
    "weighed": Case(
        weighed,
        lambda A, M, n, t: both(A, M, n, t, np.full((M.shape[0], min(n, 1)), -1, np.int64)),
        (4, 5),
    ),
    "chosen": Case(chosen, both, (4,)),
    "weighed_some": Case(weighed_some, both, (4,)),
    "keyed": Case(keyed, both, (4,)),
    "stored_inside": Case(stored_inside, lambda A, M, n, t: placed(M, A, n, t), (5, 6)),
    "stored_alike": Case(
        stored_alike,
        lambda A, M, n, t: (
            A,
            filled(M.shape[0], n, t),
            filled(M.shape[1], n, t, 2),
            filled(M.shape[0], n, t, 3),
            filled(1, A.num_atoms, t)[0],
            np.zeros(M.shape[0], np.int32),
        ),
        (3, 4, 5),
    ),
    "by_lane": Case(by_lane, both, (4,)),
    "changed": Case(changed, both, (4,)),
    "changed_sum": Case(changed_sum, both, (4,)),
}
CASES |= BOTH

# Teams of every shape: along the axis alone, along both, of several warps; words of 4, 2 and 1 columns. Of whole tiles,
# and of blocks that split them.
ALONG = {
    "thread": ev.ThreadMapped(64, items=3, vector=4),
    "group 2": ev.GroupMapped(2, 64, lanes=2, vector=4),
    "group 8": ev.GroupMapped(8, 64, lanes=2, vector=8),
    "group 24": ev.GroupMapped(24, 64, items=1, lanes=8, vector=3),
    "warp": ev.WarpMapped(64, items=5, lanes=32, vector=1),
    "block": ev.BlockMapped(64, items=2, lanes=8, vector=2),
    "dynamic": ev.DynamicChunks(chunk=5, size=8, block=64, lanes=4, vector=4),
    "dynamic 64": ev.DynamicChunks(chunk=2, size=64, block=64, lanes=16, vector=6),
    "lrb": ev.Lrb(block=64, lanes=4, thread=2, group=16, warp=64, vector=4),
    "merge": ev.MergePath(64, items=3, lanes=8, vector=4),
    "merge 1": ev.MergePath(32, items=1, lanes=1, vector=3),
    "merge 32": ev.MergePath(64, items=1, lanes=32, vector=2),
    "nonzero": ev.NonzeroSplit(64, items=2, lanes=4, vector=4),
    "nonzero 16": ev.NonzeroSplit(32, items=1, lanes=16, vector=1),
}
