"""Matrices that are none: every constructor, conversion and product names what is wrong, and nothing crashes."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.errors import InputError
from evenly.language.types import ARRAY_TYPES
from evenly.layouts import check, convert
from tests.batteries import array
from tests.kernels import MATRIX_LAYOUTS as MATRICES
from tests.layouts.soundness import Case, dense, random_case, sound_offsets, verdict

BARE = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array, "bsr": sp.bsr_array, "dia": sp.dia_array}  # fmt: skip
PARTS = {"dia": ("data", "offsets")}


def bare(case: Case):
    """SciPy's matrix of these arrays, which its own checks have not seen."""
    made = BARE[case.format](tuple(max(n, 1) for n in case.shape))
    made._shape = case.shape
    if case.format == "coo":  # whose own setters make the indices narrower
        made.data, made.coords = case.arrays[0], case.arrays[1:]
        return made
    names = PARTS.get(case.format, ("data", "indices", "indptr"))
    for name, part in zip(names, case.arrays, strict=True):
        setattr(made, name, part)
    return made


def given_or_refused(make):
    """What it gives, or the error."""
    try:
        return make()
    except InputError as error:
        return error


def is_scipys(case: Case) -> bool:
    """Whether SciPy has the format; its blocks do not reach beyond the matrix."""
    fits = case.format != "bsr" or not any(np.mod(case.shape, case.arrays[0].shape[1:]))
    return case.format != "ell" and fits


def layouts(case: Case):
    """A layout of each way to make one; of what is refused, the error."""
    name = {"bsr": "bcsr"}.get(case.format, case.format)
    ways = [(name, lambda: convert(case.arrays, name, shape=case.shape))]
    if is_scipys(case):
        given = bare(case)
        ways += [(n, lambda n=n: convert(given, n)) for n in MATRICES]
    for way, make in ways:
        yield way, given_or_refused(make)


def hold(case: Case, target: str) -> bool:
    """Whether it is sound; all ways to make a layout of it say the same, and products are right."""
    sound = verdict(case)
    x = np.arange(1.0, case.shape[1] + 1)
    for way, made in layouts(case):
        assert isinstance(made, InputError) is not sound, (case, way, made)
        if sound:
            product = ev.spmv(made, x, target=target)
            np.testing.assert_array_equal(product, dense(case) @ x, str((way, case)))
            if way in ("csr", "ell", "coo"):
                check(made)
        else:
            assert str(made).startswith("A."), made
    if is_scipys(case):
        y = given_or_refused(lambda: ev.spmv(bare(case), x, target=target))
        assert isinstance(y, InputError) is not sound
        if sound:
            np.testing.assert_array_equal(y, dense(case) @ x)
    return sound


def test_random_arrays_are_refused_or_are_the_matrix_that_they_are():
    rng = np.random.default_rng(0)
    sound = [hold(random_case(rng), "python") for _ in range(150)]
    assert 30 < sum(sound) < 120


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_many_random_arrays(seed):
    rng = np.random.default_rng(seed)
    for _ in range(1500):
        hold(random_case(rng), "cpu")


def lil(rows, data=None, shape=(2, 3)):
    made = sp.lil_array(shape)
    made.rows[:] = [list(r) for r in rows]
    made.data[:] = [list(d) for d in data or [[1.0] * len(r) for r in rows]]
    return made


def with_lists(part, lists):
    made = lil([[0], [1]])
    setattr(made, part, lists)
    return made


def dok(*keys):
    made = sp.dok_array((2, 3))
    made._dict.update(dict.fromkeys(keys, 1.0))
    return made


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: lil([[0, 10**6], []]), "A.indices: expected column indices in 0..2, got indices[1]=1000000"),
        (lambda: lil([[0], [1, 2]], [[1.0], [1.0]]), "A.data: expected 2 values, as many as columns, got 1 in row 1"),
        (lambda: with_lists("rows", np.array([[0], [1], []], object)), "A.rows: expected an array of 2 lists, one for each row, got shape (3,)"),
        (lambda: with_lists("data", [[0], [1]]), "A.data: expected an array of 2 lists, one for each row, got list"),
        (lambda: with_lists("data", np.array([[1.0], None], object)), "A.data: expected lists, got NoneType in row 1"),
        (lambda: dok((0, 1), (7, 1)), "A: expected a matrix that can become coo, got dok: axis 0 index 7 exceeds"),
    ],
)  # fmt: skip
def test_matrices_of_lists_and_of_keys_are_checked(name, make, said):
    with pytest.raises(InputError) as caught:
        convert(make(), name)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("name", MATRICES)
def test_shapes_that_would_take_gibibytes_are_refused_or_cost_nothing(name):
    for shape in ((2**31, 3), (3, 2**31), (2**40, 2**40)):
        made = given_or_refused(lambda shape=shape: convert(sp.coo_array(shape), name))
        if isinstance(made, InputError):
            assert "GiB" in str(made)
        else:
            assert (made.shape, int(made.num_atoms)) == (shape, 0)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_offsets_of_lists(dtype):
    rng = np.random.default_rng(1)
    for _ in range(300):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 3, int(rng.integers(0, 6))))])
        offsets = offsets.astype(dtype)
        offsets[int(rng.integers(0, len(offsets)))] += rng.choice([0, 0, 1, -1, 10**9, -(2**31)])
        made = given_or_refused(lambda offsets=offsets: ev.ragged(offsets))
        assert isinstance(made, InputError) is not sound_offsets(offsets, len(offsets) - 1, 2**62)
        if isinstance(made, InputError):
            assert str(made).startswith("A.offsets: expected")
        elif made.num_atoms < 100:
            check(made)


def test_tiles_of_subsets():
    base, rng = ev.ragged(np.array([0, 2, 2, 5, 6])), np.random.default_rng(2)
    for _ in range(300):
        tiles = rng.permutation(4)[: int(rng.integers(0, 5))]
        if len(tiles) and rng.random() < 0.5:
            tiles[int(rng.integers(0, len(tiles)))] = rng.choice([0, 3, 4, -1, 10**9, 2**62])
        sound = all(0 <= t < 4 for t in tiles) and len(set(tiles.tolist())) == len(tiles)
        made = given_or_refused(lambda tiles=tiles: ev.subset(base, tiles))
        assert isinstance(made, InputError) is not sound
        if sound:
            check(made)
        else:
            assert str(made).startswith("A.tiles: expected")


@pytest.mark.parametrize("dtype", ARRAY_TYPES)
def test_conversions_of_any_type_work_or_say_why(dtype):
    entries = array(dtype, [1, 0, 1, 1]), np.array([0, 1, 1, 2]), np.array([0, 2, 3, 4])
    for source in ("csr", "csc", "coo", "bsr", "dia"):
        given = sp.csr_array((np.ones(4), *entries[1:]), shape=(3, 3)).asformat(source)
        given.data = array(dtype, given.data)
        for name in MATRICES:
            made = given_or_refused(lambda given=given, name=name: convert(given, name))
            if isinstance(made, InputError):
                assert dtype in ("float16", "bfloat16")  # which SciPy converts in part only
                assert str(made).startswith("A: expected a matrix that can become")


# ---- once an object, and by the entry ----------------------------------------

OFFSETS, COLUMNS = np.array([0, 2, 2, 4], np.int32), np.array([0, 2, 1, 0], np.int32)


def matrix(**changes):
    made = sp.csr_array((np.ones(4), COLUMNS.copy(), OFFSETS.copy()), shape=(3, 3))
    for name, (at, value) in changes.items():
        getattr(made, name)[at] = value
    return made


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"indices": (2, 10**9)}, "A.indices: expected column indices in 0..2, got indices[2]=1000000000"),
        ({"indices": (1, -1)}, "A.indices: expected column indices in 0..2, got indices[1]=-1"),
        ({"indptr": (1, 10**9)}, "A.offsets: expected offsets of at most 4, got offsets[1]=1000000000"),
        ({"indptr": (2, 1)}, "A.offsets: expected non-decreasing offsets, got offsets[2]=1 after 2"),
        ({"indptr": (2, -5)}, "A.offsets: expected non-decreasing offsets, got offsets[2]=-5 after 2"),
        ({"indptr": (0, 1)}, "A.offsets: expected offsets that start at 0, got offsets[0]=1"),
        ({"indptr": (3, 9)}, "A.offsets: expected a last offset of at most 4, the length of A.indices, got offsets[3]=9"),
    ],
)  # fmt: skip
def test_the_entry_is_named(changes, said):
    wrong = matrix(**changes)
    for make in (ev.csr, ev.spmv, lambda A, x: row_sums(A, np.empty(3))):
        with pytest.raises(InputError) as caught:
            make(wrong) if make is ev.csr else make(wrong, np.ones(3))
        assert str(caught.value) == said


@ev.kernel
def row_sums(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))


def test_check_false_takes_arrays_at_their_word():
    assert ev.csr(matrix(indices=(2, 10**9)), check=False).num_atoms == 4


def test_a_bare_matrix_is_looked_at_once_and_by_what_looks_anew_again(monkeypatch):
    from evenly.layouts.csr import Csr

    looked = []
    monkeypatch.setattr(Csr, "validate", lambda self, name="A": looked.append(self))
    A, y = matrix(), np.empty(3)
    for _ in range(3):
        row_sums(A, y)
        row_sums(A, np.empty(3))
        ev.spmv(A, np.ones(3))
    assert len(looked) == 1
    row_sums(matrix(), y)
    row_sums.plan(A, y)
    ev.csr(A)
    assert len(looked) == 4
    A.indices = A.indices.copy()
    row_sums(A, y)
    assert len(looked) == 5


@pytest.mark.parametrize("target", ["cpu", "auto"])
def test_an_unsound_matrix_where_a_sound_one_lay_is_refused(target):
    offsets, columns, y = np.empty(4, np.int32), np.empty(4, np.int32), np.empty(3)
    run = row_sums.on(target)
    for _ in range(5):
        offsets[:], columns[:] = OFFSETS, COLUMNS
        for _ in range(3):  # the calls are remembered, natively from the second on
            A = matrix()
            A.indptr, A.indices = offsets[:], columns[:]  # views: new objects of the same memory
            run(A, y)
            run(A, y)
        columns[1], wrong = 10**9, matrix()
        wrong.indptr, wrong.indices = offsets[:], columns[:]
        del A
        gc.collect()
        with pytest.raises(InputError, match=r"A.indices: .* indices\[1\]=1000000000"):
            run(wrong, y)


def test_matrices_that_died_are_forgotten():
    from evenly.layouts.seen import _seen

    gc.collect()
    before = len(_seen)
    for _ in range(3):
        row_sums(matrix(), np.empty(3))
    gc.collect()
    assert len(_seen) == before


@pytest.mark.parametrize("target", ["cpu", "simt"])
def test_the_kernels_that_look_on_a_gpu_say_the_same(target):
    from evenly import targets
    from evenly.layouts import entries
    from evenly.runtime.entries import first_faults

    if targets.available()[target]:
        pytest.skip(targets.available()[target])
    for dtype in ("int32", "int64"):
        for given in (
            [],
            [0],
            [0, 2, 2, 5],
            [0, 3, 2, 5],
            [1, 3],
            [0, 1, 9],
            [0, -1, 5, 2],
            [-1, 7, 5],
        ):
            array = np.array(given, dtype)
            for low, high in ((0, 5), (-1, 6), (0, 2**62)):
                mine = entries._first_outside(array, low, high) if len(array) else None
                assert first_faults(None, array, None, low, high, target) == (None, mine)
            for last in (None, 5):
                if len(array):
                    mine = entries._first_unsound(array, last)
                    assert first_faults(array, None, last, 0, 0, target) == (mine, None)


def test_a_look_at_offsets_like_earlier_ones_is_not_prepared_again(monkeypatch):
    from evenly.runtime.bound import Bound
    from evenly.runtime.entries import first_faults

    prepared, prepare = [], Bound._prepare
    monkeypatch.setattr(Bound, "_prepare", lambda *args: prepared.append(1) or prepare(*args))
    for last in (7, 9, 9, 11):
        offsets = np.linspace(0, last, 6).astype(np.int64)
        assert first_faults(offsets, None, last, 0, 0, "cpu")[0] is None
        assert first_faults(offsets, None, last + 1, 0, 0, "cpu")[0] == 5
        assert first_faults(-offsets, None, last, 0, 0, "cpu")[0] == 1
    assert len(prepared) <= 1


@pytest.mark.parametrize("target", ["cpu", "simt"])
def test_one_look_at_offsets_and_indices_says_what_two_say(monkeypatch, target):
    from evenly import targets
    from evenly.layouts import entries
    from evenly.runtime.entries import first_faults

    if targets.available()[target]:
        pytest.skip(targets.available()[target])
    monkeypatch.setattr("evenly.runtime.entries.LEAST", 40)  # so that there are several parts
    rng = np.random.default_rng(7)
    for rows, size in ((1, 0), (3, 5), (67, 141)):
        sound = np.linspace(0, size, rows + 1).astype(np.int32)
        for wrong in (None, 0, rows // 2 + 1, rows):
            offsets, indices = sound.copy(), rng.integers(0, 9, size, dtype=np.int64)
            if wrong is not None:
                offsets[wrong] = -1
                indices[size - size // (wrong + 1) :] = 9
            expected = (
                entries._first_unsound(offsets, size),
                entries._first_outside(indices, 0, 9) if size else None,
            )
            assert first_faults(offsets, indices, size, 0, 9, target) == expected


class Elsewhere(np.ndarray):
    """An array that NumPy's quick checks do not take, as one on a GPU."""


def test_the_arrays_of_a_matrix_on_a_gpu_are_looked_at_at_once(monkeypatch):
    from evenly.layouts.entries import check_compressed
    from evenly.runtime import entries

    looked, look = [], entries.first_faults

    def first_faults(*args):
        looked.append(args)
        return look(*args, "cpu")

    monkeypatch.setattr(entries, "first_faults", first_faults)

    def check(offsets, indices):
        held = [np.array(x, np.int32).view(Elsewhere) for x in (offsets, indices)]
        check_compressed(SimpleNamespace(offsets=held[0], indices=held[1]), 2, "M", "columns")

    check([0, 2, 3], [0, 1, 0])
    with pytest.raises(ev.InputError, match=r"M.indices: .* columns in 0..1, got indices\[1\]=2"):
        check([0, 2, 3], [0, 2, 9])
    with pytest.raises(ev.InputError, match=r"M.offsets: .* at most 3, got offsets\[1\]=4"):
        check([0, 4, 3], [0, 2, 9])
    assert len(looked) == 3
