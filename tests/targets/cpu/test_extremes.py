"""Least and greatest floats of long tiles: NaN, zeros of both signs, nothing but infinity, tiles that workers share."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.cpu.programs import compiled, run

import evenly as ev


def extremes(R, x, low, high, total):
    for t in R.tiles():
        least, most, added = np.inf, -np.inf, 0.0
        for k in R.atoms(t):
            least = min(least, x[k])
            most = max(most, 2 * x[k])
            added += 1.0
        low[t] = least
        high[t] = most
        total[t] = added


def tile(dtype: type, length: int, **values: float) -> np.ndarray:
    x = np.full(length, values.pop("rest"), dtype)
    for i, value in enumerate(values.values()):
        x[(7 * i + 3) % length] = value
    return x


def tiles(dtype: type, length: int) -> list[np.ndarray]:
    minus_nan = np.copysign(np.nan, -1)
    return [
        tile(dtype, length, rest=1.5, a=-2.5, b=4.0),
        tile(dtype, length, rest=1.0, a=np.nan),
        tile(dtype, length, rest=1.0, a=minus_nan, b=np.inf),
        tile(dtype, length, rest=np.nan),
        tile(dtype, length, rest=0.0, a=-0.0),
        tile(dtype, length, rest=-0.0, a=0.0),
        tile(dtype, length, rest=-0.0),
        tile(dtype, length, rest=0.0),
        tile(dtype, length, rest=-1.0, a=-0.0, b=0.0),
        tile(dtype, length, rest=1.0, a=0.0, b=-0.0),
        tile(dtype, length, rest=-np.inf),
        tile(dtype, length, rest=np.inf, a=-0.0),
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [5, 16, 131])
@pytest.mark.parametrize("workers", [1, 3, 16])
def test_long_tiles_give_what_the_reference_gives(dtype: type, length: int, workers: int) -> None:
    x = np.concatenate(tiles(dtype, length))
    offsets = np.arange(0, len(x) + 1, length)
    given = {"R": ev.ragged(offsets), "x": x}
    given |= {name: np.zeros(len(offsets) - 1, dtype) for name in ("low", "high", "total")}
    run(compiled(extremes, given, ev.MergePath()), given, workers)
    wanted = {name: np.zeros_like(given[name]) for name in ("low", "high", "total")}
    ev.kernel(extremes).on("python")(**given | wanted)
    for name, array in wanted.items():
        np.testing.assert_array_equal(given[name], array)
        np.testing.assert_array_equal(np.signbit(given[name]), np.signbit(array), str(name))


def test_a_part_of_a_tile_may_begin_with_a_result() -> None:
    """Members of a group walk a tile one after the other, into the same results."""
    x = np.concatenate([np.full(600, 3.0), [np.nan], np.full(1399, 2.0), np.full(2000, -1.0)])
    given = {"R": ev.ragged(np.array([0, 2000, 4000])), "x": x}
    given |= {name: np.zeros(2) for name in ("low", "high", "total")}
    run(compiled(extremes, given, ev.WarpMapped()), given)
    np.testing.assert_array_equal(given["low"], [np.nan, -1.0])
    np.testing.assert_array_equal(given["high"], [np.nan, -2.0])
    np.testing.assert_array_equal(given["total"], [2000, 2000])
