"""ev.prefix_sum and ev.compact against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenly as ev
from tests.algorithms.cases import LENGTHS, NUMBERS, numbers, same
from tests.batteries import array, readable

pytestmark = pytest.mark.usefixtures("way")


@pytest.mark.parametrize("include_initial", [False, True])
@pytest.mark.parametrize("length", [*LENGTHS, 32 * 33, 40_000])
@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
def test_sums_have_numpys_values_and_types(dtype: str, length: int, include_initial: bool) -> None:
    x = numbers(dtype, length)
    found = ev.prefix_sum(x, include_initial=include_initial)
    held = np.float32 if "float16" in dtype else None
    expected = np.cumsum(readable(x), dtype=held)
    if include_initial:
        expected = np.append(np.zeros(1, expected.dtype), expected)
    same(found, array(dtype, expected) if held else expected)


def test_types_that_are_asked_for_hold_the_sums() -> None:
    near = np.full(3, 2**31 - 1, np.int32)
    assert ev.prefix_sum(near).tolist() == [2**31 - 1, 2**32 - 2, 3 * (2**31 - 1)]
    assert ev.prefix_sum(near, dtype=np.int32).tolist() == [2**31 - 1, -2, 2**31 - 3]
    small = np.full(4, 2.0**-24, np.float32)
    small[0] = 1
    assert ev.prefix_sum(small, dtype=np.float64)[-1] == 1 + 3 * 2.0**-24
    half = np.full(5000, 1.0, np.float16)  # in float16, 2048 + 1 is 2048
    assert ev.prefix_sum(half)[-1] == 5000
    assert ev.prefix_sum(half, dtype=np.float32)[-2] == 4999
    assert ev.prefix_sum(np.ones(40, np.bool_), dtype=np.float32)[-1] == 40


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=200))
def test_integers_wrap_around(values: list[int]) -> None:
    x = np.array(values, np.int64)
    same(ev.prefix_sum(x), np.cumsum(x))


def test_floats_have_the_same_bits_on_every_run() -> None:
    x = np.random.default_rng(0).normal(size=5000).astype(np.float32)
    first = ev.prefix_sum(x)
    same(ev.prefix_sum(x), first)
    np.testing.assert_allclose(first, np.cumsum(x, dtype=np.float64), rtol=1e-4, atol=1e-3)


def test_sums_into_an_array() -> None:
    x, out = np.arange(5, dtype=np.int32), np.empty(6)
    assert ev.prefix_sum(x, include_initial=True, out=out) is out
    assert out.tolist() == [0, 0, 1, 3, 6, 10]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ev.prefix_sum(np.ones(3), out=np.ones(4)),
         "out: expected a vector of 3, a sum for each element of x, got shape (4,)"),
        (lambda: ev.prefix_sum(np.ones(3), include_initial=True, out=np.ones(3)),
         "out: expected a vector of 4, a sum for each element of x and 0, got shape (3,)"),
        (lambda: ev.prefix_sum(np.ones(3), out=np.ones(3, np.int32)),
         "out: expected a type that holds sums of float64, got int32"),
        (lambda: ev.prefix_sum(np.ones(3, complex), dtype=np.float64),
         "out: expected a type that holds sums of complex128, got float64"),
        (lambda: ev.prefix_sum(np.ones(3), dtype="floa"), "dtype: expected a NumPy dtype, got 'floa'"),
        (lambda: ev.prefix_sum(np.ones(3), dtype=bool),
         "out: expected a type that holds sums of float64, got bool"),
        (lambda: ev.prefix_sum(np.ones(3), out=np.broadcast_to(np.ones(1), 3)),
         "out: expected an array that can be written, got a read-only one"),
        (lambda: ev.compact(np.ones(3)), "keep: expected bool, got float64; hint: keep != 0"),
        (lambda: ev.compact(np.ones(3, bool), np.ones(2)),
         "values: expected a vector of 3, as many as keep has, got shape (2,)"),
    ],
)  # fmt: skip
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value) == said


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_what_is_kept_keeps_its_order(length: int, share: float) -> None:
    keep = np.random.default_rng(length).random(length) < share
    same(ev.compact(keep), np.flatnonzero(keep).astype(np.int32))
    for dtype in (*NUMBERS, "bool"):
        x = numbers(dtype, length)
        same(ev.compact(keep, x), x[keep])
    both = numbers("int32", length), numbers("complex64", length)
    found = ev.compact(keep, both)
    assert isinstance(found, tuple)
    for x, kept in zip(both, found, strict=True):
        same(kept, x[keep])
