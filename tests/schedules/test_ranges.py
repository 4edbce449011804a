"""Schedules whose methods give ranges of any kind, or several: chunks, strides, downwards, loops without end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from tests.batteries import matrices
from tests.covering import one_in
from tests.kernels import halved

from .proving import (
    COMPILED,
    FAST,
    FEW,
    LENGTHS,
    gives_what_the_reference_gives,
    is_right_on_a_gpu,
    lengths,
    nvrtc_compiles,
    takes_all_once,
)
from .ranges import SCHEDULES, BackInChunks, ChunksOfGroups, CyclicChunks, EvenAtoms, OfThreads


@pytest.mark.parametrize("target", FAST)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_atom_once_each_tile_once(schedule: str, target: str) -> None:
    takes_all_once(SCHEDULES[schedule], target)


@pytest.mark.parametrize("target", FAST)
@pytest.mark.parametrize("kernel", FEW)
@pytest.mark.parametrize(
    "schedule", ["cyclic chunks", "back in chunks", "runs of members", "even atoms"]
)
def test_kernels_give_what_the_reference_gives(schedule: str, kernel: str, target: str) -> None:
    names = ("power law", "empty at the end", "duplicates", "nothing (0 x 0)")
    gives_what_the_reference_gives(SCHEDULES[schedule], kernel, target, names)


@pytest.mark.parametrize("target", FAST)
@pytest.mark.parametrize("schedule", ["cyclic chunks", "one by one", "runs of members of 64"])
def test_passes_in_loops_that_tiles_leave_at_different_times(schedule: str, target: str) -> None:
    matrix = matrices(np.float32)["power law"]
    y, expected = (np.zeros(matrix.shape[0], np.float32) for _ in range(2))
    halved[SCHEDULES[schedule]].on(target)(ev.csr(matrix), y)
    halved.on("python")(ev.csr(matrix), expected)
    np.testing.assert_allclose(y, expected, rtol=1e-5)


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), max_size=60),
    chunk=st.sampled_from((1, 2, 7, 1000)),
    kind=st.sampled_from((CyclicChunks, BackInChunks, ChunksOfGroups)),
)
def test_chunks_of_any_size(sizes: list[int], chunk: int, kind: Any) -> None:
    A = ev.ragged(np.cumsum([0, *sizes]))
    schedule = kind(chunk=chunk, run=1) if kind is ChunksOfGroups else kind(chunk=chunk)
    y = np.full(len(sizes), -1)
    ev.verify(schedule, A)
    lengths[schedule].on("cpu")(A, y)
    np.testing.assert_array_equal(y, sizes)


def test_a_partition_has_what_a_method_yields() -> None:
    parts = CyclicChunks(2).partition(ev.ragged(np.arange(8)), 3)
    assert [parts.tiles(p) for p in range(3)] == [(0, 1, 6), (2, 3), (4, 5)]
    assert parts.atoms(2, 5) == range(5, 6)
    assert parts.work().tolist() == [3, 2, 2]
    y = np.zeros(8, np.int64)
    assert "CyclicChunks" in str(
        lengths.plan(ev.ragged(np.arange(9)), y, schedule=CyclicChunks(2)).profile()
    )


# ---- a thread that looks for work far beyond all tiles ------------------------------------------------
@ev.schedule
class FarBeyond(OfThreads):
    """Its strides are larger than a position of 32 bits holds."""

    far: int = 2**30
    block: int = 64
    owner = "thread"

    def tiles(self, layout):
        first = ev.thread_index() * self.far * 8
        while first < layout.num_tiles * self.far:
            yield from range(first, first + 1 if first < layout.num_tiles else first)
            if ev.thread_index() == 0:
                for tile in range(1, layout.num_tiles, self.far * 4):
                    first = tile
            first += ev.thread_count() * self.far * 8


@ev.schedule
class StepsFarBeyond(OfThreads):
    """Only the first thread walks, and its last step leads beyond 32 bits."""

    block: int = 64
    owner = "thread"

    def tiles(self, layout):
        step = 1 + 2**31 * min(ev.thread_index(), 1)
        yield from range(ev.thread_index() * 2**31, layout.num_tiles, step)


@pytest.mark.parametrize("target", FAST)
@pytest.mark.parametrize("schedule", [FarBeyond(), StepsFarBeyond()], ids=str)
def test_arithmetic_of_generators_has_64_bits(schedule: Any, target: str) -> None:
    A, y = ev.ragged(np.array([0, 3])), np.zeros(1, np.int64)
    ev.verify(schedule, A, target=target)
    lengths[schedule].on(target)(A, y)
    assert y.tolist() == [3]


# ---- schedules that are wrong -----------------------------------------------------------------------
@ev.schedule
class Endless(OfThreads):
    """Wrong: its loop goes on after the last tile."""

    block: int = 64
    owner = "thread"

    def tiles(self, layout):
        tile = ev.thread_index()
        while True:
            yield tile
            tile += ev.thread_count()


@ev.schedule
class EndlessAtoms(Endless):
    def tiles(self, layout):
        return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

    def atoms(self, layout, tile):
        while True:
            yield from range(layout.begin(tile), layout.end(tile))


@ev.schedule
class Overlaps(CyclicChunks):
    """Wrong: each chunk has a tile of the next one."""

    def tiles(self, layout):
        for first in range(
            ev.thread_index() * self.chunk, layout.num_tiles, ev.thread_count() * self.chunk
        ):
            yield from range(first, min(first + self.chunk + 1, layout.num_tiles))


@ev.schedule
class LeavesAGap(CyclicChunks):
    """Wrong: it takes the first tile of each chunk only."""

    def tiles(self, layout):
        start, step = ev.thread_index() * self.chunk, ev.thread_count() * self.chunk
        yield from range(start, layout.num_tiles, step)


@ev.schedule
class BeyondInTheMiddle(CyclicChunks):
    """Wrong: only a tile in the middle of its walk is beyond the last one."""

    def tiles(self, layout):
        for i in range(2):
            yield 7 * i if ev.thread_index() == 0 else 0


@ev.schedule
class SharesDown(EvenAtoms):
    def tiles(self, state):
        tile = state[0].num_tiles
        while tile > 0:
            tile -= 1
            yield tile


@ev.schedule
class MembersDiffer(ChunksOfGroups):
    def tiles(self, layout):
        for tile in range(layout.num_tiles):
            if tile % ev.group(self.size).size == ev.group(self.size).rank:
                yield tile


@pytest.mark.parametrize(
    ("schedule", "error", "message"),
    [
        (Endless(), ev.InputError, "Endless.tiles: expected each of the tiles at most once, 3, got more"),
        (
            EndlessAtoms(),
            ev.InputError,
            "EndlessAtoms.atoms: expected each of the atoms of tile 0 at most once, 5, got more",
        ),
        (Overlaps(1), ev.VerificationError, "tile 1 is left 2 times by 2 processors|at most once, 3, got more"),
        (LeavesAGap(2), ev.VerificationError, "atom 5 is never visited by 1 processor"),
        (
            BeyondInTheMiddle(),
            ev.VerificationError,
            "processor 0 of 1 walks tile 7, and there are 3",
        ),
        (
            SharesDown(),
            ev.VerificationError,
            r"takes tiles \(2, 1, 0\): where tiles are shared, they ascend",
        ),
        (MembersDiffer(run=1), ev.VerificationError, "the members of group 0 of 1 see different tiles"),
    ],
)  # fmt: skip
def test_wrong_schedules_are_found(schedule: Any, error: Any, message: str) -> None:
    with pytest.raises((error, ev.InputError), match=message):
        ev.verify(schedule, LENGTHS)


# ---- what is refused ---------------------------------------------------------------------------------
@ev.schedule
class TwoYields(CyclicChunks):
    def tiles(self, layout):
        yield from range(ev.thread_index(), layout.num_tiles, ev.thread_count())
        yield 0


@ev.schedule
class ReturnsToo(CyclicChunks):
    def tiles(self, layout):
        yield from range(ev.thread_index(), layout.num_tiles, ev.thread_count())
        return layout.num_tiles


@ev.schedule
class YieldsAFloat(CyclicChunks):
    def tiles(self, layout):
        yield 0.5


@ev.schedule
class YieldsFromANumber(CyclicChunks):
    def tiles(self, layout):
        yield from layout.num_tiles


@ev.func
def yields(n):
    yield n


@ev.schedule
class YieldsInAFunction(CyclicChunks):
    def tiles(self, layout):
        n = yields(layout.num_tiles)
        yield from range(n)


@ev.schedule
class YieldsInSetup(CyclicChunks):
    def setup(self, layout):
        yield layout


@ev.schedule
class SharesAtoms(EvenAtoms):
    def atoms(self, state, tile):
        layout, start, stop, _ = state
        yield from range(max(layout.begin(tile), start), min(layout.end(tile), stop))


@ev.schedule
class SharesWithASTep(EvenAtoms):
    def tiles(self, state):
        yield from range(0, state[0].num_tiles, 2)


NOT = "yield is not part of the kernel language"


@pytest.mark.parametrize("target", ["cpu", "simt"])
@pytest.mark.parametrize(
    ("schedule", "message", "hint"),
    [
        (TwoYields(), "a second yield in TwoYields.tiles", "yield in one place, in a loop"),
        (ReturnsToo(), "ReturnsToo.tiles yields, and returns a number", "leave loops with break"),
        (YieldsAFloat(), "yield of a number (float)", "a tile or an atom is an integer"),
        (YieldsFromANumber(), "yield from a number", "yield from range(start, stop)"),
        (YieldsInAFunction(), NOT, "store results into an output array"),
        (YieldsInSetup(), NOT, "store results into an output array"),
        (SharesAtoms(), "SharesAtoms.atoms yields its atoms", "are one range: return it"),
        (
            SharesWithASTep(),
            "SharesWithASTep.tiles gives a range with a step",
            "tiles and atoms ascend one by one",
        ),
    ],
)
def test_what_is_refused(schedule: Any, message: str, hint: str, target: str) -> None:
    with pytest.raises(ev.KernelError) as caught:
        lengths[schedule].on(target)(LENGTHS, np.zeros(3, np.int64))
    assert message in str(caught.value)
    assert hint in str(caught.value)
    assert "test_ranges.py" in str(caught.value)


# ---- a step of zero --------------------------------------------------------------------------------
@ev.schedule
class StepOfZero(OfThreads):
    """Wrong for fewer than 128 threads: its step is then zero."""

    block: int = 64
    owner = "thread"

    def tiles(self, layout):
        return range(ev.thread_index() // 128, layout.num_tiles, ev.thread_count() // 128)


@ev.schedule
class AtomsOfStepZero(StepOfZero):
    def tiles(self, layout):
        return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile), ev.thread_count() // 128)


@ev.schedule
class YieldsWithStepZero(StepOfZero):
    def tiles(self, layout):
        yield from range(ev.thread_index() // 128, layout.num_tiles, ev.thread_count() // 128)


@pytest.mark.parametrize("kind", [StepOfZero, AtomsOfStepZero, YieldsWithStepZero])
def test_a_step_of_zero_is_an_error_where_code_is_checked_and_else_an_empty_range(
    kind: Any,
) -> None:
    y = np.full(3, -1)
    with pytest.raises(ev.VerificationError, match=r"raises ValueError for .* must not be zero"):
        ev.verify(kind(), LENGTHS)
    lengths[kind()].on("cpu")(LENGTHS, y)
    assert y.tolist() == ([0, 0, 0] if kind is AtomsOfStepZero else [-1, -1, -1])
    with pytest.raises(
        ev.InputError, match=r"ranges.py:\d+: range: expected a step that is not zero"
    ):
        lengths[kind()].on("cpu", debug=True)(LENGTHS, y)


@pytest.mark.simt
@pytest.mark.parametrize("kind", [StepOfZero, AtomsOfStepZero, YieldsWithStepZero])
def test_the_emulator_reports_a_step_of_zero(kind: Any) -> None:
    with pytest.raises(ev.SimtError, match="the step of a range is not zero: expected it to hold"):
        lengths[kind()].on("simt")(LENGTHS, np.zeros(3, np.int64))


# ---- on a GPU --------------------------------------------------------------------------------------
@pytest.mark.parametrize(("kernel", "schedule"), one_in(3, COMPILED, SCHEDULES))
def test_nvrtc_compiles(kernel: str, schedule: str) -> None:
    nvrtc_compiles(SCHEDULES[schedule], kernel)


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_on_a_gpu(schedule: str) -> None:
    is_right_on_a_gpu(SCHEDULES[schedule])
