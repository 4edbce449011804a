"""Powers of e in kernels by arithmetic alone: as exact as those of the C library, and of which LLVM makes vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly import kit
from evenly.interop.transfer import to_numpy

LONG, SHORT = ev.ragged(np.array([0, 16, 32])), ev.ragged(np.array([0, 15, 31]))


def powers(x: np.ndarray, target: str = "cpu") -> np.ndarray:
    exp = kit.exp_below_zero(x.dtype, LONG)

    @ev.kernel
    def computed(R, x, out):
        for t in R.tiles():
            for k in R.atoms(t):
                out[k] = exp(x[k])

    out = np.empty_like(x)
    computed.on(target)(ev.ragged(np.array([0, len(x)])), x, out)
    return out


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float32, -87.3), (np.float64, -708.3)])
def test_it_is_exact_to_about_one_bit(dtype: type, lowest: float) -> None:
    x = np.concatenate([[0], -np.logspace(-9, np.log10(-lowest), 5_000)]).astype(dtype)
    expected = np.array([math.exp(one) for one in x.astype(np.float64)])
    np.testing.assert_allclose(powers(x), expected, rtol=1.6 * np.finfo(dtype).eps)


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinity_nan_and_what_is_too_small(dtype: type, target: str) -> None:
    x = np.array([-0.0, -800, -np.inf, np.nan], dtype)
    np.testing.assert_array_equal(powers(x, target), [1, 0, 0, np.nan])


def test_short_lists_take_the_c_library() -> None:
    assert kit.exp_below_zero(np.dtype(np.float32), SHORT) is math.exp


@ev.kernel
def both(R, x, out, weights):
    for t in R.tiles():
        out[t] = math.exp(x[t])
        weights[t] = ev.exp_minus_abs(x[t])


def hold_both(dtype: type, target: str, moved: Callable[[Any], Any] = lambda a: a) -> None:
    """The language's own powers: what is exact by itself, and what is so beside 1."""
    limits = np.finfo(dtype)
    sizes = np.logspace(-20, 3.2, 2_000)  # from where a power is 1 to where it is inf or 0
    odd = [0.0, limits.tiny, limits.max, np.inf, np.nan, 708.3, 709.75, 745.1, 88.7, 103.9]
    x = np.concatenate([sizes, odd]).astype(dtype)
    x = np.concatenate([x, -x])
    given = [moved(a) for a in (x, np.zeros_like(x), np.ones_like(x))]
    both.on(target)(moved(ev.ragged(np.arange(len(x) + 1))), *given)
    with np.errstate(all="ignore"):
        powers, weights = (np.exp(a.astype(np.longdouble)).astype(dtype) for a in (x, -abs(x)))
    found = [to_numpy(a) for a in given[1:]]
    np.testing.assert_allclose(
        found[0], powers, rtol=2 * limits.eps, atol=2 * limits.smallest_subnormal
    )
    np.testing.assert_allclose(found[1], weights, rtol=0, atol=2 * limits.eps)


@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_the_language(dtype: type, target: str) -> None:
    hold_both(dtype, target)
