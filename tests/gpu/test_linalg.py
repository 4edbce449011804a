"""ev.linalg on a GPU: the results of the CPU, any order of memory, plans, transposes, the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from tests.algorithms.linalg.operands import ORDERS, dense
from tests.batteries import matrices

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.gpu

WIDTHS = (1, 4, 33)
NASTY = ("power law", "empty in the middle", "no atoms", "duplicates", "nothing (0 x 0)")


def there(x: np.ndarray, order: str) -> Any:
    """The same numbers on the GPU, in memory of this order."""
    rows, columns = x.shape
    made = {
        "C": lambda: cupy.empty((rows, columns), x.dtype),
        "F": lambda: cupy.empty((rows, columns), x.dtype, order="F"),
        "columns apart": lambda: cupy.empty((rows, 2 * columns + 1), x.dtype)[:, 1::2],
        "rows apart": lambda: cupy.empty((2 * rows, columns + 3), x.dtype)[::2, 2:-1],
    }[order]()
    made[...] = cupy.asarray(x)
    return made


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products(dtype: Any, order: str) -> None:
    for name in NASTY if order == "C" else NASTY[:1]:
        matrix = matrices(dtype)[name]
        for width in WIDTHS if dtype is np.float32 else WIDTHS[1:2]:
            B, X = dense(matrix.shape[1], width, dtype), dense(matrix.shape[0], width, dtype)
            A, given = ev.csr(matrix).to("cuda"), there(B, order)
            C = there(dense(matrix.shape[0], width, dtype), order)
            assert ev.linalg.spmm(A, given, out=C) is C
            np.testing.assert_array_equal(C.get(), matrix @ B, err_msg=f"{name} {width}")
            found = ev.linalg.sddmm(A, there(X, order), given).get()
            np.testing.assert_array_equal(found, ev.linalg.sddmm(matrix, X, B), err_msg=name)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_transposes_and_plans(format: str) -> None:
    pytest.importorskip("cuda.cccl")
    for name in NASTY[:3]:
        matrix = matrices(np.float32)[name]
        X, x = dense(matrix.shape[0], 5, np.float32), dense(matrix.shape[0], 1, np.float32)[:, 0]
        A = getattr(ev, format)(matrix.asformat(format)).to("cuda")
        wanted, of_vector = matrix.T @ X, matrix.T @ x
        there = cupy.asarray(X)
        product = ev.linalg.spmm.plan(A.T, there)
        for found in (ev.linalg.spmm(A.T, there), product(), product(there)):
            np.testing.assert_array_equal(found.get(), wanted, err_msg=name)
        found = ev.linalg.spmv.plan(A.T, cupy.asarray(x))()
        np.testing.assert_array_equal(found.get(), of_vector, err_msg=name)
        A.values[...] *= 2
        np.testing.assert_array_equal(product().get(), 2 * wanted, err_msg=name)


def test_scalars_on_the_gpu() -> None:
    matrix = matrices(np.float64)["empty in the middle"]
    B, C = dense(matrix.shape[1], 3), dense(matrix.shape[0], 3)
    out = cupy.asarray(C)
    alpha, beta = cupy.array(2.0), cupy.array([-1.0])
    ev.linalg.spmm(ev.csr(matrix).to("cuda"), cupy.asarray(B), out=out, alpha=alpha, beta=beta)
    np.testing.assert_array_equal(out.get(), 2 * (matrix @ B) - C)


def test_the_same_bits_in_every_run() -> None:
    rng = np.random.default_rng(0)
    matrix = matrices(np.float32)["power law"]
    matrix.data = rng.standard_normal(matrix.nnz).astype(np.float32)
    A = ev.csr(matrix).to("cuda")
    B, X = (
        cupy.asarray(rng.standard_normal((n, 20)).astype(np.float32)) for n in matrix.shape[::-1]
    )
    for call in (
        lambda: ev.linalg.spmm(A, B),
        lambda: ev.linalg.spmm(A.T, X),
        lambda: ev.linalg.sddmm(A, X, B),
    ):
        assert len({call().tobytes() for _ in range(50)}) == 1


def test_sparse_times_sparse() -> None:
    rng = np.random.default_rng(0)
    several = sp.vstack([sp.random_array((40, 900), density=d, rng=rng) for d in (0.01, 0.2, 0.9)])
    several.data = np.round(several.data * 8)
    given = {n: matrices()[n] for n in NASTY} | {
        "rows of all bins": several.tocsr().astype(np.float32)
    }
    for name, matrix in given.items():
        A, B = ev.csr(matrix), ev.csr(matrix.T.tocsr())
        if ev.linalg.spgemm.estimate(A, B).products > 3_000_000:
            continue
        wanted = ev.linalg.spgemm(A, B)
        for most in (None, 3_000_000):
            found = ev.linalg.spgemm(A.to("cuda"), B.to("cuda"), max_workspace=most)
            for field in ("offsets", "indices", "values"):
                mine, theirs = getattr(found, field).get(), getattr(wanted, field)
                np.testing.assert_array_equal(mine, theirs, err_msg=f"{name} {field}")


@pytest.mark.parametrize(
    "schedule",
    [
        "auto",
        "lrb",
        ev.GroupMapped(16, lanes=8, vector=4),
        ev.GroupMapped(8, items=8, lanes=8, vector=4),
        ev.GroupMapped(8, items=5, lanes=8, vector=8),
        ev.GroupMapped(32, items=8, lanes=32, vector=4),
    ],
)
def test_attention(schedule: Any) -> None:
    for name in NASTY:
        matrix = matrices(np.float32)[name]
        rng, (m, n) = np.random.default_rng(1), matrix.shape
        for width, wide in ((32, 32), (64, 128), (5, 33)):
            given = [rng.standard_normal((r, k)).astype(np.float32) for r, k in ((m, width), (n, width), (n, wide))]  # fmt: skip
            on_gpu = ev.csr(matrix).to("cuda"), *map(cupy.asarray, given)
            layer = ev.linalg.attention.plan(*on_gpu, schedule=schedule)
            first, second = layer().get(), layer().get()
            assert first.tobytes() == second.tobytes()
            wanted = ev.linalg.attention(matrix, *given)
            np.testing.assert_allclose(first, wanted, rtol=1e-4, atol=1e-5, err_msg=name)
