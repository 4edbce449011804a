"""ev.linalg.sddmm against the dense product: every layout, order of memory, type and mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.layouts import convert
from evenly.schedules import TABLE as SCHEDULES
from tests.algorithms.linalg.operands import ORDERS, dense
from tests.batteries import matrices, names

MATRIX = matrices(np.float64)["empty in the middle"]
SMALL = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))


def expected(matrix: Any, X: np.ndarray, Y: np.ndarray, weighted: bool = True) -> np.ndarray:
    """By the definition, in the order of the nonzeros of a SciPy matrix."""
    at = matrix.tocoo()
    dots = (X[at.row] * Y[at.col]).sum(axis=1)
    return dots * at.data if weighted else dots


def operands(matrix: Any, width: int = 3, **how: Any) -> list[np.ndarray]:
    return [dense(n, width, **how) for n in matrix.shape]


@pytest.mark.parametrize("name", names())
def test_formats(name: str) -> None:
    matrix = matrices(np.float64)[name]
    X, Y = operands(matrix)
    for given in (matrix, matrix.tocsc(), matrix.tocoo()):
        for A in given, convert(given, given.format):
            found = ev.linalg.sddmm(A, X, Y)
            np.testing.assert_array_equal(found, expected(given, X, Y))


@pytest.mark.parametrize("layout", ["ell", "sell", "bcsr", "dia"])
def test_layouts_with_padding(layout: str) -> None:
    """Each slot with a nonzero has its entry, all others are 0."""
    matrix = MATRIX.copy()
    matrix.sum_duplicates()
    X, Y = operands(matrix)
    A = convert(matrix, layout)
    found = ev.linalg.sddmm(A, X, Y, schedule="thread_mapped")
    assert found.shape == (A.num_atoms,)
    np.testing.assert_array_equal(
        np.sort(found[found != 0]), np.sort(expected(matrix, X, Y)[expected(matrix, X, Y) != 0])
    )


@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
@pytest.mark.parametrize("order", ORDERS)
def test_memory_in_any_order(order: str, target: str) -> None:
    X, Y = operands(MATRIX, order=order)
    for left, right in ((X, Y), (X, np.ascontiguousarray(Y))):
        out = np.ones(MATRIX.nnz)
        given = MATRIX, left, right
        assert ev.linalg.sddmm(*given, out=out, target=target) is out
        np.testing.assert_array_equal(out, expected(MATRIX, X, Y))
        ev.linalg.sddmm(*given, out=out, weighted=False, alpha=2, beta=-1, target=target)
        old = expected(MATRIX, X, Y)
        np.testing.assert_array_equal(out, 2 * expected(MATRIX, X, Y, False) - old)


@pytest.mark.parametrize("width", [0, 1, 33, 300])
def test_widths(width: int) -> None:
    X, Y = operands(MATRIX, width)
    np.testing.assert_array_equal(ev.linalg.sddmm(MATRIX, X, Y), expected(MATRIX, X, Y))


@pytest.mark.parametrize("schedule", [*SCHEDULES, "auto", ev.GroupMapped(8, lanes=4, vector=2)])
def test_schedules_and_repeated_bits(schedule: Any) -> None:
    rng = np.random.default_rng(3)
    matrix = sp.random_array((90, 70), density=0.1, rng=rng, format="csr", dtype=np.float32)
    X, Y = (rng.random((n, 6), np.float32) for n in matrix.shape)
    for given in (matrix, matrix.tocsc()):
        first, second = (ev.linalg.sddmm(given, X, Y, schedule=schedule) for _ in range(2))
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, expected(given, X, Y), rtol=1e-5)


def test_types_are_numpys() -> None:
    X, Y = operands(MATRIX, dtype=np.float32)
    assert ev.linalg.sddmm(MATRIX, X, Y).dtype == np.float64
    assert ev.linalg.sddmm(MATRIX, X, Y, weighted=False).dtype == np.float32
    turned = MATRIX.astype(np.complex64) * (1 + 2j)
    np.testing.assert_array_equal(ev.linalg.sddmm(turned, X, Y), expected(turned, X, Y))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ev.linalg.sddmm(SMALL, np.ones((3, 2)), np.ones((3, 2))),
         "X: expected an array of shape (2, 2), as many rows as A, got shape (3, 2)"),
        (lambda: ev.linalg.sddmm(SMALL, np.ones((2, 2)), np.ones((2, 3))),
         "Y: expected an array of shape (3, 2), as many rows as A has columns, as wide as X, got shape (2, 3)"),
        (lambda: ev.linalg.sddmm(SMALL, np.ones((2, 2)), np.ones((3, 2)), out=np.ones(4)),
         "out: expected a vector of 3, as many as A has nonzeros, got shape (4,)"),
        (lambda: ev.linalg.sddmm(SMALL, np.ones((2, 2)), np.ones((3, 2)), beta=1),
         "out: expected the out that beta scales, got none"),
        (lambda: ev.linalg.sddmm(ev.subset(ev.csr(SMALL), np.array([1])), np.ones((2, 2)), np.ones((3, 2))),
         "A: expected all rows of a matrix: a subset's atoms keep their numbers, got Subset; hint: "),
        (lambda: ev.linalg.sddmm(SMALL, np.ones(2), np.ones((3, 2))), "X: expected an array of two axes"),
        (lambda: ev.linalg.sddmm(SMALL, np.ones((2, 2), bool), np.ones((3, 2), bool)),
         "X: expected numbers, here or in the other operand, got bool in both"),
    ],
)  # fmt: skip
def test_mistakes(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value).startswith(said)
