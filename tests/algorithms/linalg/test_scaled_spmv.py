"""ev.spmv with alpha and beta, against NumPy and BLAS's rules for 0."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg.blas
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly import kit
from evenly.algorithms.linalg import spmv
from evenly.algorithms.linalg.spmv import spmv_scaled
from evenly.language.types import name_of
from tests.batteries import array, matrices, readable, vector
from tests.kernels import SCHEDULES

MATRIX = matrices(np.float64)["empty in the middle"]
X = vector(MATRIX.shape[1], np.float64)
Y = vector(MATRIX.shape[0], np.float64, 3)


@pytest.mark.parametrize("name", ["duplicates", "nothing (0 x 0)", "no atoms"])
@pytest.mark.parametrize("target", ["cpu", "python"])
def test_it_is_what_numpy_computes(name, target):
    matrix = matrices(np.float64)[name]
    x, y = vector(matrix.shape[1], np.float64), vector(matrix.shape[0], np.float64, 3)
    for made in matrix, matrix.tocoo(), ev.sell(matrix, sigma=16), ev.ell(matrix, order="F"):
        out = y.copy()
        assert spmv(made, x, out, alpha=2, beta=-0.5, target=target) is out
        np.testing.assert_array_equal(out, 2 * (matrix @ x) - 0.5 * y)
    np.testing.assert_array_equal(spmv(matrix, x, alpha=3, target=target), 3 * (matrix @ x))


SCALARS = st.sampled_from(
    [0, 1, -2, 0.0, -0.0, 0.5, 1.0, np.float32(0.25), np.int8(3), True, 2j, Fraction(1, 2)]
)
TYPES = ("int32", "int64", "float32", "float64", "complex64", "complex128")


@settings(max_examples=40)
@given(SCALARS, SCALARS, st.sampled_from(TYPES), st.sampled_from(TYPES), st.booleans())
def test_any_scalars_and_types(alpha, beta, of_matrix, of_out, spoilt):
    """Against the formula in Python's own numbers. spoilt: what is multiplied by 0 is NaN."""
    matrix, x = MATRIX.astype(of_matrix), X.astype(of_matrix)
    y = Y.astype(of_out)
    plain = [v.item() if isinstance(v, np.generic) else v for v in (alpha, beta)]
    plain = [float(v) if isinstance(v, Fraction) else int(v) if v is True else v for v in plain]
    product = matrix @ x
    wanted = plain[0] * product + (plain[1] * y if plain[1] else 0)
    if spoilt and of_out not in ("int32", "int64") and not plain[1]:
        y[:] = np.nan
    if spoilt and of_matrix not in ("int32", "int64") and not plain[0]:
        x[:] = np.inf
    out = y.copy()
    if np.can_cast(wanted.dtype, of_out, "same_kind"):
        spmv(matrix, x, out, alpha=alpha, beta=beta, target="python")
        np.testing.assert_array_equal(out, wanted.astype(of_out))
    else:
        with pytest.raises(ev.InputError, match="out: expected an array for"):
            spmv(matrix, x, out, alpha=alpha, beta=beta, target="python")


@pytest.mark.parametrize("schedule", ["thread", "group 8", "merge", "nonzero"])
def test_the_emulated_gpu(schedule):
    """The scalars of the host, and those that the device holds."""
    matrix = matrices(np.float32)["power law"][:300]
    x, y = vector(matrix.shape[1]), vector(300, np.float32, 3)
    wanted = 2 * (matrix @ x) - 3 * y
    run = spmv_scaled[SCHEDULES[schedule]].on("simt")
    for scalars in (2, -3, None, None, 1), (None, None, np.float32([2]), np.float32([-3]), 1):
        out = y.copy()
        run(ev.csr(matrix), x, out, *scalars)
        np.testing.assert_allclose(out, wanted, rtol=1e-5)


@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
def test_what_is_multiplied_by_zero_does_not_spread_nan(target):
    spoilt = np.full(len(X), np.nan)
    for beta in 0, 0.0, np.zeros(()), np.zeros(1):
        out = np.full(len(Y), np.nan)
        spmv(MATRIX, X, out, alpha=2, beta=beta, target=target)
        np.testing.assert_array_equal(out, 2 * (MATRIX @ X))
    out = Y.copy()
    spmv(MATRIX, spoilt, out, alpha=0, beta=2, target=target)
    np.testing.assert_array_equal(out, 2 * Y)
    np.testing.assert_array_equal(out, scipy.linalg.blas.dgemv(0.0, MATRIX.toarray(), X, 2.0, Y))
    out = np.full(len(Y), np.nan)
    zero, two = np.zeros(1), np.full(1, 2.0)
    spmv_scaled.on(target)(MATRIX, X, out, None, None, two, zero, 1)
    np.testing.assert_array_equal(out, 2 * (MATRIX @ X))
    out = Y.copy()
    spmv_scaled.on(target)(MATRIX, spoilt, out, None, None, zero, two, 1)
    np.testing.assert_array_equal(out, 2 * Y)


@pytest.mark.parametrize("bits16", ["float16", "bfloat16"])
def test_16_bits_stay_16_bits_and_are_summed_in_32(bits16):
    A = ev.csr(
        (array(bits16, [256, 1, 2.0**-8]), np.int32([0, 1, 2]), np.int32([0, 3])), shape=(1, 3)
    )
    x = array(bits16, np.ones(3))
    made = spmv(A, x, alpha=0.5)
    assert name_of(made.dtype) == bits16
    assert readable(made) == {"float16": 128.5, "bfloat16": 129}[bits16]
    assert name_of(spmv(A, x, alpha=np.float64(1)).dtype) == bits16
    assert spmv(A, x, alpha=1j).dtype == np.complex64
    out = array(bits16, [4.0])
    spmv(A, x, out, alpha=0.5, beta=-32)
    assert readable(out) == {"float16": 0.501953125, "bfloat16": 0.5}[bits16]
    kept = np.float32([2.0**-8])
    spmv(A, x, kept, alpha=1, beta=-1)
    np.testing.assert_array_equal(kept, np.float32([257]))


def test_nothing_to_scale_runs_the_kernels_of_a_plain_product():
    for alpha, beta in (1, 0), (1.0, 0.0), (np.float64(1), 0), (True, False), (np.ones(()), 0):
        np.testing.assert_array_equal(spmv(MATRIX, X, alpha=alpha, beta=beta), MATRIX @ X)
        given = kit.scales(alpha, beta, X, "x")
        assert given.leaves(np.dtype(np.float64))
    assert not kit.scales(1.0, 0, X, "x").leaves(np.dtype(np.int32))
    assert not kit.scales(1 + 0j, 0, X, "x").leaves(np.dtype(np.float32))


def test_a_subset_scales_its_own_rows():
    rows = np.array([2, 0], np.int32)
    part, out = ev.subset(ev.csr(MATRIX), rows), Y.copy()
    spmv(part, X, out, alpha=2, beta=3)
    wanted = Y.copy()
    wanted[rows] = (2 * (MATRIX @ X) + 3 * Y)[rows]
    np.testing.assert_array_equal(out, wanted)


def test_repeated_calls_have_the_same_bits_and_read_the_numbers_anew():
    out, a = Y.copy(), np.array(2.0)
    for value in 2.0, 3.0, 2.0:
        a[()] = value
        out[:] = Y
        spmv(MATRIX, X, out, alpha=a, beta=1)
        np.testing.assert_array_equal(out, value * (MATRIX @ X) + Y)


INTEGERS, ONES = MATRIX.astype(np.int32), np.ones(MATRIX.shape[1], np.int32)
MISTAKES = {
    "no y": (lambda: spmv(MATRIX, X, beta=1), "out: expected the y that beta scales, got none"),
    "a word": (lambda: spmv(MATRIX, X, alpha="2"), "alpha: expected a number, or an array of one, got str"),
    "none": (lambda: spmv(MATRIX, X, Y, beta=None), "beta: expected a number, or an array of one, got NoneType"),
    "two": (lambda: spmv(MATRIX, X, Y, beta=np.ones(2)), "beta: expected a number, or an array of one, got shape (2,)"),
    "complex": (lambda: spmv(MATRIX, X, Y.copy(), alpha=2j), "out: expected an array for results of complex128, got float64"),
    "half": (lambda: spmv(INTEGERS, ONES, np.ones(len(Y), np.int32), alpha=0.5), "out: expected an array for results of float64, got int32"),
    "large": (lambda: spmv(INTEGERS, ONES, alpha=2**40), "alpha: expected an integer of int32, which it scales, got 1099511627776"),
    "long": (lambda: spmv(MATRIX, X, alpha=2**70), "alpha: expected an integer of 64 bits, got 1180591620717411303424"),
    "dense": (lambda: spmv(MATRIX.toarray(), X, alpha=2), "A: expected a sparse matrix, got ndarray; hint: scipy.sparse.csr_array(dense) makes one of a dense array"),
    "short x": (lambda: spmv(MATRIX, X[:2], Y, alpha=2), f"x: expected a vector of {len(X)}, the columns of A, got shape (2,)"),
    "y is x": (lambda: spmv(sp.eye_array(len(X), format="csr"), X, X, beta=1), "out: expected an output that shares no memory with x"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    call, message = MISTAKES[name]
    with pytest.raises(ev.InputError) as raised:
        call()
    assert str(raised.value).startswith(message)


def test_common_types_are_numpys():
    for dtype in "int8", "int32", "uint64", "float32", "float64", "complex64":
        for other in 2, 2.5, 1j, np.dtype("float32"), np.dtype("int64"):
            assert kit.common_type(np.dtype(dtype), other) == np.result_type(np.dtype(dtype), other)


@pytest.mark.gpu
def test_scalars_that_the_gpu_holds():
    from evenly.interop.transfer import to_cuda, to_numpy

    A, x, y = ev.csr(MATRIX).to("cuda"), to_cuda(X), to_cuda(Y)
    a, b = to_cuda(np.array([2.0])), to_cuda(np.array([-3.0]))
    assert spmv(A, x, y, alpha=a, beta=b) is y
    np.testing.assert_array_equal(to_numpy(y), 2 * (MATRIX @ X) - 3 * Y)
    spoilt = to_cuda(np.full(len(Y), np.nan))
    spmv(A, x, spoilt, alpha=a, beta=to_cuda(np.zeros(1)))
    np.testing.assert_array_equal(to_numpy(spoilt), 2 * (MATRIX @ X))
    np.testing.assert_array_equal(to_numpy(spmv(A, x, alpha=a)), 2 * (MATRIX @ X))
    with pytest.raises(ev.InputError, match="alpha: expected an array beside x, on cpu"):
        spmv(MATRIX, X, alpha=a)
