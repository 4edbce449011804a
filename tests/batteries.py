"""The one named battery of nasty inputs that all tests share.

`matrices()` gives scipy CSR matrices by name, `layout_batteries()` CSR offsets
by name. Values are small integers (held as floats), so that sums are exact and
every order of summation gives the same bits.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp

from evenly.interop.narrow import narrowed, widened
from evenly.language.types import BFLOAT16

LONG = 3000  # longer than any block of threads


def layout_batteries() -> dict[str, np.ndarray]:
    """Offsets (num_tiles + 1,), int64, by name."""
    return {name: _offsets(sizes) for name, sizes in _sizes().items()}


def matrices(dtype: Any = np.float32) -> dict[str, Any]:
    """scipy.sparse.csr_array by name: the sizes above, and nasty columns."""
    return {name: matrix.astype(dtype) for name, matrix in _matrices().items()}


def dense(matrix: Any) -> np.ndarray:
    """The matrix as a dense array, duplicates summed."""
    return np.asarray(matrix.toarray())


def names() -> list[str]:
    """The names of `matrices()`, for parametrize."""
    return list(_matrices())


def vector(length: int, dtype: Any = np.float32, seed: int = 1) -> np.ndarray:
    """A vector of small integers."""
    return np.random.default_rng(seed).integers(-4, 5, length).astype(dtype)


def equal_rows(rows: int, size: int, columns: int = 50) -> Any:
    """A matrix whose rows have `size` atoms each, in columns that may repeat."""
    indices = np.random.default_rng(rows + 7 * size).integers(0, columns, rows * size)
    offsets = np.arange(rows + 1, dtype=np.int32) * size
    found = vector(rows * size), indices.astype(np.int32), offsets.astype(np.int32)
    return sp.csr_array(found, shape=(rows, columns))


def array(dtype: str, values: Any) -> np.ndarray:
    """An array of any type of the language, by name."""
    return narrowed(values) if dtype == "bfloat16" else np.asarray(values, dtype)


def readable(values: np.ndarray) -> np.ndarray:
    """Convert an array to a dtype that NumPy can compare, since it has no bfloat16."""
    return widened(values) if values.dtype == BFLOAT16.dtype else values


def _sizes() -> dict[str, list[int]]:
    rng = np.random.default_rng(0)
    power_law = np.minimum(2000, (rng.pareto(1.0, 400) * 2)).astype(int).tolist()
    return {
        "no tiles": [],
        "one empty tile": [0],
        "one atom": [1],
        "no atoms": [0] * 37,
        "empty at the start": [0, 0, 0, 2, 3],
        "empty in the middle": [2, 0, 0, 0, 3, 0, 1],
        "empty at the end": [3, 2, 0, 0, 0],
        "one tile has everything": [0] * 20 + [700] + [0] * 20,
        "one long tile alone": [LONG],
        "a tile longer than a block": [3, 1, LONG, 0, 2, 5],
        "long tiles side by side": [1500, 1500, 0, 1500],
        "power law": power_law,
        "all equal": [4] * 300,
        "one atom each": [1] * 500,
        "many empty between": [1] + [0] * 2500 + [1] + [0] * 10 + [3],
        "one block exactly": [128, 128],
    }


def _offsets(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]).astype(np.int64)


@functools.cache
def _matrices() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    made = {}
    for name, sizes in _sizes().items():
        columns = max(8, min(200, max(sizes, default=0) * 2))
        made[name] = _fill(sizes, columns, rng)
    made["nothing (0 x 0)"] = _fill([], 0, rng)
    made["zero rows (0 x 7)"] = _fill([], 7, rng)
    made["zero columns (7 x 0)"] = _fill([0] * 7, 0, rng)
    made["single column"] = _fill([1, 0, 1, 1, 0], 1, rng)
    made["single row"] = _fill([40], 60, rng)
    made["wide"] = _fill([3, 0, 5], 5000, rng)
    made["tall"] = _fill(rng.integers(0, 3, 2000).tolist(), 3, rng)
    made["unsorted columns"] = _fill([9, 30, 0, 12], 64, rng, order="unsorted")
    made["duplicates"] = _fill([9, 30, 0, 12], 5, rng, order="unsorted")
    made["explicit zeros"] = made["unsorted columns"].copy()
    made["explicit zeros"].data[::2] = 0
    made["stencil"] = _stencil(13)
    return made


def _fill(sizes: list[int], columns: int, rng: Any, order: str = "sorted") -> Any:
    offsets = _offsets(sizes)
    indices = rng.integers(0, max(columns, 1), offsets[-1]).astype(np.int32)
    if order == "sorted":
        for first, last in itertools.pairwise(offsets):
            indices[first:last].sort()
    values = rng.integers(-4, 5, offsets[-1]).astype(np.float64)
    shape = (len(sizes), columns)
    return sp.csr_array((values, indices, offsets.astype(np.int32)), shape=shape)


def _stencil(k: int) -> Any:
    side = sp.diags_array([np.full(k - 1, -1.0), np.full(k - 1, -1.0)], offsets=[-1, 1])
    eye = sp.eye_array(k)
    return sp.csr_array(sp.kron(side, eye) + sp.kron(eye, side) + 4 * sp.eye_array(k * k))
