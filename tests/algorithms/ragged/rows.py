"""Rows that are moved from lists to padded rows and back: kernels, arguments, and what NumPy says."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit
from evenly.algorithms.ragged.jagged_to_padded import Places, pad_rows
from evenly.algorithms.ragged.padded_to_jagged import pack_rows

LENGTHS = 5, 0, 9, 1, 2  # the third is cut, the others filled up
LONGEST = 7
DTYPES = "float32", "float16", "bfloat16", "int8", "complex64", "bool"


def moved(
    name: str, x: Any, padded: Any, packed: Any, there: Any = np.asarray
) -> tuple[Any, tuple[Any, ...], Any]:
    """A kernel, its arguments, and the array that it fills. there: puts offsets where the arrays are."""
    lists = ev.ragged(there(np.concatenate([[0], np.cumsum(LENGTHS)])))
    if name == "pack":
        return pack_rows, (lists, padded, kit.held_as(x).type(0), packed), packed
    flat = padded.reshape(-1, padded.shape[2])
    args = Places(len(LENGTHS), LONGEST), lists, x, kit.held_as(x).type(3), flat
    return pad_rows, args, flat


def wanted(name: str, x: np.ndarray, padded: np.ndarray) -> np.ndarray:
    at = np.concatenate([[0], np.cumsum(LENGTHS)])
    if name == "pack":
        rows = np.zeros_like(x)
        for t, n in enumerate(LENGTHS):
            rows[at[t] : at[t] + min(n, LONGEST)] = padded[t, :n]
        return rows
    rows = np.full_like(padded, 3)
    for t, n in enumerate(LENGTHS):
        rows[t, :n] = x[at[t] : at[t + 1]][:LONGEST]
    return rows.reshape(-1, x.shape[1])


def operands(width: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    made = np.random.default_rng(0).integers(-4, 5, (sum(LENGTHS) + len(LENGTHS) * LONGEST, width))
    x, padded = np.split(made, [sum(LENGTHS)])
    return x.astype(dtype), padded.reshape(len(LENGTHS), LONGEST, width).astype(dtype)
