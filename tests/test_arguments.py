"""Bad arguments: each gives one clear line before anything runs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from tests.kernels import spmv


@ev.kernel
def scaled(A, x, y, factor):
    for row in A.tiles():
        y[row] = factor * sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def columns(A, X, Y):
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))


@ev.kernel
def numbered(A, rows, atoms):
    for row in A.tiles():
        rows[row] = 1
        for k in A.atoms(row):
            atoms[k] = 1


def given():
    A = sp.random_array((5, 4), density=0.5, format="csr", dtype=np.float32, rng=0)
    return A, np.ones(4, np.float32), np.zeros(5, np.float32)


def frozen(y):
    y.flags.writeable = False
    return y


BAD = {
    "too few": (lambda A, x, y: (A, x), r"spmv: expected 3 arguments \(A, x, y\), got 2"),
    "short input": (
        lambda A, x, y: (A, x[:3].copy(), y),
        r"x: expected at least 4 elements, since ids of A index it \(A.num_columns\), got 3",
    ),
    "short output": (
        lambda A, x, y: (A, x, y[:4].copy()),
        r"y: expected at least 5 elements, since ids of A index it \(A.num_tiles\), got 4",
    ),
    "type": (
        lambda A, x, y: (A, x.astype(np.longdouble), y),
        r"x: expected an array of float32, .* got float\d+; hint: x.astype",
    ),
    "alignment": (
        lambda A, x, y: (A, np.zeros(9, np.float32)[1:].view(np.complex64), y),
        r"x: expected memory aligned to the 8 bytes of a complex64, got the address 0x.*4; hint: copy",
    ),
    "alignment of numbers": (
        lambda A, x, y: (A, np.frombuffer(bytes(33), np.uint8)[1:].view(np.float64), y),
        r"x: expected memory aligned to the 8 bytes of a float64, got the address 0x.*; hint: copy",
    ),
    "list": (
        lambda A, x, y: (A, [1.0] * 4, y),
        r"x: expected an array, .* got list; hint: make an array of it with numpy.asarray",
    ),
    "types": (
        lambda A, x, y: (A, x, (np.int32, np.float32)),
        r"y: expected an array, .* got tuple; hint: a kernel that emits takes types for y: kernel.collect\(...\)",
    ),
    "matrices": (
        lambda A, x, y: ([A, A], x, y),
        r"A: expected an array, .* got list; hint: ev.batch\(A\) makes one layout of many matrices",
    ),
    "text": (
        lambda A, x, y: (A, "x", y),
        r"x: expected an array, a layout, a sparse matrix or a number, got str",
    ),
    "stride": (
        lambda A, x, y: (A, np.ones(8, np.float32)[::2], y),
        r"x: expected a contiguous array in C order, got strides of a view",
    ),
    "read-only": (
        lambda A, x, y: (A, x, frozen(y)),
        r"y: expected a writable array, since the kernel stores into it, got a read-only one",
    ),
}


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("name", [n for n, (_, message) in BAD.items() if message])
def test_one_clear_line(name: str, target: str) -> None:
    make, message = BAD[name]
    with pytest.raises(ev.InputError, match=message) as caught:
        spmv.on(target)(*make(*given()))
    assert "\n" not in str(caught.value)


def test_an_output_that_overlaps_an_input_is_refused() -> None:
    A, _, _ = given()
    both = np.zeros(8, np.float32)
    with pytest.raises(
        ev.InputError,
        match="y: expected an output that shares no memory with x, got overlapping arrays; hint: copy x first",
    ):
        spmv(A, both[:4], both[3:])
    spmv(A, both[:3:1].repeat(2)[:4], both[3:])  # side by side is fine


def test_an_output_that_overlaps_the_matrix_is_refused() -> None:
    A, x, _ = given()
    matrix = ev.csr(A)
    with pytest.raises(
        ev.InputError, match="y: expected an output that shares no memory with A.values"
    ):
        spmv(matrix, x, np.asarray(matrix.values)[:5])


def test_lengths_under_a_condition_are_the_kernels_own_business() -> None:
    @ev.kernel
    def guarded(A, y):
        for row in A.tiles():
            if row < len(y):
                y[row] = sum(A.value(k) for k in A.atoms(row))

    A, _, _ = given()
    y = np.zeros(2, np.float32)
    guarded(A, y)
    np.testing.assert_allclose(y, A.sum(axis=1)[:2], rtol=1e-6)


def test_each_axis_is_checked() -> None:
    A, _, _ = given()
    with pytest.raises(ev.InputError, match=r"X: expected at least 4 elements on axis 0"):
        columns(A, np.ones((3, 2), np.float32), np.ones((5, 2), np.float32))


@pytest.mark.parametrize(
    ("factor", "expected"),
    [(2, 2.0), (0.5, 0.5), (np.float32(3), 3.0), (True, 1.0), (np.int64(4), 4.0)],
)
def test_numbers_of_any_kind(factor, expected) -> None:
    A, x, y = given()
    scaled(A, x, y, factor)
    np.testing.assert_allclose(y, expected * (A @ x), rtol=1e-6)


@pytest.mark.parametrize(
    "wrap",
    [
        sp.csr_array,
        sp.csr_matrix,
        sp.csc_array,
        sp.coo_array,
        sp.bsr_array,
        sp.dia_array,
        sp.lil_array,
        sp.dok_array,
    ],
)
def test_spmv_takes_every_sparse_format(wrap) -> None:
    A, x, _ = given()
    y = ev.spmv(wrap(A), x)
    assert isinstance(y, np.ndarray)
    np.testing.assert_allclose(y, A @ x, rtol=1e-6)


@pytest.mark.parametrize(
    ("format", "hint"),
    [
        ("csc", "ev.csc(A), whose tiles are columns, or ev.csr(A), whose tiles are rows"),
        ("coo", "ev.coo(A), whose tiles are nonzeros, or ev.csr(A), whose tiles are rows"),
        ("bsr", "ev.bcsr(A), whose tiles are rows, or ev.csr(A), whose tiles are rows"),
        ("dia", "ev.dia(A), whose tiles are rows, or ev.csr(A), whose tiles are rows"),
        ("lil", "ev.csr(A), whose tiles are rows"),
        ("dok", "ev.csr(A), whose tiles are rows"),
    ],
)
def test_a_bare_matrix_of_another_format_needs_its_constructor(format, hint) -> None:
    A, x, y = given()
    other = A.asformat(format)
    for call in (scaled, scaled.plan, scaled.plan(A, x, y, 1.0)):
        with pytest.raises(ev.InputError) as caught:
            call(other, x, y, 1.0)
        said = f"A: expected a layout or a CSR matrix, got a {format.upper()} matrix; hint: {hint}"
        assert str(caught.value) == said
    scaled(ev.csr(other), x, y, 1.0)
    np.testing.assert_allclose(y, A @ x, rtol=1e-6)
    np.testing.assert_allclose(ev.spmv(other, x), A @ x, rtol=1e-6)
    assert str(ev.explain(other))


def waiting(G):
    F = ev.frontier(G)
    F.push(5)
    return F


@pytest.mark.parametrize(
    ("make", "rows", "atoms"),
    [
        (lambda G: ev.subset(G, np.int32([5, 1])), "A.base.num_tiles", "A.base.num_atoms"),
        (waiting, "A.base.num_tiles", "A.base.num_atoms"),
        (lambda G: ev.sell(G, slice_height=4, sigma=8), "A.num_rows", "A.num_slots"),
        (
            lambda G: ev.subset(ev.sell(G, slice_height=4, sigma=8), np.int32([5, 1])),
            "A.base.num_rows",
            "A.base.num_slots",
        ),
    ],
    ids=["subset", "frontier", "sorted rows", "subset of sorted rows"],
)
def test_arrays_that_ids_index_are_as_long_as_the_ids_ask(make, rows, atoms) -> None:
    """Ids that are not positions have bounds, too: of sorted SELL, the last slots lie beyond num_atoms."""
    G = ev.csr(sp.csr_array(np.ones((6, 2))))
    r, a = np.zeros(6), np.zeros(16 if "slots" in atoms else 12)
    for bad, bound, least in (((r[:5].copy(), a), rows, 6), ((r, a[:-1].copy()), atoms, len(a))):
        with pytest.raises(ev.InputError) as caught:
            numbered(make(G), *bad)
        assert f"at least {least} elements" in str(caught.value) and bound in str(caught.value)
    numbered(make(G), r, a)
    assert r[5] == 1 and a.sum() == 2 * r.sum()


class DataFrame:
    """pandas.DataFrame, with the attributes that are read."""

    dtype, shape = np.dtype("float64"), (3, 3)
    __len__ = __getitem__ = lambda *_: 0
    to_numpy = lambda _: np.ones((3, 3))  # noqa: E731


MANY = "an array, a layout, a sparse matrix or a number"
FILE = "hint: read the file first: scipy.io.mmread(path) gives a sparse matrix"
MASKED = np.ma.masked_array(np.ones(6, np.float32), mask=[0, 1, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda A, x, y: scaled(DataFrame(), x, y, 1), f"A: expected {MANY}, got DataFrame; hint: its array is .to_numpy()"),
        (lambda A, x, y: scaled(A, DataFrame(), y, 1), f"x: expected {MANY}, got DataFrame; hint: its array is .to_numpy()"),
        (lambda A, x, y: ev.csr(DataFrame()), "A: expected a sparse matrix or a tuple (values, indices, offsets), got DataFrame; hint: scipy.sparse.csr_array(A.to_numpy()) makes one"),
        (lambda A, x, y: ev.ragged(DataFrame()), "A.offsets: expected an array, got DataFrame; hint: its array is .to_numpy()"),
        (lambda A, x, y: scaled(A, MASKED, y, 1), f"x: expected {MANY}, got MaskedArray; hint: fill the masked array first: .filled(0)"),
        (lambda A, x, y: ev.ragged(np.ma.masked_array([0, 1])), "A.offsets: expected an array, got MaskedArray; hint: fill the masked array first: .filled(0)"),
        (lambda A, x, y: ev.spmv("a.mtx", x), f"A: expected {MANY}, got str; {FILE}"),
        (lambda A, x, y: ev.spmv(None, x), "A: expected a sparse matrix, got NoneType"),
        (lambda A, x, y: ev.spmv(A.toarray(), x), "A: expected a sparse matrix, got ndarray; hint: scipy.sparse.csr_array(dense) makes one of a dense array"),
        (lambda A, x, y: scaled(A, x.astype(object), y, 1), "x: expected an array of numbers, got dtype object; hint: x.astype(numpy.float64)"),
        (lambda A, x, y: scaled(A, x.astype("M8[s]"), y, 1), "x: expected an array of numbers, got dtype datetime64[s]; hint: x.astype(numpy.int64)"),
    ],
)  # fmt: skip
def test_what_others_take_for_an_array(call, said) -> None:
    with pytest.raises(ev.InputError) as caught:
        call(*given())
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda A, x, y: spmv[x](A, x, y), r"schedule: expected a schedule such as .*, got array\("),
        (lambda A, x, y: spmv[None](A, x, y), "schedule: expected a schedule such as .*, got None"),
        (lambda A, x, y: spmv.on(["cpu"])(A, x, y), r"target: expected one of .*, got \['cpu'\]"),
        (lambda A, x, y: spmv.plan(A, x, y, target=x), "target: expected one of .*, got array"),
        (lambda A, x, y: ev.explain(A, target=["cpu"]), r"target: expected one of .*, got \['cpu'\]"),
        (lambda A, x, y: ev.verify("auto", A), "schedule: expected one of block_mapped, .*, got 'auto'$"),
        (lambda A, x, y: ev.verify("lrb", A, target=x), "target: expected one of .*, got array"),
    ],
)  # fmt: skip
def test_schedules_and_targets_of_other_types(call, said) -> None:
    with pytest.raises(ev.InputError, match=f"^{said}"):
        call(*given())


@pytest.mark.parametrize(
    ("dtype", "hint"),
    [("longdouble", "float64"), ("clongdouble", "complex128")],
)
def test_a_type_that_the_language_has_not_is_told_the_nearest_that_holds_it(dtype, hint) -> None:
    A, x, y = given()
    for call in (
        lambda a: scaled(A, a, y, 1),
        lambda a: scaled(A, x, a, 1),
        lambda a: ev.spmv(A, a),
    ):
        with pytest.raises(ev.InputError) as caught:
            call(x.astype(dtype))
        name = caught.value.argument
        assert str(caught.value).endswith(
            f"got {np.dtype(dtype)}; hint: {name}.astype(numpy.{hint})"
        )
    A.data = A.data.astype(dtype)
    with pytest.raises(ev.InputError, match=rf"A.values: .*; hint: \.astype\(numpy.{hint}\)$"):
        ev.spmv(A, x)


def test_float32_next_to_a_python_number_stays_float32() -> None:
    @ev.kernel
    def kinds(A, y):
        for row in A.tiles():
            acc = 0.0
            for k in A.atoms(row):
                acc += A.value(k) * 0.1
            y[row] = acc

    A, _, _ = given()
    A.data[:] = 1
    y = np.zeros(5, np.float64)
    kinds(A, y)
    count = np.diff(A.indptr)
    one = np.float64(np.float32(0.1))
    assert y[count == 1] == pytest.approx(one, abs=0)


def test_a_changed_constant_is_seen() -> None:
    A, x, y = given()
    scope: dict = {"ev": ev, "F": 2.0}
    source = "def times(A, x, y):\n    for row in A.tiles():\n        y[row] = F * sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))\n"
    exec(source, scope)
    times = ev.kernel(scope["times"], source=source)
    for factor in (2.0, 3.0):
        scope["F"] = factor
        times(A, x, y)
        np.testing.assert_allclose(y, factor * (A @ x), rtol=1e-6)


@ev.kernel
def stored(A, n, y):
    for t in A.tiles():
        y[t] = n


@pytest.mark.parametrize(
    "n", [2**63, -(2**63) - 1, 10**40, 10**5000], ids=["2^63", "low", "long", "endless"]
)
def test_integers_of_more_than_64_bits(n: int) -> None:
    """Calls and plans give the same error on every target."""
    A, y = ev.ragged(np.array([0, 1])), np.zeros(1, np.int64)
    calls = [stored.on(target) for target in ("cpu", "python", "simt")]
    calls += [stored.plan(A, 1, y, target=target) for target in ("cpu", "python")]
    for call in calls:
        with pytest.raises(ev.InputError) as caught:
            call(A, n, y)
        given = str(n) if n < 10**50 else "one of 16610 bits"
        assert str(caught.value) == f"n: expected an integer of 64 bits, got {given}"
    for edge in (2**63 - 1, -(2**63)):
        for call in calls[:2]:
            call(A, edge, y)
            assert y[0] == edge


def test_integers_of_layouts_of_more_than_64_bits() -> None:
    A = ev.layouts.Csr(np.array([0, 1]), np.array([0]), np.ones(1), 2**63)
    with pytest.raises(
        ev.InputError,
        match=r"A.num_columns: expected an integer of 64 bits, got 9223372036854775808",
    ):
        stored(A, 1, np.zeros(1, np.int64))
