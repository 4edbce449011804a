"""Groups that exchange numbers in setup: sums, prefix sums, broadcasts and gathers, on every target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from tests.batteries import layout_batteries, matrices
from tests.covering import one_in

from .exchanges import SCHEDULES, AtomsByScan, DealtByScan, SharesOfGroups
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
from .ranges import SCHEDULES as SEVERAL


@pytest.mark.parametrize("target", FAST)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_atom_once_each_tile_once(schedule: str, target: str) -> None:
    takes_all_once(SCHEDULES[schedule], target)


@pytest.mark.parametrize("target", FAST)
@pytest.mark.parametrize("kernel", FEW)
@pytest.mark.parametrize("schedule", ["shares of groups", "dealt by scan, 48", "atoms by scan, 40"])
def test_kernels_give_what_the_reference_gives(schedule: str, kernel: str, target: str) -> None:
    names = ("power law", "empty at the end", "nothing (0 x 0)")
    gives_what_the_reference_gives(SCHEDULES[schedule], kernel, target, names)


@ev.kernel
def through(A, before, total):
    for tile in A.tiles():
        count = 0
        for k in A.atoms(tile):
            before[k] = ev.scan(A.value(k), exclusive=True)
            count += 1
        total[tile] = count


@pytest.mark.parametrize("target", FAST)
@pytest.mark.parametrize("schedule", [*SCHEDULES, *SEVERAL])
def test_scans_of_atoms_too(schedule: str, target: str) -> None:
    """A kernel's own scans, whose setups run once though their phases look at the atoms twice."""
    matrix = matrices(np.float64)["power law"]
    before, total = np.full(matrix.nnz, -1.0), np.full(matrix.shape[0], -1)
    own = {**SCHEDULES, **SEVERAL}[schedule]
    through[own].on(target)(ev.csr(matrix), before, total)
    sums = np.concatenate([[0], np.cumsum(matrix.data)])
    lengths = np.diff(matrix.indptr)
    np.testing.assert_array_equal(total, lengths)
    np.testing.assert_array_equal(before, sums[:-1] - np.repeat(sums[matrix.indptr[:-1]], lengths))


@settings(max_examples=25, deadline=None)
@given(sizes=st.lists(st.integers(0, 40), max_size=90), kind=st.sampled_from(list(SCHEDULES)))
def test_any_lengths(sizes: list[int], kind: str) -> None:
    A, y = ev.ragged(np.cumsum([0, *sizes])), np.full(len(sizes), -1)
    lengths[SCHEDULES[kind]].on("cpu")(A, y)
    np.testing.assert_array_equal(y, sizes)


# ---- what they mean ----------------------------------------------------------------------------------
@ev.schedule
class Tells:
    """Its state is what a thread of a group is told."""

    size: int = 4
    block: int = 64
    owner = "thread"

    def launch(self, layout):
        return 1, self.block

    def setup(self, layout):
        g = ev.group(self.size)
        mine = layout.end(ev.thread_index()) - layout.begin(ev.thread_index())
        told = g.sum(mine), g.scan(mine), g.scan(mine, exclusive=True)
        last = g.broadcast(mine, self.size - 1)
        return layout, told, last, g.broadcast(told[1], (g.rank + 1) % self.size), g.gather(told[1])

    def tiles(self, state):
        return range(0)

    def atoms(self, state, tile):
        return range(0)


@given(
    sizes=st.lists(st.integers(0, 99), min_size=12, max_size=12),
    size=st.sampled_from((1, 3, 4, 12)),
)
def test_in_plain_python(sizes: list[int], size: int) -> None:
    parts = Tells(size).partition(ev.ragged(np.cumsum([0, *sizes])), 12)
    for thread in range(12):
        first, rank = thread // size * size, thread % size
        group = sizes[first : first + size]
        through = np.cumsum(group).tolist()
        _, told, last, next_one, gathered = parts.state(thread)
        assert told == (sum(group), through[rank], through[rank] - group[rank])
        assert (last, next_one) == (group[-1], through[(rank + 1) % size])
        assert (list(gathered), len(gathered)) == (through, size)
        with pytest.raises(IndexError, match=f"rank -1 of a group of {size}"):
            gathered[-1]


def test_only_whole_groups_exchange() -> None:
    parts = Tells(4).partition(ev.ragged(np.arange(8)), 7)
    assert parts.state(3)[1] == (4, 4, 3)
    with pytest.raises(ev.InputError, match=r"ev.group\(4\).sum: expected whole groups: .*, got 7"):
        parts.state(4)
    with pytest.raises(
        ev.InputError, match=r"ev.group\(4\).sum: expected a call from a schedule's"
    ):
        ev.group(4).sum(1)


# ---- what is refused ---------------------------------------------------------------------------------
class Told(DealtByScan):
    """A schedule whose setup is one of those below."""

    def tiles(self, state):
        return range(ev.thread_index(), state[0].num_tiles, ev.thread_count())


@ev.schedule
class OutsideSetup(Told):
    def tiles(self, state):
        return range(ev.group(8).sum(1), state[0].num_tiles, ev.thread_count())


@ev.schedule
class UnderACondition(Told):
    def setup(self, layout):
        total = 0
        if ev.thread_index() % 2 == 0:
            total = ev.group(8).sum(1)
        return layout, total, 0


@ev.schedule
class InALoop(Told):
    def setup(self, layout):
        total = 0
        for i in range(3):
            total += ev.group(8).scan(i)
        return layout, total, 0


@ev.func
def sometimes(g, v):
    if v > 0:
        return g.broadcast(v, 0)
    return 0


@ev.schedule
class InAFunction(Told):
    def setup(self, layout):
        return layout, sometimes(ev.group(8), ev.thread_index()), 0


@ev.schedule
class OfAFloat(Told):
    def setup(self, layout):
        return layout, ev.group(8).sum(0.5), 0


@ev.schedule
class OfTwo(Told):
    def setup(self, layout):
        return layout, ev.group(8).sum(1, 2), 0


@ev.schedule
class OtherKeyword(Told):
    def setup(self, layout):
        return layout, ev.group(8).scan(1, inclusive=True), 0


@ev.schedule
class NotKnown(Told):
    def setup(self, layout):
        return layout, ev.group(8).scan(1, exclusive=layout.num_tiles > 3), 0


@ev.schedule
class BeyondTheGroup(Told):
    def setup(self, layout):
        return layout, ev.group(8).gather(1)[8], 0


@ev.schedule
class NoSuchThing(Told):
    def setup(self, layout):
        return layout, ev.group(8).total(1), 0


@pytest.mark.parametrize("target", ["cpu", "simt"])
@pytest.mark.parametrize(
    ("kind", "message", "hint"),
    [
        (OutsideSetup, "ev.group(8).sum outside setup", "return the result in the state"),
        (UnderACondition, "ev.group(8).sum in a loop or under a condition", "in the body of setup itself"),
        (InALoop, "ev.group(8).scan in a loop or under a condition", "all members of a group must come"),
        (InAFunction, "ev.group(8).broadcast in a loop or under a condition", "in the body of setup itself"),
        (OfAFloat, "ev.group(8).sum of a number (float)", "it takes integers"),
        (OfTwo, "ev.group(8).sum takes 1 number, got 2", ""),
        (OtherKeyword, "ev.group(8).scan takes no argument inclusive", ""),
        (NotKnown, "exclusive= must be known when the kernel is compiled", "True or False"),
        (BeyondTheGroup, "index 8 of a group of 8", ""),
        (NoSuchThing, "a group has no total", "index, count, rank and size; sum, scan, broadcast, gather"),
    ],
)  # fmt: skip
def test_what_is_refused(kind: Any, message: str, hint: str, target: str) -> None:
    with pytest.raises(ev.KernelError) as caught:
        lengths[kind()].on(target)(LENGTHS, np.zeros(3, np.int64))
    assert message in str(caught.value)
    assert hint in str(caught.value)
    assert "test_exchanges.py" in str(caught.value)


def test_members_that_do_not_come_are_told_of() -> None:
    expected = r"ev.group\(8\).sum: expected a call that all members of the group come to, got .* thread 1 does not"
    with pytest.raises(ev.InputError, match=expected):
        ev.verify(UnderACondition(), LENGTHS)


@ev.schedule
class OfAnotherGroup(AtomsByScan):
    def setup(self, layout):
        g = ev.group(16)
        return layout, g.gather(g.scan(1)), g.sum(1)


@ev.schedule
class GathersTooMuch(Told):
    def setup(self, layout):
        g = ev.group(8)
        return layout, (g.gather(1), g.gather(2), g.gather(3), g.gather(4)), 0


@pytest.mark.parametrize("target", ["cpu", "simt"])
def test_what_a_block_cannot_exchange_is_refused(target: str) -> None:
    y = np.zeros(3, np.int64)
    expected = r"OfAnotherGroup.setup: expected exchanges in groups of 4, .*, got ev.group\(16\)"
    with pytest.raises(ev.InputError, match=expected):
        lengths[OfAnotherGroup()].on(target)(LENGTHS, y)
    expected = (
        r"GathersTooMuch.setup: expected at most 3 gathers, for blocks of 1024 threads, got 4"
    )
    with pytest.raises(ev.InputError, match=expected):
        lengths[GathersTooMuch(block=1024)].on(target)(LENGTHS, y)
    lengths[GathersTooMuch()].on(target)(LENGTHS, y)
    assert y.tolist() == [5, 4, 3]
    with pytest.raises(ev.InputError, match=r"DealtByScan: ev.group\(48\): expected a size that"):
        lengths[DealtByScan(48)].on(target)(LENGTHS, y)


@ev.schedule
class ReadsBeyond(DealtByScan):
    """Wrong: it reads the number of a rank that its group does not have."""

    def tiles(self, state):
        layout, numbers, _ = state
        here = numbers[ev.group(self.size).rank + layout.num_tiles]
        return range(ev.thread_index() + here * 0, layout.num_tiles, ev.thread_count())


def test_ranks_beyond_the_group_are_found() -> None:
    y = np.zeros(3, np.int64)
    with pytest.raises(ev.VerificationError, match="raises IndexError .* rank 16 of a group of 16"):
        ev.verify(ReadsBeyond(), LENGTHS)
    expected = r"test_exchanges.py:\d+: the numbers of a group: expected an index from 0 to 15, got"
    with pytest.raises(ev.InputError, match=expected):
        lengths[ReadsBeyond()].on("cpu", debug=True)(LENGTHS, y)


@pytest.mark.simt
def test_the_emulator_finds_ranks_beyond_the_group() -> None:
    with pytest.raises(ev.SimtError, match="the rank is one of the group: expected it to hold"):
        lengths[ReadsBeyond()].on("simt")(LENGTHS, np.zeros(3, np.int64))


def test_a_group_sees_its_own_numbers_with_every_number_of_workers() -> None:
    from tests.targets.cpu.programs import WORKERS, compiled, csr_of, run

    A = csr_of(layout_batteries()["power law"])
    for kind in SharesOfGroups(8), DealtByScan(), AtomsByScan(5):
        y = np.zeros(A.num_tiles, np.int64)
        values = {"A": A, "y": y}
        for debug in False, True:
            executable = compiled(lengths.function, values, kind, debug=debug)
            for workers in WORKERS:
                y[:] = -1
                run(executable, values, workers)
                np.testing.assert_array_equal(y, np.diff(A.offsets), err_msg=f"{kind}, {workers}")


# ---- on a GPU --------------------------------------------------------------------------------------
@pytest.mark.parametrize(("kernel", "schedule"), one_in(3, COMPILED, SCHEDULES))
def test_nvrtc_compiles(kernel: str, schedule: str) -> None:
    nvrtc_compiles(SCHEDULES[schedule], kernel)


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_on_a_gpu(schedule: str) -> None:
    is_right_on_a_gpu(SCHEDULES[schedule])
