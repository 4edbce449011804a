"""ev.spmv of a batch under schedules that hand out its items."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from tests.batches import BATCHES, TARGETS
from tests.batteries import vector
from tests.items import SCHEDULES

NESTED = {name: s for name, s in SCHEDULES.items() if isinstance(s, ev.Nested)}
SMALL = ev.Nested(ev.BlockMapped(64), ev.GroupMapped(8))


def expected(B, x):
    items = [sp.csr_array((A.values, A.indices, A.offsets), shape=A.shape) for A in B]
    pairs = zip(items, B.split(x, by="columns"), strict=True)
    return np.concatenate([A @ part for A, part in pairs])


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_kind_of_batch(kind, target):
    B, _ = BATCHES[kind]()
    x = vector(B.num_columns, np.float64)
    wanted = expected(B, x)
    np.testing.assert_allclose(ev.spmv(B, x, schedule=SMALL, target=target), wanted, atol=1e-12)
    y = vector(B.num_tiles, np.float64, 3)
    out = y.copy()
    assert ev.spmv(B, x, out, alpha=2, beta=-1, schedule=SMALL, target=target) is out
    np.testing.assert_allclose(out, 2 * wanted - y, atol=1e-12)


@pytest.mark.parametrize("name", NESTED)
def test_every_nested_schedule(name):
    B, _ = BATCHES["numbered through"]()
    x = vector(B.num_columns, np.float64)
    y = ev.spmv(B, x, schedule=NESTED[name], target="cpu")
    np.testing.assert_allclose(y, expected(B, x), atol=1e-12)


def test_repeated_calls_have_the_same_bits_and_read_the_values_of_the_moment():
    B, _ = BATCHES["narrow"]()
    x, y = vector(B.num_columns, np.float64), np.empty(B.num_tiles)
    first = ev.spmv(B, x, schedule=SMALL)
    ev.spmv(B, x, y, schedule=SMALL)
    assert first.tobytes() == y.tobytes()
    B.values[:] = 0
    assert not ev.spmv(B, x, y, schedule=SMALL).any()


def test_y_is_not_read_with_beta_0():
    B, _ = BATCHES["one pattern"]()
    x, y = vector(B.num_columns, np.float64), np.full(B.num_tiles, np.nan)
    ev.spmv(B, x, y, alpha=2, beta=0, schedule=SMALL)
    np.testing.assert_allclose(y, 2 * expected(B, x), atol=1e-12)


def test_auto_over_items(monkeypatch):
    """Where a GPU is quicker so: calls, plans, and scaled ones."""
    B, _ = BATCHES["one pattern"]()
    x = vector(B.num_columns, np.float64)
    monkeypatch.setattr("evenly.kit.walks_items", lambda A, schedule, target: schedule == "auto")
    y = ev.spmv(B, x)
    np.testing.assert_array_equal(y, expected(B, x))
    np.testing.assert_array_equal(ev.spmv(B, x, y, alpha=2, beta=-1), expected(B, x))
    product = ev.spmv.plan(B, x)
    assert product.plan.kernel.name == "spmv_items"
    np.testing.assert_array_equal(product(), y)
    assert ev.spmv.plan(B, x, schedule="merge_path").plan.kernel.name == "spmv_rows"


def test_an_out_that_cannot_hold_the_products():
    B, _ = BATCHES["narrow"]()
    y = np.empty(B.num_tiles, np.int32)
    with pytest.raises(ev.InputError, match="out: expected an array for products of float64"):
        ev.spmv(B, vector(B.num_columns, np.float64), y, schedule=SMALL)


@pytest.mark.parametrize("scalars", [{}, {"alpha": 2}])
@pytest.mark.parametrize("given", ["csr_array", "Csr"])
def test_a_matrix_without_items(given, scalars):
    A = sp.eye_array(3, format="csr")
    with pytest.raises(ev.InputError) as raised:
        ev.spmv(A if given == "csr_array" else ev.csr(A), np.ones(3), schedule=SMALL, **scalars)
    assert str(raised.value) == (
        "schedule: expected one that hands out tiles, such as ev.ThreadMapped(), ev.MergePath(), "
        f"got {SMALL}; hint: {given} has no items; ev.batch([...]) makes a matrix that has"
    )


@pytest.mark.gpu
@pytest.mark.parametrize("kind", BATCHES)
def test_on_a_gpu(kind):
    cupy = pytest.importorskip("cupy")
    B, _ = BATCHES[kind]()
    x = vector(B.num_columns, np.float64)
    there, on_gpu = B.to("cuda"), cupy.asarray(x)
    for schedule in ev.Nested(ev.BlockMapped(256), ev.GroupMapped(4)), SMALL:
        y = ev.spmv(there, on_gpu, schedule=schedule)
        np.testing.assert_allclose(y.get(), expected(B, x), atol=1e-12)
        ev.spmv(there, on_gpu, y, alpha=cupy.full(1, 2.0), beta=-1, schedule=schedule)
        np.testing.assert_allclose(y.get(), expected(B, x), atol=1e-12)


@pytest.mark.gpu
def test_auto_over_items_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    rows, length, items = 1000, 20, 4096
    indices = (np.arange(rows * length, dtype=np.int32) * 7) % rows
    offsets = np.arange(0, rows * length + 1, length, dtype=np.int32)
    pattern = ev.csr((np.ones(rows * length, np.float32), indices, offsets), shape=(rows, rows))
    values = cupy.random.default_rng(0).integers(-3, 4, (items, rows * length)).astype(np.float32)
    B = ev.batch(pattern.to("cuda"), values)
    x = cupy.random.default_rng(1).integers(-3, 4, B.num_columns).astype(np.float32)
    product = ev.spmv.plan(B, x)
    assert product.plan.kernel.name == "spmv_items"
    wanted = ev.spmv(B, x, schedule="group_mapped")
    for y in product(), ev.spmv(B, x), ev.spmv(B, x, out=cupy.empty_like(wanted)):
        cupy.testing.assert_array_equal(y, wanted)
