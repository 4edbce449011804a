"""ev.linalg.spgemm against SciPy: every matrix, type, schedule, bound of memory and mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.language.types import name_of
from evenly.layouts import check
from tests.batteries import array, matrices, readable
from tests.scratch import OWNED

BATTERY = matrices(np.float64)
MOST = 300_000  # products


def as_scipy(C: Any) -> Any:
    return sp.csr_array((C.values, C.indices, C.offsets), shape=C.shape)


def compare(A: Any, B: Any, **how: Any) -> Any:
    """Values are small integers, so that sums are exact."""
    C = ev.linalg.spgemm(A, B, **how)
    check(C)
    found = as_scipy(C)
    assert found.has_canonical_format
    wanted = A @ B
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())
    wanted = sp.csr_array(
        abs(A).astype(bool).astype(np.int64) @ abs(B).astype(bool).astype(np.int64)
    )
    assert found.nnz >= wanted.nnz
    return C


@pytest.mark.parametrize("name", BATTERY)
def test_a_matrix_and_its_transpose(name: str) -> None:
    matrix = BATTERY[name]
    turned = matrix.T.tocsr()
    for A, B in ((matrix, turned), (turned, matrix)):
        if ev.linalg.spgemm.estimate(A, B).products <= MOST:
            compare(A, B)


@pytest.mark.parametrize("name", ["duplicates", "unsorted columns"])
def test_columns_of_b_that_are_there_twice_or_in_no_order(name: str) -> None:
    B = BATTERY[name]
    for A in (sp.csr_array(np.arange(12.0).reshape(3, 4)), sp.eye_array(4, format="csr")):
        compare(A, B)


@pytest.mark.parametrize(
    "schedule",
    [
        n if n in ("thread", "group 3", "lrb") else pytest.param(n, marks=pytest.mark.slow)
        for n in OWNED
    ],
)
def test_schedules_on_simt(schedule: str) -> None:
    A, B = BATTERY["duplicates"], BATTERY["single column"][:, [0] * 3]
    A = sp.csr_array(A)
    compare(A, sp.csr_array(B), schedule=OWNED[schedule], target="simt")


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_targets(target: str) -> None:
    compare(BATTERY["empty in the middle"], BATTERY["empty in the middle"].T.tocsr(), target=target)


@pytest.mark.parametrize("way", ["numpy", "kernels"])
def test_the_way_of_a_gpu(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in bins, and columns sorted by a radix sort."""
    from tests.algorithms.conftest import by_kernels

    if way == "kernels":
        by_kernels(monkeypatch)
    rng = np.random.default_rng(0)
    A = sp.vstack([sp.random_array((40, 90), density=d, rng=rng) for d in (0.01, 0.1, 0.7)])
    A.data = np.round(A.data * 8)
    compare(A.tocsr(), A.T.tocsr())


@pytest.mark.parametrize(
    "dtype", ["float32", "int32", "int64", "int8", "uint64", "complex64", "complex128"]
)
def test_types(dtype: str) -> None:
    A = BATTERY["empty in the middle"].astype(dtype)
    A.data *= 2 - 1j if dtype.startswith("complex") else 1
    compare(A, A.T.tocsr())
    assert ev.linalg.spgemm(A, BATTERY["empty in the middle"].T.tocsr()).values.dtype == (
        np.result_type(dtype, np.float64)
    )


@pytest.mark.parametrize("bits16", ["float16", "bfloat16"])
def test_16_bits_are_summed_in_32(bits16: str) -> None:
    row = ev.csr(
        (array(bits16, np.float32([256, 1, 1])), np.int32([0, 1, 2]), np.int32([0, 3])),
        shape=(1, 3),
    )
    column = ev.csr(
        (array(bits16, np.ones(3)), np.int32([0, 0, 0]), np.arange(4, dtype=np.int32)), shape=(3, 1)
    )
    C = ev.linalg.spgemm(row, column)
    assert name_of(C.values.dtype) == bits16
    assert readable(C.values).tolist() == [258]


def integers(rows: int, columns: int, density: float, seed: int = 0) -> Any:
    made = sp.random_array((rows, columns), density=density, rng=np.random.default_rng(seed))
    made.data = np.ceil(made.data * 8)
    return made.tocsr()


@pytest.mark.simt
def test_long_rows_in_windows() -> None:
    """Rows of more than 1,024 products; also a few at a time, and a few of their windows at a time."""
    A, B = integers(30, 60, 0.4), integers(60, 2100, 0.05)
    A = sp.diags_array((np.arange(30) != 7) * 1.0).tocsr() @ A
    whole = compare(A, B, target="simt")
    products = ev.linalg.spgemm.estimate(A, B).products
    needed = 12 * A.nnz + 80 * 30 + 8 * 60 + 4 * (products // 256 + 2)
    # Of 29 rows 14 fit at a time, and no table of where rows of B are cut.
    for how in ({"max_workspace": needed + 1020}, {"schedule": ev.GroupMapped(8, block=32)}):
        parts = compare(A, B, target="simt", **how)
        for field in ("offsets", "indices", "values"):
            assert getattr(parts, field).tobytes() == getattr(whole, field).tobytes()


@pytest.mark.simt
def test_columns_that_are_twice_in_b_where_rows_are_long() -> None:
    B = integers(60, 500, 0.2)
    B = sp.csr_array((B.data, B.indices % 300, B.indptr), shape=(60, 300))
    A = integers(3, 60, 0.5)
    compare(A, B, target="simt")
    for data in np.full(B.nnz, 100, np.int8), np.ones(B.nnz, bool):  # two of which do not fit
        found = ev.linalg.spgemm(
            A, ev.csr((data, B.indices, B.indptr), shape=B.shape), target="simt"
        )
        wanted = A @ sp.csr_array((data.astype(float), B.indices, B.indptr), shape=B.shape)
        np.testing.assert_array_equal(as_scipy(found).toarray(), wanted.toarray())


@pytest.mark.simt
@pytest.mark.parametrize("dtype", ["complex64", "int8", "uint64"])
def test_types_on_simt(dtype: str) -> None:
    A = sp.vstack([integers(2, 50, d) for d in (0.05, 0.3, 0.9)]).tocsr().astype(dtype)
    A.data *= 2 - 1j if dtype.startswith("complex") else 1
    compare(A, integers(50, 80, 0.4).astype(dtype), target="simt")


def test_columns_that_lie_far_apart_on_the_cpu() -> None:
    """They are numbered anew, and then those of the result have their own numbers again."""
    A, B = integers(30, 60, 0.1), integers(60, 40, 0.2)
    B = sp.csr_array((B.data, B.indices * 100_000, B.indptr), shape=(60, 4_000_000))
    C, wanted = ev.linalg.spgemm(A, B), (A @ B).tocsr()
    wanted.sort_indices()
    for found, right in ((C.offsets, wanted.indptr), (C.indices, wanted.indices)):
        np.testing.assert_array_equal(found, right)
    np.testing.assert_array_equal(C.values, wanted.data)


def test_rows_of_many_columns_on_the_cpu() -> None:
    """A full row walks all of a bit map. Of others, a few columns are sorted, and many are found in order by maps."""
    few = sp.csr_array(([1.0, 2.0, 3.0], ([1, 1, 1], [599_999, 5, 300_000])), shape=(2, 600_000))
    B = sp.vstack([few, integers(298, 600_000, 0.0002)]).tocsr()
    A = sp.vstack([integers(5, 300, 0.1), np.ones((1, 300)), sp.eye_array(4, 300)]).tocsr()
    C, wanted = ev.linalg.spgemm(A, B), (A @ B).tocsr()
    wanted.sort_indices()
    for found, right in ((C.offsets, wanted.indptr), (C.indices, wanted.indices)):
        np.testing.assert_array_equal(found, right)
    np.testing.assert_array_equal(C.values, wanted.data)


@pytest.mark.parametrize(
    ("target", "copies"),
    [("cpu", 1), ("cpu", 600), pytest.param("simt", 1, marks=pytest.mark.simt)],
)
def test_as_many_columns_as_there_may_be(target: str, copies: int) -> None:
    """copies: of the rows of B in each row of C."""
    last = 2**31 - 4
    shape, columns = (2, last + 1), np.int32([0, last, 5, last])
    B = sp.csr_array((np.ones(4), columns, np.int32([0, 2, 4])), shape=shape)
    A = sp.csr_array((np.ones(2 * copies), [0, 1] * copies, [0, 2 * copies]), shape=(1, 2))
    C = ev.linalg.spgemm(A, B, target=target)
    assert C.indices.tolist() == [0, 5, last]
    assert C.values.tolist() == [copies, copies, 2 * copies]


@st.composite
def factors(draw: st.DrawFn) -> tuple[Any, Any]:
    m, n, k = (draw(st.integers(0, 9)) for _ in range(3))
    made = []
    for rows, columns in ((m, n), (n, k)):
        count = draw(st.integers(0, 30)) if rows * columns else 0
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        lengths = rng.multinomial(count, [1 / rows] * rows) if rows else np.zeros(0, int)
        indices = rng.integers(0, max(columns, 1), count)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        values = rng.integers(-3, 4, count).astype(np.float64)
        made.append(sp.csr_array((values, indices, offsets), shape=(rows, columns)))
    return made[0], made[1]


@settings(max_examples=15)
@given(factors())
def test_any_matrices(given_: tuple[Any, Any]) -> None:
    compare(*given_)


def test_estimate() -> None:
    A = BATTERY["power law"]
    A, B = A, A.T.tocsr()[:, :50].tocsr()
    found, C = ev.linalg.spgemm.estimate(A, B), ev.linalg.spgemm(A, B)
    assert found.nonzeros == len(C.values)
    assert found.bytes == sum(x.nbytes for x in (C.offsets, C.indices, C.values))
    assert found.products == np.diff(B.indptr)[A.indices].sum()


def test_bounded_memory_gives_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    A = sp.random_array((300, 300), density=0.05, rng=rng, format="csr")
    whole = ev.linalg.spgemm(A, A)
    for most in (15_000, 100_000, 4_000_000):
        parts = ev.linalg.spgemm(A, A, max_workspace=most)
        for field in ("offsets", "indices", "values"):
            assert getattr(parts, field).tobytes() == getattr(whole, field).tobytes()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda A: ev.linalg.spgemm(A, A),
         "B: expected a matrix of 50 rows, the columns of A, got shape (200, 50)"),
        (lambda A: ev.linalg.spgemm(A, np.ones((50, 2))), "B: expected a sparse matrix"),
        (lambda A: ev.linalg.spgemm(A, A.T.tocsr(), max_workspace=0),
         "max_workspace: expected a number of bytes, 1 or more, got 0"),
        (lambda A: ev.linalg.spgemm(A, A.T.tocsr(), max_workspace="1 MB"),
         "max_workspace: expected a number of bytes, 1 or more, got '1 MB'"),
        (lambda A: ev.linalg.spgemm(A, A.T.tocsr(), max_workspace=1000),
         "max_workspace: expected 6,400 bytes for 200 rows and 10,000 nonzeros of A, and more, got 1,000"),
        (lambda A: ev.linalg.spgemm(A, A.T.tocsr(), max_workspace=6_440),
         "max_workspace: expected 6,400 bytes for 200 rows and 10,000 nonzeros of A, and at least 800 bytes, "
         "which the scratch array marks of one worker takes, got 6,440"),
        (lambda A: ev.linalg.spgemm(A, A.T.tocsr(), max_workspace=144_270, target="simt"),
         "max_workspace: expected 167,656 bytes for 200 rows and 10,000 nonzeros of A, and more, got 144,270"),
        (lambda A: ev.linalg.spgemm(A, A.T.tocsr(), max_workspace=167_670, target="simt"),
         "max_workspace: expected 167,656 bytes for 200 rows and 10,000 nonzeros of A, and 32 for a row of many products, "
         "got 167,670"),
        (lambda A: ev.linalg.spgemm(A, A.T.tocsr(), schedule="merge_path"),
         "schedule: expected 'auto', or one that gives whole rows to threads or groups, such as ev.GroupMapped(8), got MergePath("),
        (lambda A: ev.linalg.spgemm(A > 0, (A > 0).T.tocsr()),
         "A: expected numbers, here or in the other operand, got bool in both"),
    ],
)  # fmt: skip
def test_mistakes(call: Any, said: str) -> None:
    A = sp.csr_array(np.ones((200, 50)))
    with pytest.raises(ev.EvenlyError) as caught:
        call(A)
    assert said in str(caught.value)
