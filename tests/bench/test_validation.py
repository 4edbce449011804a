"""The bound: it holds for every right result, and catches every term that is missing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from evenly.bench.validation import Reference, gamma
from evenly.cli.dtypes import DTYPES, as_held, held_as, random_vector
from tests.batteries import matrices, names


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", names())
def test_scipy_is_right(name, dtype):
    matrix = matrices(dtype)[name]
    x = np.random.default_rng(0).random(matrix.shape[1], dtype)
    known = Reference(matrix, x)
    y = matrix @ x
    assert known.errors(y) == 0
    assert known.largest(y) < 1e-3


@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=60),
    st.randoms(use_true_random=False),
)
def test_any_order_of_summation_is_right(terms, random):
    """Cancellation, tiny and huge terms: sums in float32, in any order, are within the bound."""
    matrix = sp.csr_array(np.array([terms], np.float32))
    x = np.array([random.random() for _ in terms], np.float32)
    order = list(range(len(terms)))
    random.shuffle(order)
    total = np.float32(0)
    with np.errstate(all="ignore"):
        for i in order:
            total = np.float32(total + np.float32(terms[i]) * x[i])
        assert Reference(matrix, x).errors(np.array([total])) == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_has_its_bound(dtype):
    """Sums in the accumulator's type pass, in two orders. Sums in a narrower type do not."""
    matrix, x = problem(dtype)
    known = Reference(matrix, x)
    backwards = sp.csr_array(
        (matrix.data[::-1].copy(), matrix.indices[::-1].copy(), matrix.nnz - matrix.indptr[::-1]),
        matrix.shape,
    )
    assert known.errors(matrix @ x) == 0
    assert known.errors((backwards @ x)[::-1]) == 0
    narrow = {"float64": np.float32, "complex128": np.complex64}.get(dtype, np.float16)
    if narrow is not np.float16:
        assert known.errors((matrix.astype(narrow) @ x.astype(narrow)).astype(dtype)) > 100
    assert known.errors(matrix @ x * (1 + 1e-3)) > 100


@pytest.mark.parametrize("part", [1, 1j])
def test_complex_numbers_without_a_value(part):
    matrix = sp.csr_array(np.array([[1, 2], [np.inf * 1, 1]], np.complex64))
    known = Reference(matrix, np.ones(2, np.complex64))
    assert known.errors(np.array([3, np.inf * part], np.complex64)) == 0
    assert known.errors(np.array([np.nan, 5], np.complex64)) == 2
    assert known.errors(np.array([3 + 1e-3 * part, np.nan], np.complex64)) == 1


def problem(dtype):
    rng = np.random.default_rng(1)
    matrix = sp.random_array((200, 100), density=0.2, rng=rng, format="csr")
    matrix = matrix.astype(held_as(dtype))
    if matrix.dtype.kind == "c":
        matrix.data *= np.exp(6j * rng.random(matrix.nnz)).astype(matrix.dtype)
    matrix.data = as_held(matrix.data, dtype)
    return matrix, random_vector(100, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_missing_term_is_caught(dtype):
    matrix, x = problem(dtype)
    y = matrix @ x
    for k in range(0, matrix.nnz, 37):
        row = np.searchsorted(matrix.indptr, k, side="right") - 1
        wrong = y.copy()
        wrong[row] -= matrix.data[k] * x[matrix.indices[k]]
        assert Reference(matrix, x).errors(wrong) == 1


def test_what_is_no_number():
    matrix = sp.csr_array(np.array([[1.0, 0], [np.inf, 1], [np.nan, 1], [0, 0]], np.float32))
    known = Reference(matrix, np.ones(2, np.float32))
    assert known.errors(np.array([1, np.inf, np.nan, 0], np.float32)) == 0
    assert known.errors(np.array([np.nan, -np.inf, 1, np.nan], np.float32)) == 4
    assert known.errors(np.array([np.inf, 5, np.inf, 1e-30], np.float32)) == 4
    assert known.largest(np.array([1, np.inf, np.nan, 1e-30], np.float32)) != 0


def test_overflow_on_the_way_is_no_error():
    top = np.float32(3e38)
    matrix = sp.csr_array(np.array([[top, top, -top]], np.float32))
    known = Reference(matrix, np.ones(3, np.float32))
    assert known.errors(np.array([np.inf], np.float32)) == 0
    assert known.errors(np.array([top], np.float32)) == 0
    assert known.errors(np.array([0], np.float32)) == 1


def test_gamma():
    assert gamma(np.array([0, 1]), np.float64).tolist() == [0, 2**-53 / (1 - 2**-53)]
    assert np.isfinite(gamma(np.array([10**9]), np.float32)).all()
