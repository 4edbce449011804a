"""tocsr, tocsc, tocoo and transpose of layouts, against SciPy and plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.layouts import check, convert
from tests.batteries import array, matrices, names

pytestmark = pytest.mark.usefixtures("way")
FORMATS = ("csr", "csc", "coo")


def entries(A: Any) -> list[tuple[int, int, Any]]:
    """(row, column, value) of each nonzero, in the order of the layout."""
    host = A.tocoo() if A.format != "coo" else A
    return list(zip(host.rows.tolist(), host.columns.tolist(), host.values.tolist(), strict=True))


@pytest.mark.parametrize("name", names())
def test_conversions_keep_every_nonzero_in_order(name: str) -> None:
    matrix = matrices(np.float64)[name]
    shuffled = matrix.tocoo()
    order = np.random.default_rng(5).permutation(shuffled.nnz)
    made = ev.coo(
        (shuffled.data[order], shuffled.row[order], shuffled.col[order]), shape=matrix.shape
    )
    for given in (made, made.tocsr(), made.tocsc(), ev.csr(matrix), ev.csc(matrix)):
        for format in FORMATS:
            found = getattr(given, f"to{format}")()
            check(found)
            assert (found.format, found.shape) == (format, matrix.shape)
            assert type(found) is type(convert(matrix, format))
            axis = {"csr": 0, "csc": 1}.get(format)
            expected = entries(given)
            if axis is not None and given.format != format:
                expected = sorted(expected, key=lambda entry: entry[axis])  # a stable sort
            assert entries(found) == expected


def test_a_matrix_of_the_format_is_the_matrix_itself() -> None:
    for format in FORMATS:
        A = convert(matrices()["stencil"], format)
        assert getattr(A, f"to{format}")() is A


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "bool", "complex64", "int64"])
def test_values_of_any_type(dtype: str) -> None:
    matrix = matrices()["power law"]
    values = array(dtype, matrix.data != 0 if dtype == "bool" else matrix.data)
    A = ev.csr((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    found = A.tocsc()
    assert found.values.dtype == values.dtype
    order = np.argsort(matrix.indices, kind="stable")
    assert found.values.tobytes() == values[order].tobytes()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["stencil", "wide", "nothing (0 x 0)", "zero columns (7 x 0)"])
def test_the_transpose_shares_its_arrays(name: str, format: str) -> None:
    matrix = matrices()[name]
    A = convert(matrix, format)
    T = A.transpose()
    assert T.shape == matrix.shape[::-1]
    assert T.values is A.values
    assert sorted(entries(T)) == sorted((j, i, v) for i, j, v in entries(A))
    check(T.tocsr())
    back = T.transpose()
    assert (back.format, entries(back)) == (format, entries(A))


def test_indices_outside_are_named() -> None:
    raw = np.ones(2), np.array([0, 3]), np.array([0, 5])
    A = ev.coo(raw, shape=(3, 3), check=False)
    with pytest.raises(ev.InputError, match=r"^A.rows: expected indices in 0..2, got rows\[1\]=3"):
        A.tocsr()
    with pytest.raises(ev.InputError, match=r"^A.columns: expected indices in 0..2, got columns"):
        A.tocsc()
