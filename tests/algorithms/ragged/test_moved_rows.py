"""Rows of lists that are moved: 16 bytes at a time, whole sectors, no byte more often than needed."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from tests.algorithms.ragged.rows import DTYPES, LENGTHS, LONGEST, moved, operands, wanted
from tests.batteries import array, readable
from tests.dense import unaligned

pytestmark = pytest.mark.simt
TEAMS = ev.GroupMapped(32, lanes=32, vector=16), ev.NonzeroSplit(64, 1, lanes=32, vector=16)
SHORT = ev.GroupMapped(8, lanes=4, vector=8), ev.MergePath(32, 2, lanes=4, vector=8)
SECTOR, WORD, WARP = 32, 16, 32
MORE = pytest.mark.slow


@pytest.mark.parametrize("schedule", TEAMS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=MORE), "int8"])
@pytest.mark.parametrize("name", ["pack", "pad"])
def test_they_move_in_words_and_each_sector_once(
    name: str, dtype: str, schedule: ev.Schedule
) -> None:
    width = WARP * WORD // np.dtype(dtype).itemsize  # a word for each lane
    x, padded = operands(width, dtype)
    kernel, args, out = moved(name, x, padded, np.zeros_like(x))
    (found,) = kernel[schedule].on("simt").plan(*args).counters()
    words = WARP * WORD // SECTOR
    assert found.totals["global_store_requests"] == len(out)
    assert found.totals["global_store_sectors"] == len(out) * words
    assert found.store_coalescing == 1
    rows = sum(min(n, LONGEST) for n in LENGTHS)
    positions = 4 * len(LENGTHS) + 2 * len(out)  # loads of where lists begin and end
    assert found.totals["global_load_requests"] <= rows + positions
    assert found.totals["global_load_sectors"] <= rows * words + positions


@pytest.mark.parametrize("schedule", SHORT, ids=str)
@pytest.mark.parametrize(
    "dtype", [t if t in ("int8", "float16") else pytest.param(t, marks=MORE) for t in DTYPES]
)
@pytest.mark.parametrize("name", ["pack", "pad"])
def test_rows_of_any_width_that_begin_anywhere(
    name: str, dtype: str, schedule: ev.Schedule
) -> None:
    for width in (1, 6, 16, 33, 40):
        x, padded = operands(width, np.int8)
        expected = wanted(name, x, padded) != 0 if dtype == "bool" else wanted(name, x, padded)
        for lies in (np.asarray, unaligned):
            given = (lies(array(dtype, a)) for a in (x, padded, np.zeros_like(x)))
            kernel, args, out = moved(name, *given)
            kernel[schedule].on("simt", seed=width)(*args)
            np.testing.assert_array_equal(np.asarray(readable(out)), expected)
