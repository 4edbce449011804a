"""What constructors take without copying, and what they refuse, each in one line."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from evenly.errors import InputError
from evenly.language.types import TYPES
from evenly.layouts import (
    bcsr,
    convert,
    coo,
    csc,
    csr,
    dia,
    ell,
    ragged,
    subset,
    uniform,
)
from evenly.layouts.bcsr import Bcsr, PaddedBcsr
from evenly.layouts.contract import masks
from evenly.layouts.subset import CountedSubset
from evenly.layouts.uniform import UniformOfIds
from tests.kernels import MATRIX_LAYOUTS

VALUES = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
INDICES = np.array([0, 2, 1, 0, 2], np.int32)
OFFSETS = np.array([0, 2, 2, 5])
RAW = (VALUES, INDICES, OFFSETS)
MATRIX = sp.csr_array(RAW, shape=(3, 4))


@pytest.mark.parametrize(
    ("make", "given", "fields"),
    [
        (csr, MATRIX, {"values": "data", "indices": "indices", "offsets": "indptr"}),
        (csr, sp.csr_matrix(MATRIX), {"values": "data", "indices": "indices"}),
        (csc, MATRIX.tocsc(), {"values": "data", "indices": "indices", "offsets": "indptr"}),
        (coo, MATRIX.tocoo(), {"values": "data", "rows": "row", "columns": "col"}),
        (dia, MATRIX.todia(), {"values": "data", "diagonals": "offsets"}),
        (bcsr, MATRIX.tobsr((3, 2)), {"values": "data", "indices": "indices"}),
    ],
)
def test_nothing_is_copied(make, given, fields):
    made = make(given, validate=True)
    for ours, theirs in fields.items():
        assert np.shares_memory(getattr(made, ours), getattr(given, theirs))
    assert made.shape == given.shape


def test_raw_arrays_are_kept_and_index_types_mixed():
    made = csr(RAW, shape=(3, 4), validate=True)
    assert made.values is VALUES
    assert made.indices is INDICES
    assert made.offsets is OFFSETS
    assert csr(RAW).shape == (3, 3)
    assert csc(RAW).shape == (3, 3)
    assert coo((VALUES, INDICES, INDICES)).shape == (3, 3)
    assert csr(made) is made


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
@pytest.mark.parametrize("name", MATRIX_LAYOUTS)
def test_element_types_are_kept(dtype, name):
    assert convert(MATRIX.astype(dtype), name).values.dtype == dtype


def test_spare_capacity_is_cut_off_by_a_view():
    values, indices = np.arange(8.0), np.zeros(8, np.int64)
    made = csr((values, indices, OFFSETS), shape=(3, 4))
    assert made.num_atoms == 5
    assert np.shares_memory(made.values, values)


def test_other_formats_are_converted_by_their_own_library():
    for format in ("lil", "dok", "coo", "dia", "bsr", "csc"):
        made = csr(MATRIX.asformat(format))
        np.testing.assert_array_equal(
            sp.csr_array((made.values, made.indices, made.offsets), shape=(3, 4)).toarray(),
            MATRIX.toarray(),
        )


def test_ell_from_raw_arrays_keeps_padding_masked():
    values = np.array([[1.0, 2.0], [np.inf, np.nan], [3.0, np.inf]])
    indices = np.array([[0, 2], [-1, -1], [1, -1]])
    made = ell((values, indices), shape=(3, 4), validate=True)
    assert np.shares_memory(made.values, values)
    assert [bool(made.valid(p // 2, p)) for p in range(6)] == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]


def test_bcsr_masks_only_where_columns_overhang():
    wide = sp.csr_array(np.ones((4, 6)))
    assert type(bcsr(wide, block=(2, 3))) is Bcsr
    assert type(bcsr(wide, block=(3, 3))) is Bcsr
    padded = bcsr(wide, block=(2, 4))
    assert type(padded) is PaddedBcsr
    assert masks(padded)
    assert not masks(bcsr(wide, block=(2, 3)))
    assert bcsr(wide, block=(3, 3)).num_atoms == 24  # the two rows that lack are not counted


def test_blocks_are_chosen_by_how_full_they_are():
    rng = np.random.default_rng(0)
    blocks = sp.kron(sp.csr_array(rng.random((20, 20)) < 0.1), np.ones((4, 4)))
    assert bcsr(sp.csr_array(blocks)).block_rows == 4
    assert bcsr(sp.eye_array(50, format="csr")).block_rows == 2


def test_derived_layouts_mask_what_their_base_masks():
    assert masks(subset(ell(MATRIX), np.arange(2)))
    assert not masks(uniform(2, subset(csr(MATRIX), np.arange(2))))


def test_a_counted_subset_reads_its_count_from_memory():
    count = np.array([2])
    made = subset(csr(MATRIX), np.array([2, 0, 1]), count=count, validate=True)
    assert isinstance(made, CountedSubset)
    assert (made.num_tiles, made.max_tiles, made.num_atoms) == (2, 3, 5)
    assert made.offsets.tolist() == [0, 3, 5, 5]
    assert type(uniform(2, made)) is UniformOfIds


def _bad(name, call, message):
    return pytest.param(call, message, id=name)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        _bad(
            "dense",
            lambda: csr(MATRIX.toarray()),
            "A: expected a sparse matrix or a tuple (values, indices, offsets), got ndarray; "
            "hint: scipy.sparse.csr_array(dense) makes one of a dense array",
        ),
        _bad(
            "lists",
            lambda: csr(([1.0], [0], [0, 1])),
            "A.values: expected an array, got list; "
            "hint: make an array of it with numpy.asarray(..., dtype=...)",
        ),
        _bad(
            "two arrays",
            lambda: csr(RAW[:2]),
            "A: expected a sparse matrix or a tuple (values, indices, offsets), got a tuple of 2",
        ),
        _bad(
            "layout",
            lambda: csc(csr(MATRIX)),
            "A: expected a sparse matrix or a tuple (values, indices, offsets), got Csr; "
            "hint: build it from the matrix, not from another layout",
        ),
        _bad(
            "longdouble",
            lambda: csr((VALUES.astype(np.longdouble), INDICES, OFFSETS)),
            f"A.values: expected values of {TYPES}, got dtype {np.dtype(np.longdouble)}; "
            "hint: .astype(numpy.float64)",
        ),
        _bad(
            "complex long doubles",
            lambda: csr(MATRIX.astype(np.clongdouble)),
            f"A.values: expected values of {TYPES}, got dtype {np.dtype(np.clongdouble)}; "
            "hint: .astype(numpy.complex128)",
        ),
        _bad(
            "foreign bytes",
            lambda: csr((VALUES.astype(">f8"), INDICES, OFFSETS)),
            f"A.values: expected values of {TYPES}, got dtype >f8; "
            "hint: its bytes are in foreign order: .astype(dtype.newbyteorder('='))",
        ),
        _bad(
            "uint32 indices",
            lambda: csr((VALUES, INDICES.astype(np.uint32), OFFSETS)),
            "A.indices: expected int32 or int64 indices, got dtype uint32; "
            "hint: .astype(numpy.int64)",
        ),
        _bad(
            "strided",
            lambda: csr((np.zeros(10)[::2], INDICES, OFFSETS)),
            "A.values: expected a contiguous array, got a strided one; "
            "hint: numpy.ascontiguousarray(...) copies it",
        ),
        _bad(
            "two axes",
            lambda: csr((VALUES[:, None], INDICES, OFFSETS)),
            "A.values: expected an array of 1 axes, got shape (5, 1)",
        ),
        _bad(
            "lengths",
            lambda: csr((VALUES[:4], INDICES, OFFSETS)),
            "A.values: expected 5 entries, as many as A.indices has, got 4",
        ),
        _bad(
            "too few nonzeros",
            lambda: csr((VALUES[:4], INDICES[:4], OFFSETS)),
            "A.offsets: expected a last offset of at most 4, the length of A.indices, "
            "got offsets[3]=5",
        ),
        _bad(
            "offsets for the shape",
            lambda: csr(RAW, shape=(4, 4)),
            "A.offsets: expected 5 offsets for 4 rows, got 4",
        ),
        _bad(
            "no offsets",
            lambda: csr((VALUES, INDICES, OFFSETS[:0])),
            "A.offsets: expected at least one offset, got none",
        ),
        _bad(
            "first offset",
            lambda: csr((VALUES, INDICES, OFFSETS + 1)),
            "A.offsets: expected offsets that start at 0, got offsets[0]=1",
        ),
        _bad(
            "decreasing offsets",
            lambda: csr((VALUES, INDICES, np.array([0, 4, 2, 5])), validate=True),
            "A.offsets: expected non-decreasing offsets, got offsets[2]=2 after 4",
        ),
        _bad(
            "negative column",
            lambda: csr((VALUES, INDICES - 1, OFFSETS), shape=(3, 4), validate=True),
            "A.indices: expected column indices in 0..3, got indices[0]=-1",
        ),
        _bad(
            "column out of range",
            lambda: csr(RAW, shape=(3, 2), validate=True),
            "A.indices: expected column indices in 0..1, got indices[1]=2",
        ),
        _bad(
            "another name",
            lambda: csr(RAW, shape=(3, 0), validate=True, name="graph"),
            "graph.indices: expected no column indices at all, got indices[0]=0",
        ),
        _bad(
            "row out of range",
            lambda: coo((VALUES, INDICES, INDICES), shape=(2, 3), validate=True),
            "A.rows: expected row indices in 0..1, got rows[1]=2",
        ),
        _bad(
            "shape",
            lambda: csr(RAW, shape=3),
            "A.shape: expected (rows, columns), got 3",
        ),
        _bad(
            "negative shape",
            lambda: csr(RAW, shape=(3, -1)),
            "A.shape: expected lengths of at least 0, got (3, -1)",
        ),
        _bad(
            "another shape",
            lambda: csr(MATRIX, shape=(3, 3)),
            "A: expected its own shape (3, 4), got shape=(3, 3)",
        ),
        _bad(
            "diagonals",
            lambda: dia((np.ones((2, 4)), np.array([0])), shape=(3, 4)),
            "A.diagonals: expected 2 entries, one for each row of A.values, got 1",
        ),
        _bad(
            "ell shapes",
            lambda: ell((np.ones((2, 4)), np.ones((2, 3), int))),
            "A.indices: expected an array (rows, width), of one shape with the other, "
            "got shape (2, 3)",
        ),
        _bad(
            "ell column",
            lambda: ell((np.ones((1, 2)), np.array([[0, 7]])), shape=(1, 3), validate=True),
            "A.indices: expected column indices in -1..2, got indices[1]=7",
        ),
        _bad(
            "block of blocks",
            lambda: bcsr(MATRIX.tobsr((1, 1)), block=5),
            "block: expected (R, C), both at least 1, got 5",
        ),
        _bad(
            "block",
            lambda: bcsr(MATRIX, block=(2, 0)),
            "block: expected (R, C), both at least 1, got (2, 0)",
        ),
        _bad(
            "ragged",
            lambda: ragged(np.array([1, 2])),
            "A.offsets: expected offsets[0]=0, got offsets[0]=1",
        ),
        _bad(
            "ragged count",
            lambda: ragged(np.array([0, 2]), num_atoms=3),
            "A.offsets: expected offsets[1]=3, got offsets[1]=2",
        ),
        _bad(
            "uniform size",
            lambda: uniform(0, csr(MATRIX)),
            "size: expected an integer of at least 1, got 0",
        ),
        _bad(
            "uniform base",
            lambda: uniform(2, MATRIX),
            "A: expected a layout, got csr_array; "
            "hint: uniform(size, layout): make one with ev.csr(matrix)",
        ),
        _bad(
            "subset tile",
            lambda: subset(csr(MATRIX), np.array([0, 3])),
            "A.tiles: expected tiles in 0..2, got tiles[1]=3",
        ),
        _bad(
            "subset twice",
            lambda: subset(csr(MATRIX), np.array([0, 2, 0])),
            "A.tiles: expected distinct tiles, got 0 at tiles[0] and at tiles[2]",
        ),
        _bad(
            "subset count",
            lambda: subset(csr(MATRIX), np.array([0]), count=np.array([2])),
            "A.count: expected 0..1, got 2",
        ),
        _bad(
            "slice step",
            lambda: csr(MATRIX).slice(slice(0, 3, 2)),
            "tiles: expected a slice or range of consecutive tiles in 0..3, got slice(0, 3, 2)",
        ),
        _bad(
            "slice start",
            lambda: bcsr(MATRIX, block=(2, 2)).slice(slice(1, 3)),
            "tiles: expected a start that is a multiple of 2, the rows of a block, got 1",
        ),
        _bad(
            "layout name",
            lambda: convert(MATRIX, "crs"),
            f"layout: expected one of {', '.join(sorted(MATRIX_LAYOUTS))}, got 'crs'; "
            "hint: did you mean 'csr'?",
        ),
        _bad(
            "option",
            lambda: convert(MATRIX, "bcsr", blok=(2, 2)),
            "option of bcsr: expected one of block, check, max_bytes, name, shape, validate, got 'blok'; "
            "hint: did you mean 'block'?",
        ),
        _bad(
            "device",
            lambda: csr(MATRIX).to("gpu"),
            "device: expected 'cpu' or 'cuda', got 'gpu'; hint: NVIDIA GPUs are 'cuda'",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["ell", "dia", "bcsr"])
def test_what_would_blow_up_is_refused_with_its_bytes(name):
    with pytest.raises(InputError) as caught:
        convert(MATRIX, name, max_bytes=10)
    assert "of at most 0.0 GiB (10 bytes), got 0.0 GiB (" in str(caught.value)
    assert str(caught.value).endswith("hint: use ev.csr, or allow it with max_bytes=")


def test_the_default_limit_is_four_times_csr_and_a_gibibyte():
    n = 200_000  # one dense row: ELL would take n * n slots
    offsets = np.concatenate([[0, n], np.full(n - 1, n)])
    matrix = sp.csr_array((np.ones(n), np.arange(n), offsets), shape=(n, n))
    with pytest.raises(InputError, match=r"ELL of at most 1\.0 GiB .*200,000 rows of the longest"):
        ell(matrix)
    scattered = sp.csr_array((np.ones(n), np.arange(n)[::-1].copy(), np.arange(n + 1)))
    with pytest.raises(InputError, match=r"DIA of at most 1\.0 GiB .*200,000 diagonals"):
        dia(scattered)


def test_moving_to_where_it_is_changes_nothing():
    made = csr(MATRIX)
    assert made.to("cpu") is made
