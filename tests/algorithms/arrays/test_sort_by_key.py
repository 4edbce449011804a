"""ev.sort_by_key: stable in both orders, NaN last, of every type."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenly as ev
from tests.algorithms.cases import LENGTHS, REAL, keys, numbers, same
from tests.batteries import readable

pytestmark = pytest.mark.usefixtures("way")


def in_order(x: np.ndarray, descending: bool) -> np.ndarray:
    """The order by comparing one pair at a time, in plain Python."""
    plain = [float(v) if isinstance(v, float) else int(v) for v in readable(x).tolist()]

    def compare(i: int, j: int) -> int:
        a, b = plain[i], plain[j]
        if a != a or b != b:
            return (a != a) - (b != b)
        return ((a > b) - (a < b)) * (-1 if descending else 1)

    return np.array(sorted(range(len(x)), key=functools.cmp_to_key(compare)), np.int64)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", REAL)
def test_keys_positions_and_values(dtype: str, length: int, descending: bool) -> None:
    x = keys(dtype, length)
    order = in_order(x, descending)
    sorted_, positions = ev.sort_by_key(x, descending=descending)
    same(sorted_, x[order])
    same(positions, order.astype(np.int32))
    for of in ("float64", "complex128", "float16", "bool", "int32"):
        values = numbers(of, length)
        sorted_, found = ev.sort_by_key(x, values, descending=descending)
        same(sorted_, x[order])
        same(found, values[order])
    many = numbers("float32", length), numbers("complex128", length)
    sorted_, several = ev.sort_by_key(x, many, descending=descending)
    same(sorted_, x[order])
    for values, found in zip(many, several, strict=True):
        same(found, values[order])


@given(st.lists(st.floats(width=32)), st.booleans())
def test_floats_as_plain_python_sorts_them(values: list[float], descending: bool) -> None:
    x = np.array(values, np.float32)
    same(ev.sort_by_key(x, descending=descending)[0], x[in_order(x, descending)])


def test_no_values_at_all_are_moved_along() -> None:
    assert ev.sort_by_key(np.array([2, 1]), ())[1] == ()
    assert ev.compact(np.array([True]), ()) == ()


def test_arguments_stay_as_they_are_and_may_be_strided_or_read_only() -> None:
    x, values = np.array([3, 9, 1, 9, 2, 9], np.int32)[::2], np.arange(3.0)
    x.flags.writeable = values.flags.writeable = False
    sorted_, found = ev.sort_by_key(x, values)
    assert (sorted_.tolist(), found.tolist()) == ([1, 2, 3], [1, 2, 0])
    assert x.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ev.sort_by_key([1, 2]), "keys: expected an array, got list; hint: make an array"),
        (lambda: ev.sort_by_key(np.ones((2, 2))), "keys: expected a vector, got shape (2, 2)"),
        (lambda: ev.sort_by_key(np.ones(2, complex)),
         "keys: expected real numbers, got complex ones; hint: sort by its real parts or by its abs"),
        (lambda: ev.sort_by_key(np.ones(2), np.ones(3)),
         "values: expected a vector of 2, as many as keys has, got shape (3,)"),
        (lambda: ev.sort_by_key(np.ones(2), (np.ones(2), np.ones(1))),
         "values[1]: expected a vector of 2, as many as keys has, got shape (1,)"),
        (lambda: ev.sort_by_key(np.ones(2, "U1")), "keys: expected an array of numbers, got dtype <U1"),
    ],
)  # fmt: skip
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value).startswith(said)
