"""Nasty vectors: of every type, with NaN of both signs, zeros of both signs, infinities, ties; none, one, many."""

from __future__ import annotations

import numpy as np

from tests.batteries import array

REAL = ("float32", "float64", "int32", "int64", "bool", "float16", "bfloat16")
NUMBERS = ("float32", "float64", "int32", "int64", "float16", "bfloat16", "complex64", "complex128")
LENGTHS = (0, 1, 2, 31, 32, 33, 1000)
FLOATS = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 2.0**-14, 2.0**-24, -3.0]


def keys(dtype: str, length: int, seed: int = 0) -> np.ndarray:
    """Keys with many ties."""
    rng = np.random.default_rng([seed, length])
    if "float" in dtype:
        return array(dtype, rng.choice(np.array(FLOATS), length))
    if dtype == "bool":
        return rng.integers(0, 2, length).astype(np.bool_)
    ends = np.iinfo(dtype)
    few = np.array([ends.min, ends.max, 0, -1, 1, 5, 70_000], dtype)
    return rng.choice(few, length)


def numbers(dtype: str, length: int, seed: int = 0) -> np.ndarray:
    """Small integers, whose sums are exact in every order."""
    rng = np.random.default_rng([seed, length, 1])
    if dtype == "bool":
        return rng.integers(0, 2, length).astype(np.bool_)
    made = rng.integers(-3, 4, length)
    return array(dtype, made + 1j * made[::-1] if "complex" in dtype else made)


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """The same type, length and bits."""
    assert type(found) is np.ndarray
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()
