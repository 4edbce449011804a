"""Which matrices are found, and how they are read."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.bench import matrices
from evenly.bench.case import case_of


def test_a_folder_and_its_folders_follow_the_ten(folder):
    found = matrices.sources(str(folder))
    assert [s.name for s in found[:10]] == list(matrices.SYNTHETIC)
    assert [s.name for s in found[10:]] == ["deep/second", "first", "third"]
    assert {s.origin for s in found[10:]} == {"file"}


def test_only(folder):
    found = matrices.sources(str(folder), ["third", "rmat-18"])
    assert [s.name for s in found] == ["rmat-18", "third"]


def test_symmetric_files_are_expanded(folder):
    matrix = matrices.sources(str(folder), ["deep/second"])[0].make()
    assert (matrix != matrix.T).nnz == 0
    assert matrix.nnz > 100


def test_text_is_parsed_once(folder, monkeypatch):
    path = folder / "first.mtx"
    first = matrices.read(path)
    monkeypatch.setattr(matrices.matrix_files, "read", None)
    second = matrices.read(path)
    np.testing.assert_array_equal(first.toarray(), second.toarray())


def test_a_changed_file_is_parsed_again(folder):
    path = folder / "first.mtx"
    matrices.read(path)
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3.0\n")
    os.utime(path, (1, 1))
    assert matrices.read(path).toarray().tolist() == [[3, 0], [0, 0]]


def test_sets_differ_and_the_last_is_the_file_s():
    matrix = sp.csr_array(np.diag([1.0, 2.0, 3.0]))
    case = case_of(matrices.Source("diagonal", "file", lambda: matrix), "float32")
    (other, x0), (own, x1) = case.sets
    assert own.tolist() == [1, 2, 3]
    assert not np.array_equal(other, own) and not np.array_equal(x0, x1)
    np.testing.assert_allclose(case.reference().exact, [1, 2, 3] * x1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_case_has_the_atoms_of_its_source_in_every_type(dtype: str) -> None:
    """SciPy's astype would sum duplicates, in some of them."""
    twice = sp.csr_array(
        (np.ones(4, np.float32), np.zeros(4, np.int32), np.array([0, 2, 4], np.int32)), shape=(2, 1)
    )
    case = case_of(matrices.Source("twice", "synthetic", lambda: twice), dtype)
    assert (case.matrix.nnz, case.matrix.dtype) == (4, dtype)
    assert twice.nnz == 4


def test_nothing_to_multiply():
    empty = matrices.Source("empty", "file", lambda: sp.csr_array((3, 3)))
    with pytest.raises(ev.InputError, match="empty: expected a matrix with nonzeros, got none"):
        case_of(empty, "float64")
