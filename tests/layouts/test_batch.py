"""Batches of matrices: the block-diagonal matrix of them, item by item."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.errors import InputError
from evenly.layouts import check
from tests.batches import (
    ALL,
    BATCHES,
    SCHEDULES,
    SOME,
    TARGETS,
    diagonal,
    in_scipy,
    products,
    same,
)
from tests.batteries import vector


@ev.kernel
def of_items(B, first, last, sums):
    """A walk over the items that one thread makes: what kernels see of them."""
    for tile in B.tiles():
        if tile == 0:
            for item in range(B.num_items):
                first[item] = B.columns_begin(item)
                last[item] = B.columns_end(item)
                total = 0
                for row in range(B.item_begin(item), B.item_end(item)):
                    for k in range(B.begin(row), B.end(row)):
                        total += B.local_column(item, k)
                sums[item] = total


def test_it_is_what_block_diag_makes() -> None:
    items = [m for m in ALL if min(m.shape)]
    B = ev.batch(items, narrow=False, validate=True)
    wanted = sp.csr_array(sp.block_diag(items, format="csr"))
    assert B.shape == wanted.shape
    assert (B.offsets.dtype, B.indices.dtype) == (np.int32, np.int32)
    assert abs(in_scipy(B) - wanted).max() == 0
    same(B, items)


@pytest.mark.parametrize(
    "items",
    [[], [sp.csr_array((0, 0))], [sp.csr_array((0, 7)), sp.csr_array((5, 0))], ALL],
    ids=len,
)
@pytest.mark.parametrize("narrow", [False, True])
def test_any_items(items: list[Any], narrow: bool) -> None:
    B = ev.batch(iter(items), narrow=narrow, validate=True)
    same(B, items)
    x = vector(B.num_columns, np.float64)
    parts = B.split(ev.spmv(B, x))
    for m, part, x_i in zip(items, parts, B.split(x, by="columns"), strict=True):
        np.testing.assert_array_equal(part, m @ x_i)


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("target", TARGETS)
def test_kernels_over_rows_run_over_it(target: str, kind: str) -> None:
    B, items = BATCHES[kind]()
    x = vector(B.num_columns, np.float64)
    wanted = diagonal(items) @ x
    for schedule in SCHEDULES if target == "cpu" else SCHEDULES[1:3]:
        y = np.full(B.num_tiles, np.nan)
        products[schedule].on(target)(B, x, y)
        np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("target", TARGETS)
def test_kernels_see_the_items(target: str, kind: str) -> None:
    B, items = BATCHES[kind]()
    found = [np.full(B.num_items, -1) for _ in range(3)]
    of_items["thread_mapped"].on(target)(B, *found)
    first, last, sums = found
    columns = [m.shape[1] for m in items]
    np.testing.assert_array_equal(last - first, columns)
    np.testing.assert_array_equal(last, np.cumsum(columns))
    np.testing.assert_array_equal(sums, [m.indices.sum() for m in items])


@st.composite
def lists_of_matrices(draw: Any) -> list[sp.csr_array]:
    """Many tiny items, empty ones among them, and now and then one that is far larger than the rest."""
    sizes = st.one_of(st.integers(0, 5), st.just(0), st.integers(200, 400))
    shapes = draw(st.lists(st.tuples(sizes, sizes), max_size=12))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    index = draw(st.sampled_from([np.int32, np.int64]))
    found = []
    for rows, columns in shapes:
        lengths = rng.integers(0, 8, rows) * bool(columns)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
        indices = rng.integers(0, max(columns, 1), offsets[-1]).astype(index)
        values = rng.integers(-4, 5, offsets[-1]).astype(np.float64)
        found.append(sp.csr_array((values, indices, offsets), shape=(rows, columns)))
    return found


@settings(max_examples=30, deadline=None)
@given(items=lists_of_matrices(), schedule=st.sampled_from(SCHEDULES), narrow=st.booleans())
def test_any_list(items: list[sp.csr_array], schedule: Any, narrow: bool) -> None:
    B = ev.batch(items, narrow=narrow)
    check(B)
    same(B, items)
    x, y = vector(B.num_columns, np.float64), np.full(B.num_tiles, np.nan)
    products[schedule].on("cpu")(B, x, y)
    np.testing.assert_array_equal(y, diagonal(items) @ x)


def test_columns_are_as_narrow_as_they_may_be() -> None:
    for columns, bits in (1, 8), (256, 8), (257, 16), (2**16, 16), (2**16 + 1, 32):
        m = sp.csr_array(([1.0], [columns - 1], [0, 1]), shape=(1, columns))
        P = ev.batch(m, np.ones((3, 1)))
        assert P.indices.itemsize * 8 == bits
        assert P.local_column(1, 1) == columns - 1
        check(P)


def test_columns_of_a_list_count_from_one_nearby() -> None:
    def row(columns: int, count: int) -> sp.csr_array:
        return sp.csr_array((np.ones(count), [columns - 1] * count, [0, count]), shape=(1, columns))

    for columns, bits in (1, 8), (255, 8), (256, 16), (2**16 - 1, 16), (2**16, 32):
        items = [row(1, 1), row(columns, 1)]  # both are among the first 256 nonzeros
        B = ev.batch(items, narrow=True)
        assert B.indices.itemsize * 8 == bits
        assert B.local_column(1, 1) == columns - 1
        check(B)
        same(B, items)
    for columns, bits in (2**8, 8), (2**16, 16):
        items = [row(columns, 256), sp.csr_array((0, 2**17)), row(columns, 512), row(1, 3)]
        B = ev.batch(items, narrow=True)  # of each 256 nonzeros, all are of one item
        assert B.indices.itemsize * 8 == bits
        same(B, items)
    items = [row(100, n) for n in (1, 0, 255, 300, 3, 700, 1, 1)]
    same(ev.batch(items, narrow=True), items)


def test_many_columns_and_nonzeros_need_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = sp.csr_array(([1.0], np.array([2**31 - 2]), np.array([0, 1])), shape=(1, 2**31 - 1))
    B = ev.batch([wide, wide], validate=True)  # 16 bits do not suffice
    assert (B.indices.dtype, B.indices.tolist()) == (np.int64, [2**31 - 2, 2**32 - 3])
    assert B[1].indices.tolist() == [2**31 - 2]
    monkeypatch.setattr("evenly.layouts.narrow.LIMIT", 50)  # as if int32 had 6 bits
    B = ev.batch(SOME, narrow=False)
    assert (B.offsets.dtype, B.indices.dtype) == (np.int64, np.int64)
    same(B, SOME)
    B = ev.batch(SOME)
    assert (B.bases.dtype, B.indices.dtype) == (np.int64, np.uint16)
    same(B, SOME)


@pytest.mark.parametrize("kind", BATCHES)
def test_layouts_made_of_a_batch(kind: str) -> None:
    @ev.kernel
    def counts(A, out):
        for tile in A.tiles():
            for k in A.atoms(tile):
                ev.atomic_add(out, A.column(k), 1)

    B, items = BATCHES[kind]()
    wanted = np.concatenate([np.bincount(m.indices, minlength=m.shape[1]) for m in items])
    for A in B, ev.uniform(7, B), ev.subset(B, np.arange(B.num_tiles)[::-1].copy()):
        check(A)
        out = np.zeros(B.num_columns, np.int32)
        counts["thread_mapped"].on("cpu")(A, out)
        np.testing.assert_array_equal(out, wanted)
    half = B.slice(range(B.num_tiles // 2, B.num_tiles))
    x, y = vector(B.num_columns, np.float64), np.zeros(B.num_tiles)
    products["thread_mapped"].on("cpu")(half, x, y)
    rest = (diagonal(items) @ x)[B.num_tiles // 2 :]
    np.testing.assert_array_equal(
        y[: len(rest)] if kind == "numbered through" else y[-len(rest) :], rest
    )


def test_other_values_share_the_structure() -> None:
    B = ev.batch(SOME)
    values = np.arange(B.num_atoms, dtype=np.float32)
    other = B.with_values(values)
    assert (other.values, other.indices, other.offsets) == (values, B.indices, B.offsets)
    for part, item in zip(B.split(values, by="nonzeros"), other, strict=True):
        assert not len(part) or np.shares_memory(item.values, values)
        np.testing.assert_array_equal(item.values, part)


def test_parts_are_views() -> None:
    B = ev.batch([sp.eye_array(2, format="csr"), sp.eye_array(3, format="csr")])
    y = np.zeros((5, 2))
    for i, part in enumerate(B.split(y)):
        part[:] = i + 1
    np.testing.assert_array_equal(y[:, 0], [1, 1, 2, 2, 2])


def test_statistics_by_item() -> None:
    B = ev.batch([sp.csr_array((2, 9)), sp.eye_array(4, format="csr")])
    st_ = B.item_statistics
    assert (st_.items, st_.rows, st_.nonzeros, st_.columns) == (2, 4, 4, 9)
    assert (st_.mean_rows, st_.mean_nonzeros, st_.mean_columns) == (3, 2, 6.5)
    said = (
        "items 2, of each: rows 3.0 (at most 4), nonzeros 2.0 (at most 4), columns 6.5 (at most 9)"
    )
    assert said in str(ev.explain(B))
    assert "items 0, of each: rows 0.0" in str(ev.batch([]).item_statistics)


def test_items_by_number() -> None:
    B = ev.batch([sp.eye_array(2, format="csr"), sp.eye_array(3, format="csr")])
    assert B[-1].shape == B[np.int64(1)].shape == (3, 3)
    with pytest.raises(IndexError, match="item: expected one of 2 items, got 2"):
        B[2]
    with pytest.raises(InputError, match="item: expected an item's number, got slice"):
        B[:1]


def test_it_survives_pickling_and_moving() -> None:
    for narrow in False, True:
        B = ev.batch(SOME, narrow=narrow)
        same(pickle.loads(pickle.dumps(B)), SOME)
        assert B.to("cpu") is B
        assert ev.batch(B) is B
    B = ev.batch(SOME, narrow=False)
    assert B.tocsr() is B


def test_narrow_columns_as_csr() -> None:
    B, wanted = ev.batch(SOME), ev.batch(SOME, narrow=False)
    assert B.indices.dtype == np.uint16
    A = B.tocsr()
    np.testing.assert_array_equal(A.indices, wanted.indices)
    assert (A.indices.dtype, A.shape) == (np.int32, B.shape)
    assert (A.values, A.offsets) == (B.values, B.offsets)
    check(A)
    x, whole = vector(max(B.shape), np.float64), diagonal(SOME)
    for made in B.tocsc(), B.tocoo(), ev.csr(B):
        np.testing.assert_array_equal(ev.spmv(made, x[: B.shape[1]]), whole @ x[: B.shape[1]])
    for made in B.T, B.transpose():
        np.testing.assert_array_equal(ev.spmv(made, x[: B.shape[0]]), whole.T @ x[: B.shape[0]])
    same(ev.batch([B, SOME[3]]), [sp.csr_array(whole), SOME[3]])
    assert ev.batch([]).tocsr().shape == (0, 0)


def test_values_get_the_common_type() -> None:
    eye = sp.eye_array(2, format="csr")
    for types in (
        ("float32", "float64"),
        ("int8", "int16"),
        ("bool", "float32"),
        ("int64", "float32"),
    ):
        B = ev.batch([eye.astype(t) for t in types])
        assert B.values.dtype == sp.block_diag([eye.astype(t) for t in types]).dtype


def test_items_of_any_kind() -> None:
    m = sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 4.0]]))
    strided = sp.csr_array(m)
    strided.data = np.repeat(m.data, 2)[::2]
    items = [m, sp.csr_matrix(m), m.tocsc(), m.tocoo(), m.tolil(), strided]
    items += [ev.csr(m), ev.csc(m), ev.coo(m), ev.batch([m])]
    items += [
        sp.csr_array((np.append(m.data, 9), np.append(m.indices, 9), m.indptr), shape=m.shape)
    ]
    same(ev.batch(items, validate=True), [m] * len(items))


def test_items_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    m = np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 4.0]])
    items = [sp.csr_array(m), torch.tensor(m).to_sparse_csr(), torch.tensor(m).to_sparse_coo()]
    same(ev.batch(items, validate=True), [items[0]] * 3)
