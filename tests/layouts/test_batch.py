"""Batches of matrices: the block-diagonal matrix of them, item by item, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.choosing.statistics import statistics
from evenly.errors import InputError
from evenly.interop.array_view import ArrayView
from evenly.layouts import check
from tests.batteries import array, dense, matrices, vector
from tests.emitting import emitted

ALL = list(matrices(np.float64).values())
SOME = [m for m in ALL if m.shape[0] < 100 and m.nnz < 1000]
PATTERN = 5
SCHEDULES = [ev.ThreadMapped(), ev.GroupMapped(4), ev.MergePath(), ev.NonzeroSplit()]


@ev.kernel
def products(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


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


def in_scipy(A: Any) -> Any:
    return sp.csr_array((A.values, A.indices, A.offsets), shape=A.shape)


def diagonal(items: list[Any]) -> np.ndarray:
    """SciPy's block_diag as a dense array: it refuses an empty list, and loses items without rows or columns."""
    shapes = np.array([m.shape for m in items], int).reshape(-1, 2)
    whole = np.zeros(shapes.sum(axis=0))
    row = column = 0
    for m, (rows, columns) in zip(items, shapes, strict=True):
        whole[row : row + rows, column : column + columns] = dense(m)
        row, column = row + rows, column + columns
    return whole


def of_a_pattern(m: Any, count: int) -> tuple[Any, list[Any]]:
    """A batch of one pattern, and its items as SciPy's matrices."""
    values = vector(count * m.nnz, np.float64).reshape(count, m.nnz)
    items = [sp.csr_array((v, m.indices, m.indptr), shape=m.shape) for v in values]
    return ev.batch(m, values), items


def same(B: Any, items: list[Any]) -> None:
    """The batch is these items, as a whole and one by one."""
    assert (len(B), B.num_items) == (len(items), len(items))
    assert B.shapes == [m.shape for m in items]
    for made, m in zip(B, items, strict=True):
        ev.csr((made.values, made.indices, made.offsets), shape=made.shape)
        np.testing.assert_array_equal(dense(in_scipy(made)), dense(m))


def test_it_is_what_block_diag_makes() -> None:
    items = [m for m in ALL if min(m.shape)]
    B = ev.batch(items, validate=True)
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


TARGETS = ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)]
BATCHES = {
    "numbered through": lambda: (ev.batch(SOME), SOME),
    "narrow": lambda: (ev.batch(SOME, narrow=True), SOME),
    "one pattern": lambda: of_a_pattern(SOME[PATTERN], 5),
}


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("target", TARGETS)
def test_kernels_over_rows_run_over_it(target: str, kind: str) -> None:
    B, items = BATCHES[kind]()
    x, wanted = vector(B.num_columns, np.float64), None
    for schedule in SCHEDULES if target == "cpu" else SCHEDULES[1:3]:
        y = np.full(B.num_tiles, np.nan)
        products[schedule].on(target)(B, x, y)
        wanted = diagonal(items) @ x if wanted is None else wanted
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
        small = sp.csr_array(([2.0], [0], [0, 1]), shape=(1, 1))
        for B in ev.batch([small, m], narrow=True), ev.batch(m, np.ones((3, 1))):
            assert B.indices.itemsize * 8 == bits
            assert B.local_column(1, 1) == columns - 1
            check(B)


def test_many_columns_and_nonzeros_need_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = sp.csr_array(([1.0], np.array([2**31 - 2]), np.array([0, 1])), shape=(1, 2**31 - 1))
    B = ev.batch([wide, wide], validate=True)
    assert (B.indices.dtype, B.indices.tolist()) == (np.int64, [2**31 - 2, 2**32 - 3])
    assert B[1].indices.tolist() == [2**31 - 2]
    monkeypatch.setattr("evenly.layouts.narrow.LIMIT", 50)  # as if int32 had 6 bits
    B = ev.batch(SOME)
    assert (B.offsets.dtype, B.indices.dtype) == (np.int64, np.int64)
    same(B, SOME)


# ---- one pattern ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [0, 1, 3])
def test_one_pattern(count: int) -> None:
    for m in SOME:
        B, items = of_a_pattern(m, count)
        check(B)
        same(B, items)
        listed = ev.batch(items)
        x = vector(B.num_columns, np.float64)
        np.testing.assert_array_equal(ev.spmv(B, x), ev.spmv(listed, x))
        assert statistics(B) == statistics(listed)
        assert B.item_statistics == listed.item_statistics
        turned = B.with_values(B.values[::-1].copy().reshape(count, m.nnz))
        np.testing.assert_array_equal(turned.values[::-1], B.values)


def test_its_pattern_and_values_are_not_copied() -> None:
    m = SOME[PATTERN]
    values = np.ones((4, m.nnz))
    B = ev.batch(m, values)
    assert all(np.shares_memory(*pair) for pair in ((B.values, values), (B.offsets, m.indptr)))
    assert np.shares_memory(B[2].values, values[2])
    assert B.to("cpu") is B
    same(
        pickle.loads(pickle.dumps(B)),
        [m.__class__((v, m.indices, m.indptr), shape=m.shape) for v in values],
    )


def test_a_tensor_of_pytorch_is_a_batch() -> None:
    torch = pytest.importorskip("torch")
    one = torch.tensor([[0.0, 2.0, 0.0], [3.0, 0.0, 1.0]])
    alike = torch.stack([one, 2 * one]).to_sparse_csr()
    B = ev.batch(alike, validate=True)
    assert (type(B).__name__, B.num_items, B.values.tolist()) == (
        "PatternBatch",
        2,
        [2, 3, 1, 4, 6, 2],
    )
    different = torch.stack([one, one.roll(1, 1)]).to_sparse_csr()
    C = ev.batch(different, validate=True)
    assert type(C).__name__ == "Batch"
    same(C, [sp.csr_array(m.numpy()) for m in (one, one.roll(1, 1))])
    empty = (torch.zeros(0, n, dtype=torch.int32) for n in (3, 0))
    none = torch.sparse_csr_tensor(*empty, torch.zeros(0, 0), size=(0, 2, 3))
    assert (ev.batch(none).shape, ev.batch(none).num_items) == ((0, 0), 0)
    for tensor, said in (
        (torch.ones(2, 2, 3).to_sparse(), "torch.sparse_csr, got torch.sparse_coo"),
        (torch.ones(2, 2, 2, 3).to_sparse_csr(), "a sparse tensor of three axes, got one of 4"),
    ):
        with pytest.raises(InputError, match=f"matrices: expected {said}"):
            ev.batch(tensor)


@pytest.mark.parametrize(
    ("pattern", "values", "said"),
    [
        (sp.eye_array(3, format="csc"), np.ones((2, 3)), "matrices: expected a CSR matrix, in whose order the values are, got csc_array"),
        (np.eye(3), np.ones((2, 3)), "matrices: expected a CSR matrix, in whose order the values are, got ndarray"),
        ([sp.eye_array(3)], np.ones((2, 3)), "matrices: expected a CSR matrix, in whose order the values are, got list"),
        (sp.eye_array(3, format="csr"), np.ones(3), "values: expected an array of shape (items, 3), a value for each nonzero of each item, got shape (3,)"),
        (sp.eye_array(3, format="csr"), np.ones((2, 4)), "values: expected an array of shape (items, 3), a value for each nonzero of each item, got shape (2, 4)"),
        (sp.eye_array(3, format="csr"), np.ones((3, 2)).T, "values: expected a contiguous array, got a strided one; hint: numpy.ascontiguousarray(...) copies it"),
        (sp.eye_array(3, format="csr"), [[1.0] * 3], "values: expected an array, got list; hint: make an array of it with numpy.asarray(..., dtype=...)"),
    ],
)  # fmt: skip
def test_a_wrong_pattern_or_wrong_values_are_refused(pattern: Any, values: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        ev.batch(pattern, values)
    assert str(error.value) == said


def test_walks_over_other_tiles_pass_the_tile() -> None:
    @ev.kernel
    def next_rows(B, y):
        for row in B.tiles():
            y[row] = sum(B.column(k) for k in B.atoms((row + 1) % B.num_tiles))

    @ev.kernel
    def as_the_hint_says(B, y):
        for row in B.tiles():
            other = (row + 1) % B.num_tiles
            y[row] = sum(B.column(other, k) for k in B.atoms(other))

    B, items = of_a_pattern(SOME[PATTERN], 3)
    y, z = np.zeros(B.num_tiles, np.int64), np.zeros(B.num_tiles, np.int64)
    with pytest.raises(ev.LanguageError, match=r"pass it: B\.column\(tile, k\)"):
        next_rows.on("cpu")(B, y)
    as_the_hint_says.on("cpu")(B, y)
    next_rows.on("cpu")(ev.batch(items), z)
    np.testing.assert_array_equal(y, z)


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


# ---- what a batch has on the host -----------------------------------------------------------------
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
    B = ev.batch(SOME)
    assert B.tocsr() is B


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


# ---- what is refused ----------------------------------------------------------------------------------
EYE = sp.eye_array(3, format="csr")


def malformed(part: str, at: int, value: int, dtype: Any = np.int32) -> Any:
    m = EYE.copy()
    m.indices, m.indptr = m.indices.astype(dtype), m.indptr.astype(dtype)
    getattr(m, part)[at] = value
    return m


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (np.eye(3), ": expected a sparse matrix of SciPy, CuPy or PyTorch, or a CSR, CSC or COO layout, got ndarray"),
        (None, ": expected a sparse matrix of SciPy, CuPy or PyTorch, or a CSR, CSC or COO layout, got NoneType"),
        ((EYE.data, EYE.indices, EYE.indptr), "got tuple; hint: ev.csr(arrays, shape=...) makes a layout of raw arrays"),
        (ev.ell(EYE), ": expected a CSR, CSC or COO layout, got Ell; hint: batch the matrix itself"),
        (malformed("indices", 1, 3), ".indices: expected column indices in 0..2, got indices[1]=3"),
        (malformed("indices", 2, -1), ".indices: expected column indices in 0..2, got indices[2]=-1"),
        (malformed("indptr", 1, 3), ".offsets: expected non-decreasing offsets, got offsets[2]=2 after 3"),
        (malformed("indptr", 1, 2**31 - 1), ".offsets: expected offsets of at most 3, got offsets[1]=2147483647"),
        (malformed("indptr", 1, 2**32 + 1, np.int64), ".offsets: expected offsets of at most 3, got offsets[1]=4294967297"),
        (malformed("indptr", 0, 1), ".offsets: expected offsets that start at 0, got offsets[0]=1"),
        (malformed("indptr", 3, 9), ".offsets: expected a last offset of at most 3, the length of matrices[2].indices"),
        (EYE.astype(np.longdouble), ".values: expected values of "),
    ],
)  # fmt: skip
def test_a_wrong_item_is_named(item: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        ev.batch([EYE, EYE, item, EYE])
    assert str(error.value).startswith("matrices[2]")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("given", [EYE, ev.csr(EYE), np.eye(3), 3])
def test_it_takes_a_list(given: Any) -> None:
    with pytest.raises(InputError, match=r"matrices: expected a list of matrices, got \w+"):
        ev.batch(given)


def test_values_without_a_common_type_are_refused() -> None:
    narrow = ev.csr((array("bfloat16", EYE.data), EYE.indices, EYE.indptr), shape=(3, 3))
    assert ev.batch([narrow, narrow]).values.dtype == narrow.values.dtype
    with pytest.raises(InputError, match=r"matrices\[1\]\.values: .* that float64 can be combined"):
        ev.batch([EYE, narrow])


def test_wrong_values_and_vectors_are_refused() -> None:
    B = ev.batch([EYE, EYE])
    for values, said in (
        (np.zeros(5), "values: expected 6 values, one a nonzero, got shape (5,)"),
        ([0] * 6, "values: expected 6 values, one a nonzero, got list"),
    ):
        with pytest.raises(InputError) as error:
            B.with_values(values)
        assert str(error.value) == said
    with pytest.raises(
        InputError, match=r"y: expected an array of 6, the rows of the batch, got shape \(5,\)"
    ):
        B.split(np.zeros(5))
    with pytest.raises(
        InputError, match="by: expected 'rows', 'columns' or 'nonzeros', got 'items'"
    ):
        B.split(np.zeros(6), by="items")


def test_kernels_have_no_host_methods() -> None:
    @ev.kernel
    def wrong(B, y):
        for row in B.tiles():
            y[row] = B.split(y)

    with pytest.raises(ev.LanguageError, match="Batch.split is for the host, not for kernels"):
        wrong.on("cpu")(ev.batch([EYE]), np.zeros(3))


# ---- on a GPU -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_the_kernels_that_check_and_renumber(target: str) -> None:
    from evenly.runtime.gluing import numbered, unsound

    B = ev.batch(SOME)
    heads = np.array([m.indptr[0] for m in SOME])
    tails = np.concatenate([m.indptr[1:] for m in SOME])
    columns = np.concatenate([m.indices for m in SOME])
    assert unsound(heads, tails, columns, B.starts, target) is None
    indices, offsets = np.zeros_like(B.indices), np.zeros_like(B.offsets)
    numbered(columns, B.starts.atoms, B.starts.columns[:-1], indices, target)
    numbered(tails, B.starts.tiles, B.starts.atoms[:-1], offsets[1:], target)
    np.testing.assert_array_equal(indices, B.indices)
    np.testing.assert_array_equal(offsets, B.offsets)
    empty, full = 1, next(i for i, m in enumerate(SOME) if m.nnz > 5)
    for looked_at, at, value, item in (
        (heads, empty, 1, empty),
        (tails, B.starts.tiles[full], -1, full),
        (tails, B.starts.tiles[full + 1] - 1, 10**6, full),
        (columns, B.starts.atoms[full], -1, full),
        (columns, B.starts.atoms[full + 1] - 1, SOME[full].shape[1], full),
    ):
        kept, looked_at[at] = looked_at[at], value
        assert unsound(heads, tails, columns, B.starts, target) == item
        looked_at[at] = kept


@pytest.mark.parametrize("narrow", [False, True])
def test_what_is_done_on_a_gpu_does_the_same_in_cpu_memory(
    narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ev.batch(SOME, narrow=narrow)
    monkeypatch.setattr("evenly.layouts.gluing._alike", lambda pieces, name: pieces[0].values)
    B = ev.batch(SOME, narrow=narrow)
    for field, spec in type(B).__fields__.items():
        if "array" in spec.kind:
            np.testing.assert_array_equal(getattr(B, field), getattr(wanted, field))
            assert getattr(B, field).dtype == getattr(wanted, field).dtype
    with pytest.raises(InputError, match=r"matrices\[1\]\.indices: .* got indices\[1\]=3"):
        ev.batch([EYE, malformed("indices", 1, 3)])


def test_they_compile_for_a_gpu() -> None:
    pytest.importorskip("cuda.core")
    from evenly.targets.cuda import compile as compiling

    for kind, schedule in ("narrow", ev.GroupMapped(4)), ("one pattern", ev.MergePath()):
        B, _ = BATCHES[kind]()
        for code in emitted(products, (B, np.ones(B.num_columns), np.ones(B.num_tiles)), schedule):
            assert compiling.cubin(code.source, code.name, "sm_90")


def elsewhere(device: int) -> Any:
    """A matrix of which only the addresses exist, on a GPU."""

    def fake(length: int, dtype: Any) -> Any:
        return ev.DeviceArray(
            ArrayView(4096, (length,), np.dtype(dtype), "cuda", device, False, True, None)
        )

    arrays = fake(3, np.float64), fake(3, np.int32), fake(4, np.int32)
    return ev.csr(arrays, shape=(3, 3), check=False)


def test_several_devices_are_refused_by_name() -> None:
    for items, said in (
        ([EYE, elsewhere(0)], "[1]: expected a matrix beside matrices[0], on cpu, got one on cuda:0"),
        ([elsewhere(0), elsewhere(0), elsewhere(1)], "[2]: expected a matrix beside matrices[0], on cuda:0, got one on cuda:1"),
    ):  # fmt: skip
        with pytest.raises(InputError) as error:
            ev.batch(items)
        hint = "; hint: move one: layout.to('cuda'), layout.to('cpu')"
        assert str(error.value) == f"matrices{said}{hint}"
    with pytest.raises(
        InputError, match=r"matrices\.values: expected an array beside matrices\.offsets on cuda"
    ):
        ev.batch(elsewhere(0), np.ones((2, 3)))


def on_gpu(x: np.ndarray, library: str) -> Any:
    if library == "torch":
        return pytest.importorskip("torch").from_numpy(x).cuda()
    if library == "cupy":
        return pytest.importorskip("cupy").asarray(x)
    return ev.DeviceArray.from_numpy(x)


def explained(B: Any) -> list[str]:
    """The lines on the batch's tiles and items, which do not depend on the device."""
    return str(ev.explain(B)).splitlines()[1:4]


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["cupy", "torch", "evenly"])
def test_on_a_gpu(library: str) -> None:
    def there(m: Any) -> Any:
        given = tuple(on_gpu(part, library) for part in (m.data, m.indices, m.indptr))
        return ev.csr(given, shape=m.shape)

    items, m, count = [there(m) for m in SOME], SOME[PATTERN], 5
    values = vector(count * m.nnz, np.float64).reshape(count, m.nnz)
    alike = [sp.csr_array((v, m.indices, m.indptr), shape=m.shape) for v in values]
    for B, wanted in (
        (ev.batch(items), SOME),
        (ev.batch(items, narrow=True), SOME),
        (ev.batch(there(m), on_gpu(values, library)), alike),
    ):
        check(B)
        same(B.to("cpu"), wanted)
        assert [A.to("cpu").shape for A in B] == [m.shape for m in wanted]
        np.testing.assert_array_equal(B[2].to("cpu").indices, wanted[2].indices)
        assert explained(B) == explained(B.to("cpu"))
        x = vector(B.num_columns, np.float64)
        y = ev.spmv(B, on_gpu(x, library))
        np.testing.assert_array_equal(ev.kit.to_numpy(y), diagonal(wanted) @ x)
        parts = [ev.kit.to_numpy(part) for part in B.split(y) if part.shape[0]]
        np.testing.assert_array_equal(np.concatenate(parts), ev.kit.to_numpy(y))
    wrong = there(EYE)
    wrong = type(wrong)(wrong.offsets, on_gpu(np.int32([0, 3, 1]), library), wrong.values, 3)
    with pytest.raises(InputError, match=r"matrices\[2\]\.indices: .* got indices\[1\]=3"):
        ev.batch([items[0], items[1], wrong])
    with pytest.raises(InputError, match=r"matrices\[1\]: expected a matrix beside matrices\[0\]"):
        ev.batch([items[0], EYE])
