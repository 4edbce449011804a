"""The paper's kernels are schedules over layouts: each is right on every target, over batches with nasty items."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.layouts.checker import check
from evenly.reproduce.flexible_batched import kernels
from evenly.reproduce.flexible_batched.ell_batch import EllBatch, ell_batch, slots
from evenly.reproduce.flexible_batched.kernels import ELL, KERNELS, product
from evenly.reproduce.flexible_batched.matrices import with_lengths
from tests.batches import TARGETS
from tests.batteries import vector
from tests.emitting import emitted

EMPTY = sp.csr_array((5, 5))


def items():
    rng = np.random.default_rng(3)
    lengths = [0, 1, 7, 0, 2], [0, 0], [40] * 3 + [1] * 60, [3] * 40, [1]
    columns = 9, 2, 63, 40, 1
    made = [with_lengths(*pair, rng) for pair in zip(lengths, columns, strict=True)]
    return [EMPTY, *made, EMPTY]


def batch(matrices, xp=np):
    parts = [
        ev.csr(tuple(map(xp.asarray, (m.data, m.indices, m.indptr))), shape=m.shape)
        for m in matrices
    ]
    B = ev.batch(parts, narrow=False)
    B = B.with_values(xp.asarray(vector(B.num_atoms, np.float64)))
    longest = np.array([np.diff(m.indptr).max(initial=0) for m in matrices], np.int64)
    return B, longest


def expected(B, x):
    host = B.to("cpu")
    return sp.csr_array((host.values, host.indices, host.offsets), shape=host.shape) @ x


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.parametrize("target", TARGETS)
def test_it_is_the_product(kernel, target):
    B, longest = batch(items())
    layout = ell_batch(B, longest, np) if kernel.layout == ELL else B
    x, y = vector(B.num_columns, np.float64), np.full(B.num_tiles, np.nan)
    product[kernel.schedule()].on(target)(layout, x, y)
    np.testing.assert_allclose(y, expected(B, x), atol=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_on_a_gpu(kernel):
    cupy = pytest.importorskip("cupy")
    B, longest = batch(items() * 50, cupy)
    layout = ell_batch(B, longest, cupy) if kernel.layout == ELL else B
    x = vector(B.num_columns, np.float64)
    y = cupy.full(B.num_tiles, np.nan)
    product[kernel.schedule()](layout, cupy.asarray(x), y)
    np.testing.assert_allclose(y.get(), expected(B, x), atol=1e-12)
    again = cupy.empty_like(y)
    product[kernel.schedule()](layout, cupy.asarray(x), again)
    assert y.tobytes() == again.tobytes()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_nvrtc_compiles(kernel):
    compiling = pytest.importorskip("evenly.targets.cuda.compile")
    pytest.importorskip("cuda.bindings.nvrtc")
    B, longest = batch(items())
    layout = ell_batch(B, longest, np) if kernel.layout == ELL else B
    x, y = np.ones(B.num_columns), np.empty(B.num_tiles)
    for code in emitted(product, (layout, x, y), kernel.schedule()):
        assert compiling.cubin(code.source, code.name, "sm_90")


def test_no_kernel_has_code_of_its_own():
    """One function for all of them; nothing but schedules and layouts tells them apart."""
    assert inspect.getsource(kernels).count("@ev.kernel") == 1
    assert [k.name for k in KERNELS] == [
        "COO",
        "CSR-scalar",
        "CSR-vector",
        "CSR-smart",
        "CSR-I",
        "ELL",
    ]


def test_the_padded_batch_keeps_the_contract():
    B, longest = batch(items())
    E = ell_batch(B, longest, np)
    check(E)
    assert isinstance(E, EllBatch) and E.num_atoms == slots(B, longest) == len(E.values)
    assert (E.num_items, E.num_tiles) == (B.num_items, B.num_tiles)
    dense = np.zeros(B.shape)
    for row in range(E.num_tiles):
        for k in range(E.begin(row), E.end(row)):
            dense[row, E.column(row, k)] += E.value(row, k)
    whole = sp.csr_array((B.values, B.indices, B.offsets), shape=B.shape)
    np.testing.assert_array_equal(dense, whole.toarray())


def test_slots_are_stored_by_columns():
    A = sp.csr_array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]])
    B = ev.batch([A, A], narrow=False)
    E = ell_batch(B, np.array([2, 2]), np)
    assert E.values.tolist() == [1.0, 3.0, 2.0, 4.0] * 2
    assert E.indices.tolist() == [0, 1, 1, 2, 3, 4, 4, 5]
