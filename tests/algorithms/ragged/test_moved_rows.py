"""Rows of lists that are moved: 16 bytes at a time, whole sectors, no byte more often than needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly import kit
from evenly.algorithms.ragged.jagged_to_padded import Places, pad_rows
from evenly.algorithms.ragged.padded_to_jagged import pack_rows
from tests.batteries import array, readable
from tests.dense import unaligned

pytestmark = pytest.mark.simt
LENGTHS = 5, 0, 9, 1, 2  # the third is cut, the others filled up
LONGEST = 7
TEAM = ev.GroupMapped(32, lanes=32, vector=16)
SECTOR, WORD, WARP = 32, 16, 32


def moved(name: str, x: Any, padded: Any, packed: Any) -> tuple[Any, tuple[Any, ...], Any]:
    """A kernel, its arguments, and the array that it fills."""
    lists = ev.ragged(np.concatenate([[0], np.cumsum(LENGTHS)]))
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8])
@pytest.mark.parametrize("name", ["pack", "pad"])
def test_they_move_in_words_and_each_sector_once(name: str, dtype: Any) -> None:
    width = WARP * WORD // np.dtype(dtype).itemsize  # a word for each lane
    # Of ones, so that no emulated conversion of a float of 16 bits branches.
    x, padded = (np.ones_like(a) for a in operands(width, dtype))
    kernel, args, out = moved(name, x, padded, np.zeros_like(x))
    (found,) = kernel[TEAM].on("simt").plan(*args).counters()
    words = WARP * WORD // SECTOR
    assert found.totals["global_store_requests"] == len(out)
    assert found.totals["global_store_sectors"] == len(out) * words
    assert found.store_coalescing == 1
    rows = sum(min(n, LONGEST) for n in LENGTHS)
    positions = 4 * len(LENGTHS) + 2 * len(out)  # loads of where lists begin and end
    assert found.totals["global_load_requests"] <= rows + positions
    assert found.totals["global_load_sectors"] <= rows * words + positions


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "complex64", "bool"])
@pytest.mark.parametrize("name", ["pack", "pad"])
def test_rows_of_any_width_that_begin_anywhere(name: str, dtype: str) -> None:
    for width in (1, 6, 16, 33, 40):
        x, padded = operands(width, np.int8)
        expected = wanted(name, x, padded) != 0 if dtype == "bool" else wanted(name, x, padded)
        for lies in (np.asarray, unaligned):
            given = (lies(array(dtype, a)) for a in (x, padded, np.zeros_like(x)))
            kernel, args, out = moved(name, *given)
            kernel[ev.GroupMapped(8, lanes=4, vector=8)].on("simt", seed=width)(*args)
            np.testing.assert_array_equal(np.asarray(readable(out)), expected)
