"""Local arrays over random matrices: every operation and type, against NumPy and the reference; and their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from tests.kernels import ENGINES, SCHEDULES
from tests.test_properties import matrices

START = 3  # what elements hold before the loop: it enters once


def summing(n: int, kind: type) -> Any:
    @ev.kernel
    def kernel(A, x, y):
        for row in A.tiles():
            h = ev.local(n, kind)
            for b in range(n):
                h[b] = START
            for k in A.atoms(row):
                h[A.column(k) % n] += x[k]
            for b in range(n):
                y[row, b] = h[b]

    return kernel


def multiplying(n: int, kind: type) -> Any:
    @ev.kernel
    def kernel(A, x, y):
        for row in A.tiles():
            h = ev.local(n, kind)
            for b in range(n):
                h[b] = START
            for k in A.atoms(row):
                h[A.column(k) % n] *= x[k]
            for b in range(n):
                y[row, b] = h[b]

    return kernel


def least(n: int, kind: type) -> Any:
    @ev.kernel
    def kernel(A, x, y):
        for row in A.tiles():
            h = ev.local(n, kind)
            for b in range(n):
                h[b] = START
            for k in A.atoms(row):
                h[A.column(k) % n] = min(h[A.column(k) % n], x[k])
            for b in range(n):
                y[row, b] = h[b]

    return kernel


def greatest(n: int, kind: type) -> Any:
    @ev.kernel
    def kernel(A, x, y):
        for row in A.tiles():
            h = ev.local(n, kind)
            for b in range(n):
                h[b] = START
            for k in A.atoms(row):
                h[A.column(k) % n] = max(x[k], h[A.column(k) % n])
            for b in range(n):
                y[row, b] = h[b]

    return kernel


def toggling(n: int, kind: type) -> Any:
    @ev.kernel
    def kernel(A, x, y):
        for row in A.tiles():
            h = ev.local(n, kind)
            for b in range(n):
                h[b] = START
            for k in A.atoms(row):
                h[A.column(k) % n] ^= x[k]
            for b in range(n):
                y[row, b] = h[b]

    return kernel


# The kernel, NumPy's function, the length and the type. Arrays of more than 64 bytes are for owners of whole tiles.
KINDS = [
    (summing, np.add, 8, np.float64),
    (summing, np.add, 5, np.int32),
    (summing, np.add, 3, np.complex64),
    (summing, np.add, 100, np.int64),
    (multiplying, np.multiply, 2, np.int32),
    (multiplying, np.multiply, 40, np.float32),
    (least, np.minimum, 1, np.float32),
    (least, np.minimum, 30, np.int32),
    (greatest, np.maximum, 6, np.int64),
    (toggling, np.bitwise_xor, 4, np.int32),
    (toggling, np.bitwise_xor, 20, np.int64),
]
MADE = [(make(n, kind), function, n, kind) for make, function, n, kind in KINDS]
SPLIT = ("work", "merge", "nonzero", "flat 64")
OWNED = ("thread", "group 3", "group 48", "dynamic", "lrb")


def by_numpy(A: Any, x: np.ndarray, function: Any, n: int, kind: type) -> np.ndarray:
    y = np.full((A.num_tiles, n), START, kind)
    rows = np.repeat(np.arange(A.num_tiles), np.diff(A.offsets))
    with np.errstate(all="ignore"):
        function.at(y, (rows, A.indices % n), x)
    return y


def agrees(matrix: sp.csr_array, number: int, choice: int, target: str, **options: Any) -> None:
    kernel, function, n, kind = MADE[number]
    owned = n * np.dtype(kind).itemsize > 64
    names = OWNED if owned else (*SPLIT, *OWNED)
    A = ev.csr(matrix)
    # Small integers, whose sums and products of a few are exact in every type.
    x = (matrix.data if function is not np.multiply else np.sign(matrix.data) * 2).astype(kind)
    x = np.where(x == 0, 1, x).astype(kind) if function is np.multiply else x
    y = np.zeros((A.num_tiles, n), kind)
    kernel[SCHEDULES[names[choice % len(names)]]].on(target, **options)(A, x, y)
    np.testing.assert_array_equal(y, by_numpy(A, x, function, n, kind))
    if A.num_atoms < 300:
        reference = np.zeros_like(y)
        kernel.on("python")(A, x, reference)
        np.testing.assert_array_equal(y, reference)


ANYTHING = {
    "matrix": matrices(),
    "number": st.integers(0, len(KINDS) - 1),
    "choice": st.integers(0, 1000),
}


@given(**ANYTHING)
def test_any_matrix(matrix: sp.csr_array, number: int, choice: int) -> None:
    agrees(matrix, number, choice, "cpu")


@pytest.mark.simt
@settings(max_examples=15)  # most of them compile
@given(**ANYTHING, seed=st.integers(0, 2**40))
def test_any_matrix_and_any_order_of_threads(
    matrix: sp.csr_array, number: int, choice: int, seed: int
) -> None:
    agrees(matrix, number, choice, "simt", seed=seed)


# ---- bits --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("schedule", [ev.GroupMapped(8), ev.MergePath(block=64)], ids=str)
def test_sums_of_floats_have_the_same_bits_on_every_run(schedule: Any, target: str) -> None:
    rng = np.random.default_rng(5)
    A = ev.csr(sp.random_array((40, 300), density=0.5, rng=rng, dtype=np.float32).tocsr())
    x, y = rng.standard_normal(A.num_atoms), np.zeros((40, 8))
    for seed in range(3):
        again = np.zeros_like(y)
        options = {"seed": seed} if target == "simt" else {}
        MADE[0][0][schedule].on(target, **options)(A, x, again)
        assert seed == 0 or again.tobytes() == y.tobytes()
        y = again
    np.testing.assert_allclose(y, by_numpy(A, x, np.add, 8, np.float64), rtol=1e-12)


# ---- beside scans ------------------------------------------------------------------------------------
@ev.kernel
def ranked(A, places, counts, sums):
    """An index that is a scan's result, and a scan of what an array holds."""
    for row in A.tiles():
        h = ev.local(2, np.int32)
        for k in A.atoms(row):
            place = ev.rank(A.value(k) > 0)
            places[k] = place
            h[place % 2] += A.column(k)
        for b in range(2):
            counts[row, b] = h[b]
        for k in A.atoms(row):
            sums[k] = ev.scan(h[A.column(k) % 2] + 1)


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_an_array_and_scans_in_one_pass(schedule: Any, target: str) -> None:
    rng = np.random.default_rng(1)
    A = ev.csr(sp.random_array((40, 300), density=0.2, rng=rng, dtype=np.float32).tocsr())
    A.values[rng.random(A.num_atoms) < 0.4] *= -1
    got, expected = (
        (np.zeros(A.num_atoms, np.int32), np.zeros((40, 2), np.int32), np.zeros(A.num_atoms, int))
        for _ in range(2)
    )
    ranked[schedule].on(target)(A, *got)
    ranked.on("python")(A, *expected)
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_array_equal(x, y)


# ---- bounds ------------------------------------------------------------------------------------------
def matrix_of(columns: list[int]) -> Any:
    offsets = np.array([0, 2, 2, 5], np.int32)
    return ev.csr((np.ones(5, np.float32), np.array(columns, np.int32), offsets), shape=(3, 4))


@ev.kernel
def reads(A, y):
    for row in A.tiles():
        h = ev.local(2, np.int32)
        y[row] = h[row]  # reads


@ev.kernel
def stores(A, y):
    for row in A.tiles():
        h = ev.local(2, np.int32)
        h[row - 1] = 3  # stores
        y[row] = h[0]


@ev.kernel
def accumulates(A, y):
    for row in A.tiles():
        h = ev.local(3, np.int32)
        for k in A.atoms(row):
            h[A.column(k)] += 1  # accumulates
        y[row] = h[0]


WRONG = [(reads, "2", "0..1", "0 to 1"), (stores, "-1", "0..1", "0 to 1"), (accumulates, "3", "0..2", "0 to 2")]  # fmt: skip
BEYOND = pytest.mark.parametrize(("kernel", "index", "range_", "words"), WRONG)


@BEYOND
def test_the_reference_refuses_an_index_out_of_bounds(
    kernel: Any, index: str, range_: str, words: str
) -> None:
    with pytest.raises(IndexError) as caught:
        kernel.on("python")(matrix_of([0, 1, 2, 3, 0]), np.zeros(3, np.int32))
    said = f"the local array: expected an index in {range_}, got {index}"
    assert str(caught.value).endswith(f"in {kernel.name}: {said}")


@BEYOND
@pytest.mark.parametrize("schedule", [ev.ThreadMapped(), ev.MergePath()], ids=str)
def test_debug_mode_refuses_an_index_out_of_bounds(
    kernel: Any, index: str, range_: str, words: str, schedule: Any
) -> None:
    bound = kernel[schedule].on("cpu", debug=True)
    with pytest.raises(ev.InputError) as caught:
        bound(matrix_of([0, 1, 2, 3, 0]), np.zeros(3, np.int32))
    assert str(caught.value).endswith(f"h: expected an index from {words}, got h[{index}]")


@pytest.mark.simt
@BEYOND
@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_simt_refuses_an_index_out_of_bounds(
    kernel: Any, index: str, range_: str, words: str, schedule: Any
) -> None:
    with pytest.raises(ev.SimtError) as caught:
        kernel[schedule].on("simt")(matrix_of([0, 1, 2, 3, 0]), np.zeros(3, np.int32))
    assert caught.value.kind == "bounds"
    assert f"index {index} of a local array is out of bounds" in str(caught.value)
    assert caught.value.locations[0].text.rstrip().endswith(f"# {kernel.name}")


# ---- sizes -------------------------------------------------------------------------------------------
def test_auto_takes_a_schedule_that_can_carry_it() -> None:
    kernel, function, n, kind = MADE[3]
    A = matrix_of([0, 1, 2, 3, 0])
    x, y = np.arange(5), np.zeros((3, n), kind)
    assert kernel.plan(A, x, y, target="cpu").schedule.owns_tiles
    kernel(A, x, y)
    np.testing.assert_array_equal(y, by_numpy(A, x, function, n, kind))


def test_a_schedule_that_splits_tiles_refuses_a_large_one() -> None:
    A, x = matrix_of([0, 1, 2, 3, 0]), np.arange(5)
    with pytest.raises(ev.KernelError) as caught:
        MADE[3][0]["merge_path"].on("cpu")(A, x, np.zeros((3, 100), np.int64))
    assert "a local array of 800 bytes, under a schedule that splits tiles" in str(caught.value)
    assert "hint: at most 64; use a schedule that owns whole tiles, as ThreadMapped" in str(
        caught.value
    )
