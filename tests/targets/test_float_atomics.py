"""Atomic minima and maxima of floats: zeros of both signs, infinities and NaN, also where many threads meet."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.transfer import to_numpy, to_place

SPECIAL = [-np.inf, -2.5, -1e-40, -0.0, 0.0, 1e-40, 2.5, np.inf, np.nan]
TARGETS = [
    "cpu",
    pytest.param("simt", marks=pytest.mark.simt),
    pytest.param("cuda", marks=pytest.mark.gpu),
]


@ev.kernel
def pairs(E, v, low, high, old_low, old_high):
    for i in E.tiles():
        old_low[i] = ev.atomic_min(low, i, v[i])
        old_high[i] = ev.atomic_max(high, i, v[i])


@ev.kernel
def meeting(E, v, low, high):
    for i in E.tiles():
        ev.atomic_min(low, i % 3, v[i])
        ev.atomic_max(high, i % 3, v[i])


def run(kernel: Any, target: str, *arrays: np.ndarray) -> list[np.ndarray]:
    place = "cuda" if target == "cuda" else "cpu"
    given = [to_place(a.copy(), place) for a in arrays]
    kernel["thread_mapped"].on(target)(ev.kit.each(len(arrays[0])), *given)
    return [to_numpy(a) for a in given]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_pair_of_special_numbers(dtype: type, target: str) -> None:
    there, v = np.array([*product(SPECIAL, SPECIAL)], dtype).T.copy()
    arrays = v, there, there, np.empty_like(v), np.empty_like(v)
    expected, found = run(pairs, "python", *arrays), run(pairs, target, *arrays)
    for mine, theirs in zip(found, expected, strict=True):
        assert np.array_equal(np.isnan(mine), np.isnan(theirs))
        numbers = ~np.isnan(mine)
        assert mine[numbers].tobytes() == theirs[numbers].tobytes()  # the signs of zeros, too


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_threads_meet(dtype: type, target: str) -> None:
    v = np.random.default_rng(0).standard_normal(300).astype(dtype)
    v[1::3] = np.abs(v[1::3])
    v[200] = np.nan  # for element 2
    v[[4, 7]] = -0.0, 0.0
    start = np.full(3, np.inf, dtype), np.full(3, -np.inf, dtype)
    _, low, high = run(meeting, target, v, *start)
    np.testing.assert_array_equal(low, [v[i::3].min() for i in range(3)])
    np.testing.assert_array_equal(high, [v[i::3].max() for i in range(3)])
    assert np.signbit(low[1])
