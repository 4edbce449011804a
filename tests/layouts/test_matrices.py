"""Every layout of a matrix gives A @ x through the contract alone, on the shared battery."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from evenly.layouts import TABLE, bcsr, check, convert, ell, sell, subset, uniform
from tests import batteries
from tests.kernels import MATRIX_LAYOUTS, ROW_LAYOUTS, laid
from tests.layouts.walk import spmv


@pytest.mark.parametrize("layout_name", MATRIX_LAYOUTS)
@pytest.mark.parametrize("name", batteries.names())
def test_each_layout_is_sound_and_multiplies(layout_name, name):
    matrix = batteries.matrices(np.float64)[name]
    made = convert(matrix, layout_name, validate=True)
    x = batteries.vector(matrix.shape[1])
    assert type(made) in (TABLE[layout_name].cls, *TABLE[layout_name].cls.__subclasses__())
    assert made.shape == matrix.shape
    np.testing.assert_array_equal(spmv(made, x), matrix @ x)


@pytest.mark.parametrize("base", ROW_LAYOUTS)
@pytest.mark.parametrize("name", ["empty in the middle", "duplicates", "stencil", "no atoms"])
def test_derived_layouts_multiply(base, name):
    matrix = batteries.matrices(np.float64)[name]
    x = batteries.vector(matrix.shape[1])
    whole = laid(matrix, base)
    rows = np.arange(matrix.shape[0])[::-2].copy()
    part = subset(whole, rows)
    expected = np.zeros(matrix.shape[0])
    chosen = whole.tile_id(rows)  # a layout may number its tiles in another order than rows
    expected[chosen] = (matrix @ x)[chosen]
    for made, wanted in (
        (uniform(3, whole), matrix @ x),
        (part, expected),
        (uniform(5, part), expected),
        (subset(part, np.arange(len(rows))), expected),
        (whole.slice(slice(0, None)), matrix @ x),
    ):
        check(made)
        np.testing.assert_array_equal(spmv(made, x), wanted)


@pytest.mark.parametrize("layout_name", MATRIX_LAYOUTS)
def test_slices_are_matrices_of_their_own(layout_name):
    matrix = batteries.matrices(np.float64)["stencil"]
    x = batteries.vector(matrix.shape[1])
    made = convert(matrix, layout_name)
    if layout_name in ROW_LAYOUTS:
        start = 32 if layout_name == "sell" else 40
        part = made.slice(slice(start, 81))
        check(part)
        assert part.shape == (81 - start, matrix.shape[1])
        np.testing.assert_array_equal(spmv(part, x), (matrix @ x)[start:81])
    elif layout_name == "csc":
        part = made.slice(range(40, 81))
        check(part)
        np.testing.assert_array_equal(spmv(part, x[40:81]), matrix.tocsc()[:, 40:81] @ x[40:81])
    else:
        halves = made.slice(slice(0, 40)), made.slice(slice(40, None))
        np.testing.assert_array_equal(spmv(halves[0], x) + spmv(halves[1], x), matrix @ x)


@st.composite
def sparse_matrices(draw):
    rows, columns = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    count = draw(st.integers(0, 25)) if rows and columns else 0
    entry = st.tuples(
        st.integers(0, max(rows - 1, 0)), st.integers(0, max(columns - 1, 0)), st.integers(-3, 3)
    )
    entries = draw(st.lists(entry, min_size=count, max_size=count))
    row, column, value = (np.array([e[i] for e in entries], np.int64) for i in range(3))
    # straight to CSR, so that duplicates and the order of columns survive
    order = np.argsort(row, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])[: rows + 1]
    index = draw(st.sampled_from([np.int32, np.int64]))
    return sp.csr_array(
        (value[order].astype(np.float64), column[order].astype(index), offsets.astype(index)),
        shape=(rows, columns),
    )


@given(sparse_matrices(), st.sampled_from(MATRIX_LAYOUTS))
def test_any_matrix_in_any_layout(matrix, layout_name):
    made = convert(matrix, layout_name, validate=True)
    x = batteries.vector(matrix.shape[1])
    np.testing.assert_array_equal(spmv(made, x), matrix @ x)


@given(sparse_matrices(), st.data())
def test_any_subset_and_any_partition(matrix, data):
    base = laid(matrix, data.draw(st.sampled_from(ROW_LAYOUTS)))
    rows = data.draw(st.permutations(range(matrix.shape[0])))
    rows = np.array(rows[: data.draw(st.integers(0, len(rows)))], np.int64)
    made = uniform(data.draw(st.integers(1, 7)), subset(base, rows, validate=True))
    check(made)
    x = batteries.vector(matrix.shape[1])
    expected = np.zeros(matrix.shape[0])
    chosen = base.tile_id(rows)
    expected[chosen] = (matrix @ x)[chosen]
    np.testing.assert_array_equal(spmv(made, x), expected)


@given(sparse_matrices(), st.integers(1, 4), st.integers(1, 4))
def test_any_block_size(matrix, height, width):
    made = bcsr(matrix, block=(height, width), validate=True)
    x = batteries.vector(matrix.shape[1])
    np.testing.assert_array_equal(spmv(made, x), matrix @ x)
    check(made.blocks())


@given(sparse_matrices(), st.integers(1, 5), st.integers(1, 12), st.data())
def test_any_slices_in_any_order(matrix, height, sigma, data):
    made = sell(matrix, slice_height=height, sigma=sigma, validate=True)
    x = batteries.vector(matrix.shape[1])
    np.testing.assert_array_equal(spmv(made, x), matrix @ x)
    np.testing.assert_array_equal(made.tocsr().indices, matrix.indices)
    start = data.draw(st.integers(0, matrix.shape[0]))
    part = ell(made, order="F").slice(slice(start, None))
    check(part)
    np.testing.assert_array_equal(spmv(part, x), (matrix @ x)[start:])
