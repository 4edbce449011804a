"""The kit for algorithms: what it accepts, returns and refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly import kit
from evenly.layouts import convert

MATRIX = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_any_format_by_rows(format: str) -> None:
    A = kit.as_rows(MATRIX.asformat(format))
    assert kit.shape(A) == (2, 3)
    y = np.zeros(2)
    row_sums(A, y)
    assert y.tolist() == [3, 3]


@ev.kernel
def row_sums(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))


@pytest.mark.parametrize("made", [kit.each, kit.whole])
def test_layouts_of_a_number_are_shared(made: Any) -> None:
    assert made(5) is made(np.int64(5))
    count = np.array(5)
    assert made(count) is made(5)
    count += 1
    assert made(count) is made(6)
    for wrong in 5.0, [5], -1:
        with pytest.raises(ev.InputError, match="count: expected an integer of at least 0"):
            made(wrong)


def test_a_csr_matrix_stays_as_it_is() -> None:
    assert kit.as_rows(MATRIX) is MATRIX


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: kit.as_rows(np.ones((2, 2)), "M"), "M: expected a sparse matrix"),
        (lambda: kit.as_rows(object(), "M"), "M: expected an array, a layout, a sparse matrix or a number"),
        (lambda: kit.shape(ev.ragged(np.array([0, 1])), "L"), "L: expected a sparse matrix, got Ragged"),
        (lambda: kit.shape(np.ones((2, 2)), "M"), "M: expected a sparse matrix, got ndarray; hint: scipy"),
        (lambda: kit.check_shape(np.ones(2), (3,), "x", "the columns of A"),
         "x: expected a vector of 3, the columns of A, got shape (2,)"),
        (lambda: kit.check_shape(np.ones(2), (3, 2), "X", "as A is"),
         "X: expected an array of shape (3, 2), as A is, got shape (2,)"),
        (lambda: kit.check_shape([1.0], (1,), "x", ""), "x: expected an array, got list"),
        (lambda: kit.empty(np.ones(1), (2**60,), np.float64),
         "out: expected a result that fits into memory, got 1,152,921,504,606,846,976 elements"),
        (lambda: kit.result_type(np.ones(1, bool), MATRIX.astype(bool)), "x: expected numbers, here or in the other operand"),
    ],
)  # fmt: skip
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("types", "found"),
    [
        (("float32", "float32"), "float32"),
        (("float32", "int64"), "float64"),
        (("float16", "float16"), "float16"),
        (("float16", "float32"), "float32"),
        (("bool", "int32"), "int32"),
        (("complex64", "float64"), "complex128"),
    ],
)
def test_result_types(types: tuple[str, str], found: str) -> None:
    x, y = (np.ones(1, t) for t in types)
    assert kit.result_type(x, y) == found
    if types[1] != "float16":  # which SciPy has not
        assert kit.result_type(x, MATRIX.astype(types[1])) == found
        assert kit.result_type(x, convert(MATRIX.astype(types[1]), "ell")) == found


def test_new_arrays_are_of_the_callers_kind() -> None:
    made = kit.zeros(np.ones(1, np.int32), (2, 3), np.float32)
    assert type(made) is np.ndarray and made.dtype == np.float32 and not made.any()
    assert kit.empty(made, (4,), np.int64).shape == (4,)


def test_rows_that_are_left() -> None:
    A = ev.csr(MATRIX)
    assert not kit.leaves_rows(MATRIX) and not kit.leaves_rows(A)
    assert kit.leaves_rows(ev.subset(A, np.array([1], np.int32)))
    assert not kit.leaves_rows(MATRIX.tocoo())


def test_layouts_with_items() -> None:
    assert kit.has_items(ev.batch([MATRIX]))
    assert not kit.has_items(MATRIX) and not kit.has_items(ev.csr(MATRIX))


def test_tiles_that_cross_rows_are_none() -> None:
    with pytest.raises(
        ev.InputError, match="A: expected a layout whose tiles are rows, CSC or COO, got Uniform"
    ):
        ev.spmv(ev.uniform(2, ev.csr(MATRIX)), np.ones(3))


def test_a_type_that_is_none_is_numpys_to_refuse() -> None:
    with pytest.raises(TypeError, match="nonsense"):
        kit.empty(np.ones(1), (3,), "nonsense")


def test_errors_in_the_callers_words() -> None:
    out = np.zeros(2)
    out.flags.writeable = False
    with (
        pytest.raises(ev.InputError, match=r"^out: expected a writable array"),
        kit.renamed(y="out"),
    ):
        row_sums(MATRIX, out)


def test_what_the_host_decides_by() -> None:
    x = np.ones(3)
    assert kit.to_numpy(x) is x
    tensor = pytest.importorskip("torch").ones(3)
    assert kit.to_numpy(tensor).tolist() == [1, 1, 1]


def test_positions_take_32_bits_if_they_fit() -> None:
    assert kit.index_type(2**31 - 1) == np.int32
    assert kit.index_type(2**31) == np.int64
    found = kit.positions(np.zeros(1), 3)
    assert (found.dtype, found.tolist()) == (np.int32, [0, 1, 2])
