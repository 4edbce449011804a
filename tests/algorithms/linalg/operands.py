"""Dense operands of small integers, so that sums are exact, in every order of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

ORDERS = ("C", "F", "columns apart", "rows apart")


def dense(rows: int, columns: int, dtype: Any = np.float64, order: str = "C") -> np.ndarray:
    made = np.random.default_rng(rows + columns).integers(-4, 5, (rows, columns)).astype(dtype)
    return placed(made, order)


def placed(values: np.ndarray, order: str) -> np.ndarray:
    """The same numbers in memory of this order."""
    rows, columns = values.shape
    made = {
        "C": lambda: np.empty((rows, columns), values.dtype),
        "F": lambda: np.empty((rows, columns), values.dtype, order="F"),
        "columns apart": lambda: np.empty((rows, 2 * columns + 1), values.dtype)[:, 1::2],
        "rows apart": lambda: np.empty((2 * rows, columns + 3), values.dtype)[::2, 2:-1],
    }[order]()
    made[...] = values
    return made
