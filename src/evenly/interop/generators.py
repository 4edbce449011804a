"""Generate matrices for demos, tests and benchmarks, as scipy.sparse.csr_array.

`dtype` is float32 or float64. Random values lie in 0 .. 1, and the same seed gives the
same matrix. Columns are sorted within rows. Indices are int32 if the nonzeros fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Chakrabarti, Zhan, Faloutsos, "R-MAT" (SDM 2004); these four are Graph500's.
QUADRANTS = (0.57, 0.19, 0.19, 0.05)


def rmat(scale: int, per_row: int = 16, seed: int = 0, dtype: Any = np.float32) -> Any:
    """Make an R-MAT matrix of 2**scale rows and columns, with Graph500's probabilities.

    Its row lengths follow a power law. per_row * 2**scale entries are drawn and duplicates
    removed, so there are somewhat fewer nonzeros.
    """
    rng = np.random.default_rng(seed)
    count = per_row << scale
    row = np.zeros(count, np.uint64)
    column = np.zeros(count, np.uint64)
    # Each draw of 16 random bits decides two levels of the recursion, by a table of their
    # 16 outcomes. This is eight times as fast as comparing one float for each level.
    done = 0
    while done < scale:
        levels = min(2, scale - done)
        outcome = _quadrant_table(levels)[rng.integers(0, 2**16, count, dtype=np.uint16)]
        row <<= np.uint64(levels)
        column <<= np.uint64(levels)
        row |= outcome >> np.uint8(4)
        column |= outcome & np.uint8(15)
        done += levels
    row <<= np.uint64(scale)
    row |= column  # one key for each entry; sorted keys are in the order of CSR
    row.sort()
    keep = np.ones(count, bool)
    np.not_equal(row[1:], row[:-1], out=keep[1:])
    keys = row[keep]
    columns = (keys & np.uint64((1 << scale) - 1)).astype(np.int32)
    lengths = np.bincount((keys >> np.uint64(scale)).astype(np.int64), minlength=1 << scale)
    return _csr(_random(rng, len(columns), dtype), columns, lengths, 1 << scale)


def stencil(k: int, dtype: Any = np.float32) -> Any:
    """Make the 5-point Laplacian of a k x k grid: k * k rows, 4 on the diagonal, -1 for each neighbour."""
    here = np.arange(k * k, dtype=np.int32)
    across = here % k if k else here
    neighbours = np.stack([here - k, here - 1, here, here + 1, here + k], axis=1)
    inside = np.stack(
        [here >= k, across > 0, here >= 0, across < k - 1, here < k * (k - 1)], axis=1
    )
    weights = np.broadcast_to(np.array([-1, -1, 4, -1, -1], dtype), inside.shape)
    return _csr(weights[inside], neighbours[inside], inside.sum(axis=1), k * k)


def uniform(n: int, per_row: int = 16, seed: int = 0, dtype: Any = np.float32) -> Any:
    """Make an n x n matrix with per_row entries in every row, in random columns. Duplicates stay."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, max(n, 1), (n, per_row), dtype=np.int32)
    columns.sort(axis=1)
    values = _random(rng, n * per_row, dtype)
    return _csr(values, columns.reshape(-1), np.full(n, per_row), n)


def banded(n: int, width: int, seed: int = 0, dtype: Any = np.float32) -> Any:
    """Make an n x n matrix of the `width` diagonals around the main one."""
    first = np.arange(n, dtype=np.int64) - width // 2
    start, stop = np.maximum(first, 0), np.minimum(first + width, n)
    lengths = np.maximum(stop - start, 0)
    begins = np.cumsum(lengths) - lengths
    columns = np.arange(lengths.sum()) + np.repeat(start - begins, lengths)
    values = _random(np.random.default_rng(seed), len(columns), dtype)
    return _csr(values, columns.astype(np.int32), lengths, n)


def dense_rows(
    n: int, per_row: int = 4, how_many: int = 20, seed: int = 0, dtype: Any = np.float32
) -> Any:
    """Make an n x n matrix with per_row entries in each row, but n // 2 in `how_many` random rows."""
    rng = np.random.default_rng(seed)
    lengths = np.full(n, per_row)
    lengths[rng.choice(n, min(how_many, n), replace=False)] = n // 2
    count = int(lengths.sum())
    keys = np.repeat(np.arange(n, dtype=np.int64) * n, lengths)
    keys += rng.integers(0, max(n, 1), count)
    keys.sort()
    return _csr(_random(rng, count, dtype), (keys % max(n, 1)).astype(np.int32), lengths, n)


def _random(rng: np.random.Generator, count: int, dtype: Any) -> Any:
    return rng.random(count, dtype=np.dtype(dtype).type)


def _quadrant_table(levels: int) -> Any:
    """Return a table of 2**16 outcomes of `levels` levels, in which each outcome is as frequent as it is probable.

    An outcome is 16 times its row bits plus its column bits.
    """
    chances, outcomes = np.ones(1), np.zeros(1, np.int64)
    for _ in range(levels):
        chances = np.outer(chances, QUADRANTS).reshape(-1)
        step = np.array([0, 1, 16, 17])  # (row, column) of quadrants a, b, c, d
        outcomes = (outcomes[:, None] * 2 + step).reshape(-1)
    ends = np.rint(np.cumsum(chances) * 2**16).astype(np.int64)
    return np.repeat(outcomes, np.diff(ends, prepend=0)).astype(np.uint8)


def _csr(values: Any, columns: Any, lengths: Any, n: int) -> Any:
    import scipy.sparse

    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if offsets[-1] <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)
    matrix = scipy.sparse.csr_array((values, columns, offsets), shape=(n, n))
    matrix.has_sorted_indices = True
    return matrix
