"""Plans of ev.linalg: other values, other operands, kept transposed patterns, bound calls."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly import kit
from evenly.layouts.grouped import Grouped
from tests.algorithms.linalg.operands import ORDERS, dense, placed
from tests.batteries import matrices

MATRIX = matrices(np.float64)["empty in the middle"]
ROWS, COLUMNS = MATRIX.shape


def test_a_plan_reads_values_again() -> None:
    matrix, B, x = MATRIX.copy(), dense(COLUMNS, 3), dense(COLUMNS, 1)[:, 0].copy()
    X = dense(ROWS, 3)
    products = (
        (ev.linalg.spmm.plan(matrix, B), lambda: matrix @ B),
        (ev.linalg.spmm.plan(ev.csr(matrix).T, X), lambda: matrix.T @ X),
        (ev.linalg.spmv.plan(matrix, x), lambda: matrix @ x),
        (ev.linalg.spmv.plan(ev.csr(matrix).T, X[:, 0].copy()), lambda: matrix.T @ X[:, 0]),
        (ev.linalg.sddmm.plan(matrix, X, B), lambda: matrix.multiply(X @ B.T).tocsr().data),
    )
    for _ in range(2):
        for product, wanted in products:
            found = product()
            assert found is product.out
            np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(wanted(), axis=0))
        matrix.data *= 2
        B += 1
        x -= 1


@pytest.mark.parametrize("order", ORDERS)
def test_other_operands(order: str) -> None:
    B, old = dense(COLUMNS, 3, order=order), dense(ROWS, 3)
    product = ev.linalg.spmm.plan(MATRIX, B, out=placed(old, order), alpha=2, beta=1)
    np.testing.assert_array_equal(product(), 2 * (MATRIX @ B) + old)
    other, out = placed(3 * B, order), placed(old, order)
    assert product(other, out=out) is out
    np.testing.assert_array_equal(out, 6 * (MATRIX @ B) + old)
    with pytest.raises(ev.InputError, match="out: expected the C that beta scales"):
        product(other)


def test_a_new_result_each_time_for_other_operands() -> None:
    product = ev.linalg.spmm.plan(MATRIX, B := dense(COLUMNS, 3))
    first, second = product(B), product(2 * B)
    np.testing.assert_array_equal(2 * first, second)
    assert first is not second and first is not product.out


def test_scales_of_vectors() -> None:
    x, y = dense(COLUMNS, 1)[:, 0].copy(), dense(ROWS, 1)[:, 0].copy()
    product = ev.spmv.plan(MATRIX, x, out=y.copy(), alpha=2, beta=-1)
    np.testing.assert_array_equal(product(), 2 * (MATRIX @ x) - y)


def test_the_transposed_pattern_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    product = ev.linalg.spmm.plan(ev.csr(MATRIX).T, X := dense(ROWS, 2))
    monkeypatch.setattr("evenly.layouts.grouped.stable_order", None)  # nothing is sorted again
    np.testing.assert_array_equal(product(2 * X), 2 * (MATRIX.T @ X))


def test_a_kept_pattern_by_the_kernels_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.algorithms.conftest import by_kernels

    expected = kit.as_rows(ev.csr(MATRIX).T, keep=True)
    by_kernels(monkeypatch)
    monkeypatch.setattr("evenly.layouts.grouped.device_of", lambda A: "cuda")
    monkeypatch.setattr("evenly.layouts.entries.faults_on_gpu", lambda *args: (None, None))
    A = ev.csr(MATRIX)
    found = kit.as_rows(A.T, keep=True)
    assert type(found) is Grouped and found.values is A.values
    for field in ("offsets", "order", "columns"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    assert type(kit.as_rows(A.T)) is not Grouped


def test_bound_calls() -> None:
    B = dense(COLUMNS, 3)
    product = ev.linalg.spmm.plan(MATRIX, B)
    with product.bind() as call:
        B *= 2
        call()
        np.testing.assert_array_equal(product.out, MATRIX @ B)
    strided = placed(dense(ROWS, 3), "rows apart")
    with pytest.raises(ev.InputError, match="out: expected an array in C or Fortran order"):
        ev.linalg.spmm.plan(MATRIX, B, out=strided).bind()
    copied = placed(dense(COLUMNS, 3), "rows apart")
    with pytest.raises(ev.InputError, match="operands: expected arrays in C or Fortran order"):
        ev.linalg.spmm.plan(MATRIX, copied).bind()


def test_what_it_says() -> None:
    product = ev.linalg.spmm.plan(MATRIX, dense(COLUMNS, 3), schedule="merge_path")
    assert repr(product).startswith("<Planned spmm_rows under MergePath(")
    assert (product.schedule, product.target) == (product.plan.schedule, "cpu")
    with pytest.raises(ev.InputError, match=r"B: expected the type that the plan was made for"):
        product(dense(COLUMNS, 3).astype(np.float32))


def test_other_operands_than_the_plan_has() -> None:
    B = dense(COLUMNS, 3)
    product = ev.linalg.spmm.plan(MATRIX, B)
    in_order = "expected an array in C order, as the plan was made for, got one in Fortran order"
    with pytest.raises(ev.InputError, match=f"B: {in_order}"):
        product(np.asfortranarray(B))
    with pytest.raises(ev.InputError, match=f"out: {in_order}"):
        product(B, out=np.zeros((ROWS, 3), order="F"))
    with pytest.raises(ev.InputError, match="operands: expected none or 1, as the plan has, got 2"):
        product(B, np.zeros((ROWS, 3)))
    X, Y = dense(ROWS, 3), dense(COLUMNS, 3)
    sampled = ev.linalg.sddmm.plan(MATRIX, X, Y)
    with pytest.raises(ev.InputError, match=f"Y: {in_order}"):
        sampled(X, np.asfortranarray(Y))
    with pytest.raises(ev.InputError, match="operands: expected none or 2, as the plan has, got 1"):
        sampled(X)


def test_arrays_of_a_plan_that_stay() -> None:
    x, offsets = np.array([1.0, 2.0, 3.0]), np.array([0, 2, 3])
    sums = ev.ragged.segment_reduce.plan(x, "sum", offsets)
    assert sums(out=sums.out).tolist() == [3, 3]
    with pytest.raises(ev.InputError, match="out: expected none, since the plan's own arrays stay"):
        sums(out=np.zeros(2))
    with pytest.raises(ev.InputError, match="operands: expected none, since .*, got 1"):
        sums(2 * x)
