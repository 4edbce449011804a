"""ELL by columns and sliced ELL: from what they are made, what they refuse, and CSR of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly import kit
from evenly.arguments import Binding, is_wide
from evenly.choosing.statistics import statistics
from evenly.layouts import Sell, check, csr, ell, sell
from evenly.layouts.ell import ColumnEll, Ell
from evenly.layouts.sell import SortedSell
from tests import batteries

LENGTHS = np.array([1, 9, 2, 0, 1, 9, 2, 8, 3])
MATRIX = sp.csr_array(
    (
        np.arange(1.0, 36),
        np.concatenate([np.arange(n) for n in LENGTHS]).astype(np.int32),
        np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int32),
    ),
    shape=(9, 10),
)
MAKERS = {
    "rows": ell,
    "columns": lambda A, **more: ell(A, order="F", **more),
    "slices": lambda A, **more: sell(A, slice_height=4, **more),
    "sorted": lambda A, **more: sell(A, slice_height=4, sigma=6, **more),
}


def same(made, matrix):
    np.testing.assert_array_equal(made.offsets, matrix.indptr)
    np.testing.assert_array_equal(made.indices, matrix.indices)
    np.testing.assert_array_equal(made.values, matrix.data)
    assert made.shape == matrix.shape


@pytest.mark.parametrize("name", batteries.names())
@pytest.mark.parametrize("how", MAKERS)
def test_csr_of_it_is_the_matrix(how, name):
    matrix = batteries.matrices(np.float32)[name]
    made = MAKERS[how](matrix, validate=True)
    same(made.tocsr(), matrix)


@pytest.mark.parametrize("how", MAKERS)
def test_layouts_become_each_other(how):
    for given in (
        csr(MATRIX),
        ev.coo(MATRIX.tocoo()),
        ev.csc(MATRIX.tocsc()),
        *(m(MATRIX) for m in MAKERS.values()),
    ):
        made = MAKERS[how](given, validate=True)
        same(made.tocsr(), MATRIX)
        assert isinstance(made, type(MAKERS[how](MATRIX)))
        with pytest.raises(
            ev.InputError, match=r"A: expected its own shape \(9, 10\), got shape=\(9, 9\)"
        ):
            MAKERS[how](csr(MATRIX), shape=(9, 9))


def test_what_has_the_wanted_order_is_not_copied():
    rows, columns, slices = ell(MATRIX), ell(MATRIX, order="F"), sell(MATRIX)
    assert ell(rows) is ell(rows, order="C") is rows
    assert ell(columns) is ell(columns, order="F") is columns
    assert sell(slices) is sell(slices, slice_height=32) is slices
    assert sell(slices, slice_height=8).slice_height == 8
    kept = sell(MATRIX, sigma=4)
    assert sell(kept) is kept
    assert type(sell(kept, sigma=1)) is Sell
    part = columns.slice(slice(3, 8))
    same(ell(part, order="C").tocsr(), MATRIX[3:8])
    assert np.shares_memory(part.values, columns.values)


def test_slots_next_to_each_other_are_of_rows_next_to_each_other():
    A, S = ell(MATRIX, order="F"), sell(MATRIX, slice_height=4)
    np.testing.assert_array_equal(A.values[:9], [1, 2, 11, 0, 13, 14, 23, 25, 33])
    np.testing.assert_array_equal(A.indices[:9], [0, 0, 0, -1, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(S.offsets, [0, 36, 72, 84])
    np.testing.assert_array_equal(S.values[36:40], [13, 14, 23, 25])
    assert S.num_atoms == 75  # three rows that the matrix lacks are no atoms


def test_rows_are_sorted_within_windows():
    A = sell(MATRIX, slice_height=4, sigma=4, validate=True)
    np.testing.assert_array_equal(A.rows, [1, 2, 0, 3, 5, 7, 6, 4, 8])
    np.testing.assert_array_equal(sell(MATRIX, sigma=100).rows, np.argsort(-LENGTHS, kind="stable"))
    assert A.num_atoms == 75 and sell(MATRIX, slice_height=4, sigma=9).num_atoms == 4 * (9 + 2) + 0
    assert not kit.leaves_rows(A)


def test_raw_arrays_are_not_copied():
    for how in ("slices", "sorted"):
        A = MAKERS[how](MATRIX)
        parts = (A.values, A.indices, A.offsets, *([A.rows] if how == "sorted" else []))
        B = sell(parts, slice_height=4, shape=A.shape, validate=True)
        assert type(B) is type(A)
        assert B.values is A.values
        same(B.tocsr(), MATRIX)
    values, indices = (
        np.asfortranarray(np.ones((3, 2))),
        np.array([[0, 1], [-1, 2], [1, -1]], order="F"),
    )
    E = ell((values, indices), order="F", shape=(3, 4), validate=True)
    assert np.shares_memory(E.values, values)
    np.testing.assert_array_equal(ev.spmv(E, np.arange(4.0)), [1, 2, 1])


def test_their_statistics_count_padding():
    st = statistics(sell(MATRIX, slice_height=4))
    assert (st.tiles, st.atoms, st.greatest, st.empty) == (9, 75, 9, 0)
    assert st.spread > 0.2
    assert "sell" in str(ev.explain(sell(MATRIX))).lower()


@pytest.mark.parametrize("target", ["cpu", "simt", "python"])
def test_sorted_rows_are_those_of_the_matrix(target):
    x = batteries.vector(10, np.float64)
    A = MAKERS["sorted"](MATRIX)
    np.testing.assert_array_equal(ev.spmv(A, x, target=target), MATRIX @ x)
    places = np.array([5, 0])
    part = ev.subset(A, places)
    wanted = np.zeros(9)
    wanted[A.rows[places]] = (MATRIX @ x)[A.rows[places]]
    np.testing.assert_array_equal(ev.spmv(part, x, target=target), wanted)


def test_a_warp_reads_adjacent_slots_if_each_thread_has_a_row():
    """Of 256 rows of 8 nonzeros, in values of 8 bytes: all bytes of the sectors that a load moves are used."""
    offsets = np.arange(257, dtype=np.int32) * 8
    columns = (np.arange(256 * 8, dtype=np.int32) * 7) % 32
    matrix = sp.csr_array((np.ones(256 * 8), columns, offsets), shape=(256, 32))
    shares = {}
    for how, made in {
        "rows": ell(matrix),
        "columns": ell(matrix, order="F"),
        "slices": sell(matrix),
    }.items():
        args = made, np.empty(256)
        (counted,) = row_sums.plan(*args, schedule=ev.ThreadMapped(), target="simt").counters()
        shares[how] = counted.load_coalescing
    assert shares["columns"] == 1
    assert shares["slices"] > 0.9  # and the offsets of slices, which all threads of a warp read
    assert shares["rows"] < 0.4


@ev.kernel
def row_sums(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))


def _with(**changes):
    A = sell(MATRIX, slice_height=4, sigma=6)
    parts = {
        "values": A.values,
        "indices": A.indices,
        "offsets": A.offsets,
        "rows": A.rows,
    } | changes
    return sell(tuple(parts.values()), slice_height=4, shape=(9, 10))


def _put(array, at, value):
    made = array.copy()
    made[at] = value
    return made


A = sell(MATRIX, slice_height=4, sigma=6)
REFUSALS = {
    "order": (lambda: ell(MATRIX, order="R"), "order: expected 'C' (row by row) or 'F' (column by column), got 'R'"),
    "C arrays": (lambda: ell((np.ones((3, 2)), np.ones((3, 2), int)), order="F"), "A.values: expected an array in Fortran order, got another order; hint: numpy.asfortranarray(...) copies it"),
    "other shapes": (lambda: ell((np.ones((3, 1)), np.ones((2, 1), int)), order="F"), "A.indices: expected an array (rows, width), of one shape with the other, got shape (2, 1)"),
    "list": (lambda: ell(([1.0], np.ones((2, 1), int)), order="F"), "A.values: expected an array, got list"),
    "column": (lambda: ell((np.ones((1, 2)), np.array([[0, 7]])), shape=(1, 3), order="F"), "A.indices: expected column indices in -1..2, got indices[1]=7"),
    "height": (lambda: sell(MATRIX, slice_height=0), "slice_height: expected an integer of at least 1, got 0"),
    "sigma": (lambda: sell(MATRIX, sigma=2.5), "sigma: expected an integer of at least 1, got 2.5"),
    "raw sigma": (lambda: sell((A.values, A.indices, A.offsets), sigma=4), "sigma: expected none: raw arrays have the order of their rows, as their fourth, got 4"),
    "dense": (lambda: sell(np.eye(3)), "A: expected a sparse matrix or a tuple (values, indices, offsets)"),
    "ragged": (lambda: sell(ev.ragged(np.array([0, 1]))), "A: expected a sparse matrix or a tuple (values, indices, offsets), got Ragged"),
    "short indices": (lambda: _with(indices=A.indices[:-1]), "A.indices: expected 76 entries, as many as A.values has, got 75"),
    "few offsets": (lambda: _with(offsets=A.offsets[:-1]), "A.offsets: expected 4 offsets for 9 rows in slices of 4, got 3"),
    "no offsets": (lambda: _with(offsets=A.offsets[:0]), "A.offsets: expected at least one offset, got none"),
    "falling offsets": (lambda: _with(offsets=_put(A.offsets, 1, 72)), "A.offsets: expected non-decreasing offsets, got offsets[2]=68 after 72"),
    "offsets off": (lambda: _with(offsets=_put(A.offsets, 1, 35)), "A.offsets: expected multiples of 4, the rows of a slice, got offsets[1]=35"),
    "offsets end": (lambda: _with(offsets=_put(A.offsets, 3, 72)), "A.offsets: expected a last offset of 76, got offsets[3]=72"),
    "column of slots": (lambda: _with(indices=_put(A.indices, 3, 10)), "A.indices: expected column indices in -1..9, got indices[3]=10"),
    "padding": (lambda: _with(indices=_put(A.indices, 3, -2)), "A.indices: expected column indices in -1..9, got indices[3]=-2"),
    "row twice": (lambda: _with(rows=_put(A.rows, 0, 5)), "A.rows: expected distinct rows, got 5 at rows[0] and at rows["),
    "row": (lambda: _with(rows=_put(A.rows, 0, 9)), "A.rows: expected rows in 0..8, got rows[0]=9"),
    "few rows": (lambda: _with(rows=A.rows[:-1]), "A.rows: expected 9 entries, as many as rows of the shape, got 8"),
    "float offsets": (lambda: _with(offsets=A.offsets.astype(float)), "A.offsets: expected int32 or int64 indices, got dtype float64"),
    "start": (lambda: sell(MATRIX, slice_height=4).slice(slice(2, 8)), "tiles: expected a start that is a multiple of 4, the rows of a slice, got 2"),
    "memory": (lambda: sell(MATRIX, max_bytes=10), "A: expected sliced ELL of at most 0.0 GiB (10 bytes), got 0.0 GiB ("),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name):
    call, message = REFUSALS[name]
    with pytest.raises(ev.InputError) as raised:
        call()
    assert str(raised.value).startswith(message)


def test_a_part_of_a_large_matrix_is_counted_with_64_bits():
    """Few atoms, but slots that are far apart."""
    indices, values = np.zeros(4, np.int32), np.zeros(4)
    for made in (
        ColumnEll(indices, values, 2, 5, 2, 2**30, 2**31),
        Sell(np.zeros(2, np.int64), indices, values, 32, 1, 5, 2**26, 2**31),
    ):
        assert is_wide(Binding({"A": made}))
        assert is_wide(Binding({"A": ev.subset(made, np.zeros(1, np.int32), check=False)}))
    assert not is_wide(Binding({"A": ell(MATRIX, order="F")}))


def test_classes():
    assert [type(make(MATRIX)) for make in MAKERS.values()] == [Ell, ColumnEll, Sell, SortedSell]
    for make in MAKERS.values():
        check(make(MATRIX))
        assert make(MATRIX).to("cpu").tocsr().values.dtype == MATRIX.dtype


@pytest.mark.gpu
@pytest.mark.parametrize("how", MAKERS)
def test_on_a_gpu(how):
    from evenly.interop.transfer import to_cuda, to_numpy

    x = batteries.vector(10, np.float64)
    made = MAKERS[how](csr(MATRIX).to("cuda"), validate=True)
    assert ev.layouts.moving.device_of(made) == "cuda"
    np.testing.assert_array_equal(to_numpy(ev.spmv(made, to_cuda(x))), MATRIX @ x)
    same(made.tocsr().to("cpu"), MATRIX)
    if how in ("slices", "sorted"):
        parts = (made.values, made.indices, made.offsets, *([made.rows] if how == "sorted" else []))
        assert sell(parts, slice_height=4, shape=(9, 10)).num_atoms == made.num_atoms
