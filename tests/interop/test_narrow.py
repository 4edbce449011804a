"""Conversion of bfloat16, against exact arithmetic: every element, and numbers that are hard to round."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import evenly as ev
from evenly.interop.narrow import narrowed, widened
from evenly.language.types import BFLOAT16
from tests.batteries import matrices, vector

ALL = np.arange(2**16, dtype=np.uint16).view(BFLOAT16.dtype)


def test_every_element_comes_back() -> None:
    numbers = widened(ALL)
    assert numbers.dtype == np.float32
    same = narrowed(numbers).view(np.uint16) == ALL.view(np.uint16)
    nan = np.isnan(numbers)
    assert np.all(same | nan)
    assert np.all(np.isnan(widened(narrowed(numbers[nan]))))
    assert np.all(np.signbit(widened(narrowed(numbers))) == np.signbit(numbers))


def exactly(value: float) -> float:
    """Round a number to the nearest bfloat16 in exact arithmetic."""
    if value == 0 or not math.isfinite(value):
        return value
    exponent = max(math.frexp(value)[1] - 8, -133)
    whole = Fraction(value) / Fraction(2) ** exponent
    nearest = round(whole) * Fraction(2) ** exponent  # Python rounds half to even
    size = math.inf if abs(nearest) >= 2**128 else abs(float(nearest))
    return math.copysign(size, value)


def hard() -> list[float]:
    rng = np.random.default_rng(0)
    found = [
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        3.4e38,
        3.3961775e38,
        3.3961776e38,
        1e300,
        1e-300,
        2.0**-133,
        2.0**-134,
        1.5 * 2.0**-133,
    ]
    for e in (-140, -134, -126, -1, 0, 1, 100, 127):
        for m in (1, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-7, 2 - 2.0**-8, 2 - 2.0**-9):
            for off in (0, 2.0**-30, -(2.0**-30), 2.0**-52, -(2.0**-52)):
                found += [math.ldexp(m * (1 + off), e), -math.ldexp(m * (1 + off), e)]
    return found + rng.standard_normal(500).tolist()  # fmt: skip


def test_doubles_are_rounded_once() -> None:
    values = hard()
    expected = np.array([exactly(v) for v in values])
    got = widened(narrowed(np.array(values))).astype(np.float64)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


@pytest.mark.parametrize("value", [1, True, np.float32(1), np.int64(1)])
def test_single_numbers_too(value: object) -> None:
    assert widened(narrowed(value)) == np.float32(1)
    assert type(widened(narrowed(value))) is np.float32


def test_shapes_stay() -> None:
    assert narrowed(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert widened(narrowed(np.ones((2, 3)))).tolist() == [[1.0] * 3] * 2


def test_ml_dtypes_has_the_same_bits() -> None:
    theirs = pytest.importorskip("ml_dtypes").bfloat16
    with np.errstate(all="ignore"):
        numbers = np.array(hard()).astype(np.float32)
        expected = numbers.astype(theirs)
    got = narrowed(numbers)
    np.testing.assert_array_equal(got.view(np.uint16), expected.view(np.uint16))


@ev.kernel
def scaled(A, factor, x, y):
    for row in A.tiles():
        y[row] = factor * sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_arrays_and_numbers_of_ml_dtypes(target: str) -> None:
    theirs = pytest.importorskip("ml_dtypes").bfloat16
    matrix = matrices()["stencil"]
    x, y = vector(matrix.shape[1]), np.zeros(matrix.shape[0], theirs)
    A = ev.csr((matrix.data.astype(theirs), matrix.indices, matrix.indptr), shape=matrix.shape)
    expected = matrix @ x  # small integers: exact in bfloat16
    assert ev.spmv(A, x.astype(theirs), target=target).dtype == theirs
    scaled.on(target)(A, theirs(1.5), x.astype(theirs), y)
    np.testing.assert_array_equal(
        y.astype(np.float32), (1.5 * expected).astype(theirs).astype(np.float32)
    )
