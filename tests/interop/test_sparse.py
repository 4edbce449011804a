"""The arrays of sparse matrices of each library are read without a copy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from evenly.errors import InputError
from evenly.interop.sparse import ARRAYS, is_sparse, library, parts
from evenly.layouts import bcsr, coo, csc, csr, dia
from tests.interop import fakes

MATRIX = sp.random_array((6, 8), density=0.4, format="csr", rng=np.random.default_rng(0))


@pytest.mark.parametrize("format", list(ARRAYS))
@pytest.mark.parametrize("as_matrix", [False, True])
def test_scipy_arrays_and_matrices(format, as_matrix):
    given = sp.csr_matrix(MATRIX).asformat(format) if as_matrix else MATRIX.asformat(format)
    found = parts(given)
    assert library(given) == "scipy"
    assert (found.format, found.shape) == (format, (6, 8))
    assert tuple(found.arrays) == ARRAYS[format]
    assert found.arrays["values"] is given.data


def test_formats_are_converted_by_their_library():
    assert parts(MATRIX.asformat("lil")).format == "csr"
    assert parts(MATRIX, format="coo").format == "coo"


def test_cupyx_matrices_are_recognised():
    arrays = (fakes.ndarray(a) for a in (MATRIX.data, MATRIX.indices, MATRIX.indptr))
    given = fakes.csr_matrix(*arrays, shape=(6, 8))
    assert library(given) == "cupy"
    made = csr(given)
    assert made.values is given.data
    assert (made.num_tiles, made.num_atoms, made.shape) == (6, MATRIX.nnz, (6, 8))


def test_torch_tensors_are_recognised():
    data, indices, indptr = MATRIX.data, MATRIX.indices, MATRIX.indptr
    given = fakes.sparse_tensor(
        "sparse_csr",
        (6, 8),
        values=data,
        col_indices=indices,
        crow_indices=indptr,
    )
    made = csr(given, validate=True)
    assert np.shares_memory(made.values, data)
    assert np.shares_memory(made.indices, indices)
    columns = MATRIX.tocsc()
    given = fakes.sparse_tensor(
        "sparse_csc",
        (6, 8),
        values=columns.data,
        row_indices=columns.indices,
        ccol_indices=columns.indptr,
    )
    assert np.shares_memory(csc(given, validate=True).indices, columns.indices)
    entries = MATRIX.tocoo()
    both = np.stack([entries.row, entries.col])
    given = fakes.sparse_tensor("sparse_coo", (6, 8), _values=entries.data, _indices=both)
    assert np.shares_memory(coo(given, validate=True).columns, both)


def test_torch_formats_that_cannot_be_are_refused():
    given = fakes.sparse_tensor("sparse_csr", (6, 8), values=MATRIX.data)
    with pytest.raises(InputError, match="^A: expected a torch tensor that can become bsr"):
        parts(given, format="bsr")
    strange = fakes.sparse_tensor("jagged", (6, 8))
    with pytest.raises(InputError, match=r"^A: expected a torch.sparse_csr, csc, coo or bsr"):
        parts(strange)


def test_a_tensor_with_a_dense_axis_is_refused():
    given = fakes.sparse_tensor("sparse_coo", (6, 8), _values=np.ones(3), _indices=np.zeros((1, 3)))
    with pytest.raises(InputError, match="^A: expected a tensor of two sparse axes, got 1 sparse"):
        coo(given)


@pytest.mark.parametrize("given", [np.zeros((2, 2)), fakes.tensor(np.zeros((2, 2))), 3, None])
def test_what_is_not_sparse_is_refused(given):
    assert not is_sparse(given)
    with pytest.raises(InputError, match="^A: expected a sparse matrix of SciPy, CuPy or PyTorch"):
        parts(given)


def test_only_two_axes_are_a_matrix():
    with pytest.raises(InputError, match=r"^A: expected a matrix \(two axes\), got shape \(4,\)"):
        csr(sp.coo_array(np.ones(4)))


def test_real_torch_tensors():
    torch = pytest.importorskip("torch")
    dense = torch.tensor(MATRIX.toarray())
    for made in (csr(dense.to_sparse_csr()), csc(dense.to_sparse_csc()), coo(dense.to_sparse())):
        assert made.shape == (6, 8)
        assert made.num_atoms == MATRIX.nnz
    assert bcsr(dense.to_sparse_bsr((2, 4))).block_columns == 4
    assert csr(dense.to_sparse()).num_atoms == MATRIX.nnz
    for make in (csr, csc, coo):
        assert make(dense.to_sparse_bsr((2, 4))).values.sum() == MATRIX.sum()


@pytest.mark.parametrize(
    "made",
    [
        "csr(torch.eye(2).to_sparse())",
        "csr_tensor(*map(torch.tensor, ([0, 1], [0], [1.0])), (1, 1))",
    ],
)
def test_what_evenly_makes_with_pytorch_does_not_warn(made):
    pytest.importorskip("torch")
    code = f"""
import torch
from evenly import csr
from evenly.bench.peers import csr_tensor
{made}
"""
    ran = [sys.executable, "-W", "error::UserWarning", "-c", code]  # PyTorch warns once a process
    assert subprocess.run(ran, capture_output=True, text=True).stderr == ""


def test_dia_from_scipy_shares_its_values():
    given = MATRIX.todia()
    assert np.shares_memory(dia(given).values, given.data)
