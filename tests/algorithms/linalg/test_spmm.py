"""ev.linalg.spmm against SciPy: every layout, order of memory, type and mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.language.types import name_of
from evenly.layouts import convert
from evenly.schedules import TABLE as SCHEDULES
from tests.algorithms.linalg.operands import ORDERS, dense, placed
from tests.batteries import array, matrices, names, readable

LAYOUTS = ("csr", "csc", "coo", "ell", "sell", "bcsr", "dia")
MATRIX = matrices(np.float64)["empty in the middle"]
SMALL = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))


@pytest.mark.parametrize("name", names())
def test_formats_and_layouts(name: str) -> None:
    matrix = matrices(np.float64)[name]
    B = dense(matrix.shape[1], 3)
    for given in (matrix, matrix.tocsc(), matrix.tocoo(), *(convert(matrix, n) for n in LAYOUTS)):
        C = ev.linalg.spmm(given, B, schedule="group_mapped")
        assert (type(C), C.dtype, C.shape) == (np.ndarray, np.float64, (matrix.shape[0], 3))
        np.testing.assert_array_equal(C, matrix @ B)


@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
@pytest.mark.parametrize("order", ORDERS)
def test_memory_in_any_order(order: str, target: str) -> None:
    B, old = dense(MATRIX.shape[1], 5, order=order), dense(MATRIX.shape[0], 5)
    for of_out in ORDERS:
        out = placed(old, of_out)
        how = {"target": target, "out": out}
        assert ev.linalg.spmm(MATRIX, B, **how) is out
        np.testing.assert_array_equal(out, MATRIX @ B)
        out[...] = old
        ev.linalg.spmm(MATRIX, B, alpha=2, beta=-3, **how)
        np.testing.assert_array_equal(out, 2 * (MATRIX @ B) - 3 * old)


def test_what_lies_in_c_or_fortran_order_is_not_copied() -> None:
    from evenly import kit

    for order, turned in (("C", None), ("F", 1)):
        x = dense(4, 3, order=order)
        found = kit.dense(x, "x")
        assert (found.turned, found.copied) == (turned, False)
        assert np.shares_memory(found.array, x) and found.array.flags.c_contiguous
    assert kit.dense(dense(4, 3, order="rows apart"), "x").copied


def test_one_column() -> None:
    """It is a product with a vector, of the same types and with the same errors."""
    B = dense(MATRIX.shape[1], 1, np.float32)
    for A in (MATRIX, ev.csr(MATRIX), MATRIX.tocsc(), MATRIX.tocoo()):
        C = ev.linalg.spmm(A, B)
        assert C.shape == (MATRIX.shape[0], 1)
        np.testing.assert_array_equal(C, MATRIX @ B)
    wide = dense(MATRIX.shape[1], 3, np.float32)
    for column in wide[:, 1:2], wide[::-1, :1]:  # of other strides, as any operand may have
        np.testing.assert_array_equal(ev.linalg.spmm(MATRIX, column), MATRIX @ column)
    assert ev.linalg.spmm(MATRIX, B, alpha=np.array([1.0])).dtype == np.float64
    with pytest.raises(ev.InputError, match="B: expected an array of shape"):
        ev.linalg.spmm(MATRIX, B[1:])
    with pytest.raises(ev.InputError, match=r"hint: B\.astype"):
        ev.linalg.spmm(MATRIX, B.astype(object))


@pytest.mark.parametrize("width", [0, 1, 2, 33, 300, 1024])
def test_widths(width: int) -> None:
    B = dense(MATRIX.shape[1], width, np.float32)
    np.testing.assert_array_equal(ev.linalg.spmm(MATRIX, B), MATRIX @ B)


@pytest.mark.parametrize("schedule", [*SCHEDULES, "auto", ev.GroupMapped(8, lanes=4, vector=2)])
def test_schedules_and_repeated_bits(schedule: Any) -> None:
    rng = np.random.default_rng(3)
    matrix = sp.random_array((300, 200), density=0.1, rng=rng, format="coo", dtype=np.float32)
    B = rng.random((200, 6), np.float32)
    for given in (matrix, matrix.tocsc(), matrix.tocsr()):
        first, second = (ev.linalg.spmm(given, B, schedule=schedule) for _ in range(2))
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, matrix @ B, rtol=1e-5)


@pytest.mark.parametrize(
    ("of_matrix", "of_dense"),
    [("float32", "float64"), ("int32", "float32"), ("complex64", "float64"), ("bool", "int64")],
)
def test_types_are_numpys(of_matrix: str, of_dense: str) -> None:
    matrix, B = MATRIX.astype(of_matrix), dense(MATRIX.shape[1], 2, of_dense)
    C = ev.linalg.spmm(matrix, B)
    assert C.dtype == (matrix @ B).dtype
    np.testing.assert_array_equal(C, matrix @ B)


@pytest.mark.parametrize("bits16", ["float16", "bfloat16"])
def test_16_bits_give_16_bits_and_sums_of_32(bits16: str) -> None:
    values, offsets, columns = np.float32([256, 1, 2.0**-8]), np.int32([0, 3]), np.int32([0, 1, 2])
    A = ev.csr((array(bits16, values), columns, offsets), shape=(1, 3))
    B = array(bits16, np.ones((3, 2)))
    C = ev.linalg.spmm(A, B)
    assert name_of(C.dtype) == bits16
    np.testing.assert_array_equal(readable(C), [[{"float16": 257, "bfloat16": 258}[bits16]] * 2])
    exact = ev.linalg.spmm(A, B, out=np.empty((1, 2), np.float32))
    np.testing.assert_array_equal(exact, [[257 + 2.0**-8] * 2])


def test_a_subset_leaves_other_rows_alone() -> None:
    rows, B = np.array([4, 0], np.int32), dense(MATRIX.shape[1], 2)
    part = ev.subset(ev.csr(MATRIX), rows)
    expected = np.zeros((MATRIX.shape[0], 2))
    expected[rows] = (MATRIX @ B)[rows]
    np.testing.assert_array_equal(ev.linalg.spmm(part, B), expected)
    out = np.full_like(expected, 9)
    ev.linalg.spmm(part, B, out=out)
    assert (out[1] == 9).all()


def test_the_transpose() -> None:
    B = dense(MATRIX.shape[0], 3)
    for A in ev.csr(MATRIX), ev.csc(MATRIX), ev.coo(MATRIX):
        assert A.T.shape == MATRIX.shape[::-1]
        np.testing.assert_array_equal(ev.linalg.spmm(A.T, B), MATRIX.T @ B)
        np.testing.assert_array_equal(ev.linalg.spmv(A.T, B[:, 0].copy()), MATRIX.T @ B[:, 0])
    np.testing.assert_array_equal(ev.linalg.spmm(MATRIX.T, B), MATRIX.T @ B)


def test_what_is_multiplied_by_0_does_not_count() -> None:
    B, out = dense(MATRIX.shape[1], 2), np.full((MATRIX.shape[0], 2), np.nan)
    ev.linalg.spmm(MATRIX, B, out=out, alpha=1, beta=0)
    np.testing.assert_array_equal(out, MATRIX @ B)
    ev.linalg.spmm(MATRIX, np.full_like(B, np.inf), out=out, alpha=0, beta=2)
    np.testing.assert_array_equal(out, 2 * (MATRIX @ B))
    assert ev.linalg.spmm(MATRIX.astype(np.int32), B.astype(np.int32), alpha=0.5).dtype == float


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ev.linalg.spmm(SMALL, np.ones(3)),
         "B: expected an array of two axes, got shape (3,); hint: x.reshape(-1, 1) makes a vector"),
        (lambda: ev.linalg.spmm(SMALL, np.ones((2, 4))),
         "B: expected an array of shape (3, 4), as many rows as A has columns, got shape (2, 4)"),
        (lambda: ev.linalg.spmm(np.ones((2, 2)), np.ones((2, 2))), "A: expected a"),
        (lambda: ev.linalg.spmm(SMALL, np.ones((3, 4)), out=np.ones((2, 3))),
         "out: expected an array of shape (2, 4), the rows of A and the columns of B, got shape (2, 3)"),
        (lambda: ev.linalg.spmm(SMALL, np.ones((3, 4)), out=np.ones((2, 4), np.int32)),
         "out: expected an array for results of float64, got int32"),
        (lambda: ev.linalg.spmm(SMALL, np.ones((3, 4)), beta=1), "out: expected the C that beta scales, got none"),
        (lambda: ev.linalg.spmm(SMALL, np.ones((3, 4)), alpha="2"), "alpha: expected a number"),
        (lambda: ev.linalg.spmm(SMALL, B := np.ones((3, 4)), out=B[:2]), "out: expected an output that shares no memory with B"),
    ],
)  # fmt: skip
def test_mistakes(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value).startswith(said)
