"""Tensors of PyTorch that require a gradient: refused where PyTorch would record one, by kernels, layouts and spmv."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from tests.interop import fakes

MATRIX = sp.csr_array(np.array([[5.0, 0, 2], [0, 0, 0], [1, 4, 0]]))
SAID = (
    ": expected a tensor that requires no gradient, since kernels carry none on, got one that requires a gradient; "
    "hint: pass its .detach(), or call under torch.no_grad()"
)


@ev.kernel
def product(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def tensor(array: Any, requires_grad: bool = False) -> Any:
    made = fakes.tensor(np.asarray(array))
    made.requires_grad = requires_grad
    return made


def sparse_tensor(requires_grad: bool) -> Any:
    parts = {"values": MATRIX.data, "col_indices": MATRIX.indices, "crow_indices": MATRIX.indptr}
    made = fakes.sparse_tensor("sparse_csr", MATRIX.shape, **parts)
    made.requires_grad = requires_grad
    return made


def raw(values: Any) -> tuple[Any, ...]:
    return values, MATRIX.indices, MATRIX.indptr


Call = tuple[str, Callable[[bool], Any]]
CALLS: list[Call] = [
    ("x", lambda g: product(MATRIX, tensor(np.ones(3), g), np.empty(3))),
    ("y", lambda g: product(MATRIX, np.ones(3), tensor(np.empty(3), g))),
    ("x", lambda g: product.plan(MATRIX, tensor(np.ones(3), g), np.empty(3))),
    ("x", lambda g: product["merge_path"].on("python")(MATRIX, tensor(np.ones(3), g), np.empty(3))),
    ("A", lambda g: product(sparse_tensor(g), np.ones(3), np.empty(3))),
    ("x", lambda g: ev.spmv(MATRIX, tensor(np.ones(3), g))),
    ("out", lambda g: ev.spmv(MATRIX, np.ones(3), tensor(np.empty(3), g))),
    ("A", lambda g: ev.spmv(sparse_tensor(g), np.ones(3))),
    ("A", lambda g: ev.csr(sparse_tensor(g))),
    ("A.values", lambda g: ev.csr(raw(tensor(MATRIX.data, g)))),
    ("A.values", lambda g: ev.ell((tensor(np.ones((2, 1)), g), np.zeros((2, 1), int)))),
]


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = fakes.torch_module()
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_refused_where_pytorch_records_gradients(name: str, call: Any, torch: Any) -> None:
    call(False)
    with pytest.raises(ev.InputError) as caught:
        call(True)
    assert str(caught.value) == name + SAID
    torch.grad_enabled = False
    call(True)


def test_what_ran_without_gradients_is_refused_with_them(torch: Any) -> None:
    x, y = tensor(np.ones(3)), tensor(np.empty(3))
    A = ev.csr(MATRIX)
    plan = product.plan(A, x, y)
    for call in (product, plan):
        for requires_grad in (False, True):
            x.requires_grad, torch.grad_enabled = requires_grad, False
            for _ in range(4):
                call(A, x, y)
        torch.grad_enabled = True
        with pytest.raises(ev.InputError, match="^x: expected a tensor that requires no gradient"):
            call(A, x, y)


def test_real_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    A = torch.tensor(MATRIX.toarray()).to_sparse_csr()
    for call in (lambda: ev.spmv(A, x), lambda: ev.spmv(A, x.detach(), x)):
        with pytest.raises(ev.InputError, match="requires a gradient"):
            call()
    with torch.no_grad():
        np.testing.assert_allclose(ev.spmv(A, x).numpy(), MATRIX.sum(axis=1))
    with torch.inference_mode():
        ev.spmv(A, x)
    np.testing.assert_allclose(ev.spmv(A, x.detach()).numpy(), MATRIX.sum(axis=1))
