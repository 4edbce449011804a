"""A small kernel finds malformed matrices on a GPU. Each object is checked once."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev

pytestmark = pytest.mark.gpu

MATRIX = sp.random_array((60, 50), density=0.2, format="csr", rng=0, dtype=np.float32)
WRONG = {
    ("indices", 7, 10**9): "A.indices: expected column indices in 0..49, got indices[7]=1000000000",
    ("indices", 3, -1): "A.indices: expected column indices in 0..49, got indices[3]=-1",
    ("indptr", 5, 10**9): "A.offsets: expected offsets of at most 600, got offsets[5]=1000000000",
    ("indptr", 60, 601): "A.offsets: expected a last offset of 600, got offsets[60]=601",
}


@pytest.mark.parametrize("change", WRONG, ids=str)
@pytest.mark.parametrize("make", [ev.csr, ev.csc, ev.coo, ev.ell, ev.dia, ev.bcsr])
def test_a_matrix_of_cupy(change, make) -> None:
    cupy = pytest.importorskip("cupy")
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    A, x = sparse.csr_matrix(sp.csr_matrix(MATRIX)), cupy.ones(50, np.float32)
    np.testing.assert_allclose(ev.spmv(A, x).get(), MATRIX.sum(axis=1), rtol=1e-4)
    wrong, (part, at, value) = A.copy(), change
    getattr(wrong, part)[at] = value
    for call in (make, lambda matrix: ev.spmv(matrix, x)):
        with pytest.raises(ev.InputError) as caught:
            call(wrong)
        assert str(caught.value) == WRONG[change]


def test_arrays_of_our_own() -> None:
    parts = MATRIX.data, MATRIX.indices.copy(), MATRIX.indptr
    parts[1][9] = 777
    there = tuple(map(ev.DeviceArray.from_numpy, parts))
    with pytest.raises(ev.InputError, match=r"A.indices: .* got indices\[9\]=777"):
        ev.csr(there, shape=MATRIX.shape)
    assert ev.csr(there, shape=MATRIX.shape, check=False).num_atoms == MATRIX.nnz


def test_tiles_are_not_measured_while_a_stream_is_captured() -> None:
    cupy = pytest.importorskip("cupy")
    A = ev.csr(sp.csr_matrix(MATRIX)).to("cuda")
    x, y = cupy.ones(50, np.float32), cupy.zeros(60, np.float32)
    ev.spmv(A, x, y, schedule="merge_path")
    y.fill(0)
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        with pytest.raises(ev.InputError, match="no capture while tiles are measured"):
            ev.spmv(A, x, y)
        ev.spmv(A, x, y, schedule="merge_path")
        graph = stream.end_capture()
    cupy.cuda.Device().synchronize()
    graph.launch(stream)
    stream.synchronize()
    np.testing.assert_allclose(y.get(), MATRIX.sum(axis=1), rtol=1e-4)


def test_a_matrix_that_was_looked_at_runs_while_a_stream_is_captured_and_another_is_refused() -> (
    None
):
    cupy = pytest.importorskip("cupy")
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    A = sparse.csr_matrix(sp.csr_matrix(MATRIX))
    other, x, y = A.copy(), cupy.ones(50, np.float32), cupy.zeros(60, np.float32)
    ev.spmv(A, x, y)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        ev.spmv(A, x, y)
        stream.synchronize()
        stream.begin_capture()
        ev.spmv(A, x, y)
        with pytest.raises(ev.InputError, match="no capture while a matrix is looked at"):
            ev.spmv(other, x, y)
        graph = stream.end_capture()
    y.fill(0)
    cupy.cuda.Device().synchronize()
    graph.launch(stream)
    stream.synchronize()
    np.testing.assert_allclose(y.get(), MATRIX.sum(axis=1), rtol=1e-4)
