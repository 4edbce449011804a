"""ev.spmv against SciPy: every kind of matrix, array and mistake."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.algorithms.linalg import spmv
from evenly.language.types import name_of
from evenly.layouts import check, convert
from evenly.layouts.grouped import by_row, tiles_are_rows
from evenly.schedules import TABLE as SCHEDULES
from tests.batteries import array, matrices, names, readable, vector

LAYOUTS = ("csr", "csc", "coo", "ell", "bcsr", "dia")


@pytest.mark.parametrize("name", names())
def test_formats_and_layouts(name):
    matrix = matrices(np.float64)[name]
    x = vector(matrix.shape[1], np.float64)
    expected = matrix @ x
    for given in (matrix, matrix.tocsc(), matrix.tocoo(), *(convert(matrix, n) for n in LAYOUTS)):
        y = spmv(given, x, schedule="merge_path")
        assert type(y) is np.ndarray
        assert y.dtype == np.float64
        np.testing.assert_array_equal(y, expected)  # small integers: exact


@pytest.mark.parametrize("schedule", [*SCHEDULES, "auto", ev.MergePath(), ev.ThreadMapped])
def test_schedules_and_repeated_bits(schedule):
    rng = np.random.default_rng(3)
    matrix = sp.random_array((300, 200), density=0.1, rng=rng, format="coo", dtype=np.float32)
    x = rng.random(200, np.float32)
    for given in (matrix, matrix.tocsc(), matrix.tocsr()):
        first, second = spmv(given, x, schedule=schedule), spmv(given, x, schedule=schedule)
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, matrix @ x, rtol=1e-5)


@pytest.mark.parametrize("matrix_type", [np.float32, np.float64, np.int32, np.int64, np.bool_])
@pytest.mark.parametrize("vector_type", [np.float32, np.float64, np.int32, np.int64, np.bool_])
def test_types_are_numpys(matrix_type, vector_type):
    matrix = matrices()["unsorted columns"].astype(matrix_type)
    x = vector(matrix.shape[1], np.int64).astype(vector_type)
    if matrix_type is vector_type is np.bool_:
        with pytest.raises(
            ev.InputError, match="x: expected numbers, here or in the other operand, got bool in"
        ):
            spmv(matrix, x)
        return
    y = spmv(matrix, x)
    assert y.dtype == (matrix @ x).dtype
    np.testing.assert_array_equal(y, matrix @ x)


@pytest.mark.parametrize(
    ("matrix_type", "vector_type"),
    [("complex64", "float32"), ("float32", "complex128"), ("complex64", "int32"), ("bool", "complex64")],
)  # fmt: skip
def test_complex_types_are_numpys(matrix_type, vector_type):
    matrix = matrices()["unsorted columns"].astype(matrix_type)
    matrix.data *= 2 - 1j if matrix_type[0] == "c" else True
    x = vector(matrix.shape[1], np.int64).astype(vector_type)
    x *= 1 + 3j if vector_type[0] == "c" else 1
    for given in (matrix, matrix.tocsc()):
        y = spmv(given, x)
        assert y.dtype == (matrix @ x).dtype
        np.testing.assert_array_equal(y, matrix @ x)


@pytest.mark.parametrize("bits16", ["float16", "bfloat16"])
def test_16_bits_give_16_bits_and_sums_of_32(bits16):
    """The result has 16 bits if both operands have, as in PyTorch. With another operand or `out`, it has the sums' type."""
    values = np.float32([256, 1, 2.0**-8])
    offsets, columns = np.int32([0, 3]), np.int32([0, 1, 2])
    A, x = (array(bits16, part) for part in (values, np.ones(3)))
    A = ev.csr((A, columns, offsets), shape=(1, 3))
    assert name_of(spmv(A, x).dtype) == bits16
    assert readable(spmv(A, x)) == {"float16": 257, "bfloat16": 258}[bits16]
    exact = np.float32([257 + 2.0**-8])
    np.testing.assert_array_equal(spmv(A, x, out=np.empty(1, np.float32)), exact)
    beside = spmv(A, np.ones(3, np.float32))
    assert beside.dtype == np.float32
    np.testing.assert_array_equal(beside, exact)
    assert spmv(A, np.ones(3, np.int32)).dtype == np.float64
    assert name_of(spmv(A, np.ones(3, bool)).dtype) == bits16


def test_out_is_filled_and_returned():
    matrix = matrices()["stencil"]
    x, out = vector(matrix.shape[1]), np.full(matrix.shape[0], np.nan, np.float32)
    assert spmv(matrix, x, out) is out
    np.testing.assert_array_equal(out, matrix @ x)


@pytest.mark.parametrize("make", [sp.csr_array, ev.csr])
def test_a_call_like_an_earlier_one_looks_at_nothing_else(make, monkeypatch):
    """Looking at the matrix took longer than such a call."""
    A = make(sp.random_array((30, 30), density=0.2, rng=np.random.default_rng(3)))
    x, y = np.ones(30), np.empty(30)
    ev.spmv(A, x, y)
    monkeypatch.setattr(ev.kit, "by_atoms", None)
    monkeypatch.setattr(ev.kit, "as_rows", None)
    assert ev.spmv(A, x, y) is y


def test_target_python_and_cpu_agree():
    matrix = matrices()["empty in the middle"]
    x = vector(matrix.shape[1])
    for given in (matrix, matrix.tocsc(), matrix.tocoo()):
        np.testing.assert_array_equal(spmv(given, x, target="python"), spmv(given, x, target="cpu"))


def test_a_subset_leaves_other_rows_alone():
    matrix = matrices()["stencil"]
    x, rows = vector(matrix.shape[1]), np.array([7, 0, 100], np.int32)
    part = ev.subset(ev.csr(matrix), rows)
    expected = np.zeros(matrix.shape[0], np.float32)
    expected[rows] = (matrix @ x)[rows]
    np.testing.assert_array_equal(spmv(part, x), expected)
    out = np.full(matrix.shape[0], 9, np.float32)
    spmv(part, x, out)
    np.testing.assert_array_equal(out[[1, 2]], [9, 9])


@ev.layout
class Diagonal:
    """A user's layout, whose array is not called values, and which has no `row`."""

    cells: ev.Array
    num_columns: int

    @property
    def num_tiles(self):
        return len(self.cells)

    @property
    def num_atoms(self):
        return len(self.cells)

    def begin(self, tile):
        return tile

    def end(self, tile):
        return tile + 1

    def column(self, k):
        return k

    def value(self, k):
        return self.cells[k]


def test_a_users_layout():
    A = Diagonal(np.arange(5, dtype=np.float64), 5)
    y = spmv(A, np.full(5, 2, np.float32))
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y, 2 * np.arange(5))


@pytest.mark.parametrize("name", names())
def test_grouping_keeps_the_contract_and_the_order(name):
    matrix = matrices()[name]
    for given in (ev.csc(matrix), ev.coo(matrix)):
        A = by_row(given, keep=True)
        check(A)
        assert A.values is given.values
        assert A.shape == matrix.shape
        starts = np.diff(np.asarray(A.order, np.int64)) < 0  # ascending within each row
        assert set(np.flatnonzero(starts) + 1) <= set(np.asarray(A.offsets).tolist())


def test_values_are_read_when_called():
    matrix = matrices()["stencil"].tocoo()
    A, x = ev.coo(matrix), vector(matrix.shape[1])
    before = spmv(A, x)
    A.values[:] *= 2
    np.testing.assert_array_equal(spmv(A, x), 2 * before)


def test_tiles_are_rows():
    matrix = matrices()["stencil"]
    wanted = {"csr": True, "csc": False, "coo": False, "ell": True, "bcsr": True, "dia": True}
    assert {name: tiles_are_rows(convert(matrix, name)) for name in LAYOUTS} == wanted


MATRIX = sp.csr_array(np.eye(3, 4, dtype=np.float32))
X, Y = np.ones(4, np.float32), np.empty(3, np.float32)
MISTAKES = {
    "dense": ((np.eye(3), X), "A: expected a sparse matrix, got ndarray; hint: scipy.sparse"),
    "a number": ((3.0, X), "A: expected a sparse matrix, got float"),
    "ragged": (
        (ev.ragged(np.array([0, 1])), X),
        "A: expected a sparse matrix, got Ragged; hint: give",
    ),
    "long x": (
        (MATRIX, np.ones(5, np.float32)),
        "x: expected a vector of 4, the columns of A, got shape (5,)",
    ),
    "matrix x": (
        (MATRIX, np.ones((4, 1), np.float32)),
        "x: expected a vector of 4, the columns of A, got shape (4, 1)",
    ),
    "list x": ((MATRIX, [1, 1, 1, 1]), "x: expected an array, got list; hint: make an array"),
    "strided x": ((MATRIX, np.ones(8, np.float32)[::2]), "x: expected a contiguous array"),
    "long doubles": ((MATRIX, np.ones(4, np.longdouble)), "x: expected an array of float32"),
    "short out": (
        (MATRIX, X, np.empty(2)),
        "out: expected a vector of 3, the rows of A, got shape (2,)",
    ),
    "out is x": (
        (sp.eye_array(4, format="csr"), X, X),
        "out: expected an output that shares no memory with x",
    ),
    "out of integers": (
        (MATRIX, X, np.empty(3, np.int32)),
        "out: expected an array for products of float32, got int32",
    ),
    "columns of a subset": (
        (ev.subset(ev.csc(MATRIX), np.array([0])), X),
        "A: expected a layout whose tiles are rows, CSC or COO, got Subset",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    arguments, message = MISTAKES[name]
    with pytest.raises(ev.InputError) as raised:
        spmv(*arguments)
    assert str(raised.value).startswith(message)


def test_read_only_out():
    out = np.empty(3, np.float32)
    out.flags.writeable = False
    with pytest.raises(ev.InputError, match="out: expected a writable array"):
        spmv(MATRIX, X, out)


def test_rows_out_of_range():
    one = np.ones(1, np.float32)
    A = ev.coo((one, np.array([3]), np.array([0])), shape=(3, 4), check=False)
    with pytest.raises(ev.InputError, match=r"A\.rows"):
        spmv(A, X)


@pytest.mark.parametrize(
    ("option", "given", "near"), [("schedule", "merge", "merge_path"), ("target", "cdua", "cuda")]
)
def test_unknown_names(option, given, near):
    with pytest.raises(ev.InputError, match=f"did you mean '{near}'"):
        spmv(MATRIX, X, **{option: given})


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["stencil", "power law", "duplicates", "nothing (0 x 0)"])
def test_on_a_gpu(name):
    """`ev.DeviceArray` in, `ev.DeviceArray` (or CuPy's array) out, with equal bits twice."""
    from evenly.interop.transfer import to_cuda, to_numpy

    matrix = matrices(np.float32)[name]
    x = to_cuda(vector(matrix.shape[1]))
    for layout in LAYOUTS:
        A = convert(matrix, layout).to("cuda")
        y = spmv(A, x)
        assert type(y) is type(x)
        np.testing.assert_array_equal(to_numpy(y), matrix @ to_numpy(x))
        np.testing.assert_array_equal(to_numpy(spmv(A, x)), to_numpy(y))


def shaped(matrix, shape):
    """Make a matrix whose shape does not match its arrays."""
    matrix._shape = shape
    return matrix


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (shaped(sp.csr_array((3, 2)), (2.0, 2.0)), "A.offsets: expected 3 offsets for 2 rows, got 4"),
        (shaped(sp.csr_array((3, 2)), (-2, 2)), "A.shape: expected lengths of at least 0, got (-2, 2)"),
        (shaped(sp.csr_array((3, 2)), (2**55, 2)), "A.offsets: expected 36028797018963969 offsets for"),
        (sp.coo_array((2**62, 2)), "out: expected a result that fits into memory, got 4,611,"),
        (sp.csc_array((2**55, 2)), "out: expected a result that fits into memory, got 36,028,"),
    ],
    ids=range(5),
)  # fmt: skip
def test_shapes_without_room_for_a_result(matrix, said):
    with pytest.raises(ev.InputError) as caught:
        ev.spmv(matrix, np.ones(2))
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("format_", ["csc", "coo"])
def test_many_columns_on_a_cpu_have_sums_in_parts(format_):
    """What a product of a matrix that is not stored by rows adds up: in parts, or at once; twice the same bits."""
    rng = np.random.default_rng(3)
    for shape, density in (((50, 4000), 0.5), ((3000, 500), 0.1), ((20_000, 300), 0.001)):
        matrix = sp.random_array(shape, density=density, rng=rng, format=format_, dtype=np.float64)
        x = rng.standard_normal(shape[1])
        y = ev.spmv(matrix, x)
        np.testing.assert_allclose(y, matrix @ x, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(ev.spmv(matrix, x), y)
        grouped = ev.spmv(matrix, x, schedule="thread_mapped")
        np.testing.assert_allclose(y, grouped, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n", [50, 3000])
@pytest.mark.parametrize("make", [lambda A: ev.csr(A).T, ev.coo])
def test_an_output_of_a_single_product_overlaps_nothing(make, n):
    """However many parts have sums of their own: 1 of 50 rows, several of 3000."""
    A, x = make(sp.random_array((n, n), density=0.05, rng=np.random.default_rng(3))), np.ones(n)
    values = A.values.copy()
    for out, name in (x, "x"), (A.values[:n], "A.values"):
        with pytest.raises(ev.InputError, match=f"^out: .* shares no memory with {name}, got"):
            ev.spmv(A, x, out)
    assert (x == 1).all() and (A.values == values).all()


def test_sums_in_parts_of_16_bits():
    matrix = sp.random_array((40, 3000), density=0.5, format="csc", dtype=np.float32)
    A = ev.csc((matrix.data.astype(np.float16), matrix.indices, matrix.indptr), shape=matrix.shape)
    x = np.ones(3000, np.float16)
    y = ev.spmv(A, x)
    assert y.dtype == np.float16
    np.testing.assert_allclose(y, matrix @ np.ones(3000), rtol=2e-3)
