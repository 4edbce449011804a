"""The generated matrices are what their names say, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.interop import generators
from evenly.interop.generators import banded, dense_rows, rmat, stencil, uniform
from evenly.layouts import csr

ALL = {
    "rmat": lambda **k: rmat(9, 8, **k),
    "stencil": lambda **k: stencil(7, **k),
    "uniform": lambda **k: uniform(50, 4, **k),
    "banded": lambda **k: banded(50, 6, **k),
    "dense_rows": lambda **k: dense_rows(60, 3, 2, **k),
}


@pytest.mark.parametrize("name", list(ALL))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_sound_csr_matrices(name, dtype):
    matrix = ALL[name](dtype=dtype)
    matrix.check_format(full_check=True)
    csr(matrix, validate=True)
    assert matrix.dtype == dtype
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    sorted_copy = matrix.copy()
    sorted_copy.has_sorted_indices = False
    sorted_copy.sort_indices()
    np.testing.assert_array_equal(matrix.indices, sorted_copy.indices)


@pytest.mark.parametrize("name", ["rmat", "uniform", "banded", "dense_rows"])
def test_a_seed_gives_one_matrix(name):
    one, same, other = (ALL[name](seed=seed) for seed in (3, 3, 4))
    assert (one != same).nnz == 0
    assert (one != other).nnz > 0


def test_rmat_is_skewed_as_its_quadrants_say():
    matrix = rmat(12, 16)
    assert matrix.has_canonical_format
    half = matrix.shape[0] // 2
    share = [
        matrix[rows, columns].nnz / matrix.nnz
        for rows in (slice(0, half), slice(half, None))
        for columns in (slice(0, half), slice(half, None))
    ]
    # duplicates fall away, mostly where the matrix is densest
    np.testing.assert_allclose(share, generators.QUADRANTS, atol=0.06)
    assert np.diff(matrix.indptr).max() > 20 * matrix.nnz / matrix.shape[0]


def test_an_odd_scale_and_the_smallest():
    assert rmat(7, 4).shape == (128, 128)
    assert rmat(0, 4).nnz == 1
    assert rmat(1, 1).shape == (2, 2)


def test_stencil_is_the_laplacian():
    matrix = stencil(5).toarray()
    np.testing.assert_array_equal(matrix, matrix.T)
    assert (np.diag(matrix) == 4).all()
    np.testing.assert_array_equal(matrix.sum(axis=1).reshape(5, 5)[1:-1, 1:-1], 0)
    assert [stencil(k).nnz for k in (0, 1, 2)] == [0, 1, 12]


def test_row_lengths():
    assert (np.diff(uniform(30, 4).indptr) == 4).all()
    assert np.diff(banded(9, 4).indptr).tolist() == [2, 3, 4, 4, 4, 4, 4, 4, 3]
    lengths = np.diff(dense_rows(100, 3, 2).indptr)
    assert sorted(set(lengths.tolist())) == [3, 50]
    assert (lengths == 50).sum() == 2
    assert dense_rows(0).shape == uniform(0).shape == banded(0, 3).shape == (0, 0)
