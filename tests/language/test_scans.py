"""Scans over the atoms of a tile (ev.scan, ev.rank) on every target, under every schedule, against NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from tests.batteries import layout_batteries, vector
from tests.kernels import SCHEDULES

BATTERY = layout_batteries()
# Few atoms a block, so that blocks look back over groups of blocks, and groups of groups.
SMALL = {
    "nonzero 32": ev.NonzeroSplit(block=32, items=1),
    "merge 32": ev.MergePath(block=32, items=1),
    "work 32": ev.WorkOriented(block=32, items=1),
}


@ev.func
def shifted(a, b):
    """Composition of x -> m x + c: associative, not commutative. Integers wrap, so that it is exact."""
    return a[0] * b[0], a[1] * b[0] + b[1]


@ev.kernel
def all_kinds(A, x, inclusive, exclusive, started, ranks, slopes, constants):
    for tile in A.tiles():
        for k in A.atoms(tile):
            v = x[k]
            inclusive[k] = ev.scan(v)
            exclusive[k] = ev.scan(v, exclusive=True)
            started[k] = ev.scan(v, start=tile)
            ranks[k] = ev.rank(v > 1)
            m, c = ev.scan((v, v + 1), shifted, (np.int64(1), np.int64(0)))
            slopes[k] = m
            constants[k] = c


def by_numpy(offsets: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    found: list[list[Any]] = [[], [], [], [], [], []]
    for tile, (begin, end) in enumerate(itertools.pairwise(offsets)):
        own = x[begin:end]
        sums = np.cumsum(own)
        m, c = np.int64(1), np.int64(0)
        for i, v in enumerate(own):
            m, c = m * v, c * v + (v + 1)
            row = (sums[i], sums[i] - v, sums[i] + tile, (own[:i] > 1).sum(), m, c)
            for into, value in zip(found, row, strict=True):
                into.append(value)
    return tuple(np.array(f, np.int64) for f in found)


def agree(offsets: np.ndarray, schedule: Any, target: str, **options: Any) -> None:
    A = ev.ragged(offsets)
    x = vector(int(offsets[-1]), np.int64, 5)
    results = [np.full(len(x), -77, np.int64) for _ in range(6)]
    with np.errstate(over="ignore"):
        expected = by_numpy(offsets, x)
    all_kinds[schedule].on(target, **options)(A, x, *results)
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", BATTERY)
def test_the_reference_scans_as_numpy_does(name: str) -> None:
    agree(BATTERY[name], "auto", "python")


@pytest.mark.parametrize("schedule", [*SCHEDULES, *SMALL])
def test_cpu_scans_as_numpy_does(schedule: str) -> None:
    for offsets in BATTERY.values():
        agree(offsets, (SCHEDULES | SMALL)[schedule], "cpu")


@pytest.mark.simt
@pytest.mark.parametrize("schedule", [*SCHEDULES, *SMALL])
def test_simt_scans_as_numpy_does(schedule: str) -> None:
    for seed, offsets in enumerate(BATTERY.values()):
        if offsets[-1] <= 4000 or schedule == "nonzero 32":
            agree(offsets, (SCHEDULES | SMALL)[schedule], "simt", seed=seed)


@pytest.mark.simt
@pytest.mark.parametrize("schedule", SMALL)
def test_blocks_look_back_over_more_than_a_thousand_blocks(schedule: str) -> None:
    agree(np.array([0, 5, 36_000, 36_000, 36_007, 38_000]), SMALL[schedule], "simt")


SIZES = st.lists(st.one_of(st.integers(0, 5), st.just(0), st.integers(20, 200)), max_size=40)


@given(sizes=SIZES, schedule=st.sampled_from(sorted(SCHEDULES)))
def test_any_lengths(sizes: list[int], schedule: str) -> None:
    agree(_offsets(sizes), SCHEDULES[schedule], "cpu")


@pytest.mark.simt
@settings(max_examples=15)
@given(
    sizes=SIZES,
    schedule=st.sampled_from(sorted(SCHEDULES | SMALL)),
    seed=st.integers(0, 2**40),
)
def test_any_lengths_and_any_order_of_threads(sizes: list[int], schedule: str, seed: int) -> None:
    agree(_offsets(sizes), (SCHEDULES | SMALL)[schedule], "simt", seed=seed)


def _offsets(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))])


# ---- with other parts of the language --------------------------------------------------------------
EACH = [
    ("python", "auto"),
    ("cpu", ev.ThreadMapped()),
    ("cpu", ev.MergePath()),
    *(
        pytest.param("simt", s, marks=pytest.mark.simt)
        for s in (ev.ThreadMapped(), ev.GroupMapped(8), ev.NonzeroSplit(), SMALL["merge 32"])
    ),
]
each = pytest.mark.parametrize(("target", "schedule"), EACH)
OFFSETS = np.array([0, 3, 3, 50, 51, 240, 240])


def stored(kernel: Callable[..., Any], target: str, schedule: Any, *arguments: Any) -> None:
    kernel[schedule].on(target)(*arguments)


@ev.kernel
def along_lanes(A, X, Y):
    for tile in A.tiles():
        for j in ev.lanes(X.shape[1]):
            for k in A.atoms(tile):
                Y[k, j] = ev.scan(X[k, j])


@each
def test_each_lane_of_a_dense_axis_has_its_own_scan(target: str, schedule: Any) -> None:
    X = vector(3 * 240, np.int64).reshape(240, 3)
    Y = np.zeros_like(X)
    stored(along_lanes, target, schedule, ev.ragged(OFFSETS), X, Y)
    wanted = [np.cumsum(X[a:b], axis=0) for a, b in itertools.pairwise(OFFSETS)]
    np.testing.assert_array_equal(Y, np.concatenate(wanted))


@ev.kernel
def greatest_sum(A, x, y):
    for tile in A.tiles():
        y[tile] = max((ev.scan(x[k]) for k in A.atoms(tile)), default=-1)


@each
def test_a_reduction_of_a_scan(target: str, schedule: Any) -> None:
    x, y = vector(240, np.int64), np.zeros(6, np.int64)
    stored(greatest_sum, target, schedule, ev.ragged(OFFSETS), x, y)
    tiles = [x[a:b] for a, b in itertools.pairwise(OFFSETS)]
    assert y.tolist() == [max(np.cumsum(t), default=-1) for t in tiles]


@ev.kernel
def some_tiles(S, x, y):
    for tile in S.tiles():
        if tile != 2:
            for k in S.atoms(tile):
                y[k] = ev.scan(x[k])


@each
def test_a_subset_and_a_pass_under_a_condition(target: str, schedule: Any) -> None:
    x, y = vector(240, np.int64), np.full(240, -9, np.int64)
    chosen = np.array([4, 2, 0], np.int32)
    stored(some_tiles, target, schedule, ev.subset(ev.ragged(OFFSETS), chosen), x, y)
    wanted = np.full(240, -9, np.int64)
    for tile in (4, 0):
        a, b = OFFSETS[tile : tile + 2]
        wanted[a:b] = np.cumsum(x[a:b])
    np.testing.assert_array_equal(y, wanted)


@ev.kernel
def of_floats(A, x, y):
    for tile in A.tiles():
        for k in A.atoms(tile):
            y[k] = ev.scan(x[k], exclusive=True)


@each
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.float16])
def test_types(target: str, schedule: Any, dtype: Any) -> None:
    x = vector(240, dtype)
    y = np.full(240, np.nan, dtype)
    stored(of_floats, target, schedule, ev.ragged(OFFSETS), x, y)
    wanted = [
        np.cumsum(x[a:b], dtype=np.complex128) - x[a:b] for a, b in itertools.pairwise(OFFSETS)
    ]
    np.testing.assert_array_equal(y.astype(np.complex128), np.concatenate(wanted))


def test_an_exclusive_sum_starts_at_plus_zero() -> None:
    y = np.full(1, np.nan)
    for target, schedule in (("python", "auto"), ("cpu", "auto"), ("simt", ev.NonzeroSplit())):
        stored(of_floats, target, schedule, ev.ragged(np.array([0, 1])), np.array([-0.0]), y)
        assert y[0] == 0 and not np.signbit(y[0])


@ev.schedule
class Backwards:
    """Takes the tiles and their atoms from the last one on."""

    owner = "thread"

    def launch(self, layout: Any) -> tuple[int, int]:
        return 1, 32

    def tiles(self, layout: Any) -> range:
        return range(layout.num_tiles - 1 - ev.thread_index(), -1, -ev.thread_count())

    def atoms(self, layout: Any, tile: Any) -> range:
        return range(layout.end(tile) - 1, layout.begin(tile) - 1, -1)


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_atoms_are_scanned_in_order_whatever_the_schedules_order_is(target: str) -> None:
    agree(OFFSETS, Backwards(), target)


@pytest.mark.simt
@pytest.mark.parametrize("schedule", [ev.NonzeroSplit(block=32, items=2), ev.GroupMapped(8)])
def test_bits_do_not_depend_on_the_order_of_threads(schedule: Any) -> None:
    offsets = np.array([0, 10, 5000, 5003])
    x = np.random.default_rng(0).standard_normal(5003).astype(np.float32)
    found = set()
    for seed in range(4):
        y = np.zeros_like(x)
        of_floats[schedule].on("simt", seed=seed)(ev.ragged(offsets), x, y)
        found.add(y.tobytes())
    assert len(found) == 1


@ev.kernel
def scans_with_gaps(A, x, narrow, out):
    for tile in A.tiles():
        for k in A.atoms(tile):
            out[k, 0] = ev.scan(x[k])
            out[k, 1] = ev.scan(narrow[k])


@pytest.mark.simt
@pytest.mark.parametrize("types", [(np.int16, np.uint8), (np.int64, np.int32)])
@pytest.mark.parametrize("schedule", SMALL)
def test_simt_takes_running_values_with_gaps_between_them(schedule: str, types: Any) -> None:
    offsets = np.int32([0, 40, 40, 300])
    x, narrow = (np.arange(300).astype(t) for t in types)
    found = [np.zeros((300, 2), np.int64) for _ in range(2)]
    scans_with_gaps[SMALL[schedule]].on("simt")(ev.ragged(offsets), x, narrow, found[0])
    scans_with_gaps.on("python")(ev.ragged(offsets), x, narrow, found[1])
    np.testing.assert_array_equal(*found)
