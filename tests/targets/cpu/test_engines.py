"""Both engines, and user-defined schedules, for 1, 2, 3 and 7 workers over nasty layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.batteries import layout_batteries
from tests.schedules import ranges
from tests.targets.cpu.programs import WORKERS, compiled, csr_of, run, tiles_of

import evenly as ev
from evenly.schedules.contract import Schedule

LAYOUTS = layout_batteries()


# ---- schedules that a user might write -------------------------------------------------------------
@ev.schedule
class Reversed:
    """Every n-th tile, from the last to the first: not the plain pattern that the engine knows."""

    owner = "thread"

    def launch(self, layout):
        return 1, 32

    def tiles(self, layout):
        return range(layout.num_tiles - 1 - ev.thread_index(), -1, 0 - ev.thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


@ev.schedule
class Blocked:
    """Each member of a group takes consecutive atoms."""

    size: int = 5
    owner = "group"

    def launch(self, layout):
        return 1, 32

    def setup(self, layout):
        g = ev.group(self.size)
        return layout, g.index, g.rank

    def tiles(self, state):
        return range(state[1], state[0].num_tiles, ev.group(self.size).count)

    def atoms(self, state, tile):
        layout, _, rank = state
        share = (layout.end(tile) - layout.begin(tile) + self.size - 1) // self.size
        start = min(layout.begin(tile) + rank * share, layout.end(tile))
        return range(start, min(start + share, layout.end(tile)))


SCHEDULES: dict[str, Any] = {
    "thread": ev.ThreadMapped(),
    "group": ev.GroupMapped(3),
    "reversed": Reversed(),
    "blocked": Blocked(),
    "merge": ev.MergePath(),
    "nonzero": ev.NonzeroSplit(),
    "work": ev.WorkOriented(),
    "flat": ev.GroupMapped(4, flatten=True),
    "handed out": ev.DynamicChunks(),
    "chunks": ranges.CyclicChunks(),
    "back in chunks": ranges.BackInChunks(),
    "runs of members": ranges.RunsOfMembers(),
    "even atoms": ranges.EvenAtoms(),
}


# ---- kernels -----------------------------------------------------------------------------------------
def sums(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def extremes(A, y, best, found):
    for row in A.tiles():
        y[row] = max((A.value(k) for k in A.atoms(row)), default=-100.0)
        best[row] = ev.argmin((A.value(k) for k in A.atoms(row)), default=-1)
        found[row] = any(A.value(k) == 3 for k in A.atoms(row))


def total(A, y, out):
    acc = 5.0
    rows = 0
    for row in A.tiles():
        s = sum(A.value(k) for k in A.atoms(row))
        y[row] = s
        acc += s * (row + 1)
        rows += 1
    out[0] = acc
    out[1] = rows


def visits(A, atoms, tiles):
    for row in A.tiles():
        tiles[row] += 1
        for k in A.atoms(row):
            ev.atomic_add(atoms, k, 1)


def products(A, X, Y):
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))


def check_sums(A, arguments: dict[str, Any]) -> None:
    for row, atoms in tiles_of(A):
        assert arguments["y"][row] == np.sum(A.values[atoms] * arguments["x"][A.indices[atoms]]), (
            row
        )


def check_extremes(A, arguments: dict[str, Any]) -> None:
    for row, atoms in tiles_of(A):
        v = A.values[atoms]
        assert arguments["y"][row] == (v.max() if v.size else -100)
        assert arguments["best"][row] == (atoms.start + v.argmin() if v.size else -1)
        assert arguments["found"][row] == bool((v == 3).any())


def check_total(A, arguments: dict[str, Any]) -> None:
    whole = 5.0
    for row, atoms in tiles_of(A):
        assert arguments["y"][row] == A.values[atoms].sum()
        whole += float(A.values[atoms].sum()) * (row + 1)
    assert arguments["out"].tolist() == [whole, A.num_tiles]


def check_visits(A, arguments: dict[str, Any]) -> None:
    np.testing.assert_array_equal(arguments["atoms"], 1)
    np.testing.assert_array_equal(arguments["tiles"], 1)


def check_products(A, arguments: dict[str, Any]) -> None:
    for row, atoms in tiles_of(A):
        expected = (A.values[atoms, None] * arguments["X"][A.indices[atoms]]).sum(axis=0)
        np.testing.assert_array_equal(arguments["Y"][row], expected)


def _x(n: int) -> np.ndarray:
    return (np.arange(n) % 7 - 3).astype(np.float32)


KERNELS: dict[str, Any] = {
    "sums": (
        sums,
        lambda A: {"A": A, "x": _x(50), "y": np.full(A.num_tiles, np.nan, np.float32)},
        check_sums,
    ),
    "extremes": (
        extremes,
        lambda A: {
            "A": A,
            "y": np.full(A.num_tiles, np.nan, np.float32),
            "best": np.full(A.num_tiles, -7, np.int32),
            "found": np.zeros(A.num_tiles, bool),
        },
        check_extremes,
    ),
    "total": (
        total,
        lambda A: {"A": A, "y": np.full(A.num_tiles, np.nan, np.float32), "out": np.zeros(2)},
        check_total,
    ),
    "visits": (
        visits,
        lambda A: {
            "A": A,
            "atoms": np.zeros(A.num_atoms, np.int32),
            "tiles": np.zeros(A.num_tiles, np.int64),
        },
        check_visits,
    ),
    "products": (
        products,
        lambda A: {
            "A": A,
            "X": _x(150).reshape(50, 3),
            "Y": np.full((A.num_tiles, 3), np.nan, np.float32),
        },
        check_products,
    ),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_layout_for_every_number_of_workers(kernel: str, schedule: str) -> None:
    function, arguments, check = KERNELS[kernel]
    executable = None
    for name, offsets in LAYOUTS.items():
        for workers in WORKERS:
            A = csr_of(offsets)
            given = arguments(A)
            executable = executable or compiled(function, given, SCHEDULES[schedule])
            run(executable, given, workers)
            try:
                check(A, given)
            except AssertionError as error:
                raise AssertionError(f"{name}, {workers} workers: {error}") from error


@pytest.mark.parametrize("schedule", ["thread", "merge", "nonzero", "work"])
def test_the_same_number_of_workers_gives_the_same_bits(schedule: str) -> None:
    A = csr_of(LAYOUTS["power law"])
    A.values[:] = np.random.default_rng(3).standard_normal(A.num_atoms)
    given = {"A": A, "y": np.zeros(A.num_tiles, np.float32), "out": np.zeros(2)}
    executable = compiled(total, given, SCHEDULES[schedule])
    for workers in WORKERS:
        seen = set()
        for _ in range(5):
            run(executable, given, workers)
            seen.add((given["y"].tobytes(), given["out"].tobytes()))
        assert len(seen) == 1, workers


def test_a_plain_pattern_becomes_consecutive_tiles() -> None:
    """Who walks which tile does not matter where each is walked once: then neighbours stay together."""
    A = csr_of(LAYOUTS["power law"])
    given = {"A": A, "x": _x(50), "y": np.zeros(A.num_tiles, np.float32)}
    texts = {
        name: compiled(sums, given, SCHEDULES[name]).source
        for name in ("thread", "group", "reversed", "blocked")
    }
    for line in (
        "piece_begin = first_tile",
        "while piece_begin < end_whole",
        "range(piece_begin, piece_end)",
    ):
        assert line in texts["thread"]
    assert texts["group"] == texts["thread"]
    assert "first_tile" not in texts["reversed"]
    assert "for member in range(leader, leader + 5)" in texts["blocked"]


def test_reductions_start_once_however_a_tile_is_cut() -> None:
    @ev.func
    def longer(a, b):
        return a if a[0] > b[0] or (a[0] == b[0] and a[1] <= b[1]) else b

    def longest(A, y, at):
        for row in A.tiles():
            best, where = ev.reduce(longer, ((A.value(k), k) for k in A.atoms(row)), (-9.0, -1))
            y[row] = best
            at[row] = where

    A = csr_of(LAYOUTS["long tiles side by side"])
    given = {"A": A, "y": np.zeros(A.num_tiles, np.float32), "at": np.zeros(A.num_tiles, np.int64)}
    executable = compiled(longest, given, ev.MergePath())
    for workers in WORKERS:
        run(executable, given, workers)
        for row, atoms in tiles_of(A):
            v = A.values[atoms]
            assert given["y"][row] == (v.max() if v.size else -9)
            assert given["at"][row] == (atoms.start + v.argmax() if v.size else -1)


def test_schedules_are_instances_of_the_contract() -> None:
    assert all(isinstance(s, Schedule) for s in SCHEDULES.values())
