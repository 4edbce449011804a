"""`ev.verify` accepts every schedule and rejects wrong ones; parameters are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly import schedules
from evenly.schedules import TABLE, Entry
from evenly.targets.gpu.engines import engine_of
from tests.batteries import layout_batteries, matrices, vector
from tests.emitting import emitted
from tests.kernels import SCHEDULES, spmv

from .proving import MANY, NASTY, large


def on_nasty_lengths() -> list:
    """Each schedule on each list; large groups on thousands of tiles are slow, since plain Python walks each member's."""
    return [
        pytest.param(
            schedule, name, marks=[pytest.mark.slow] * (name == MANY and large(SCHEDULES[schedule]))
        )
        for schedule in SCHEDULES
        for name in NASTY
    ]


@pytest.mark.parametrize(("schedule", "name"), on_nasty_lengths())
def test_each_atom_once_each_tile_once(schedule: str, name: str) -> None:
    proof = ev.verify(SCHEDULES[schedule], ev.ragged(layout_batteries()[name]))
    assert f"{len(layout_batteries()[name]) - 1} tiles left once" in str(proof)


def test_masked_and_derived_layouts_too() -> None:
    matrix = matrices()["power law"]
    base = ev.csr(matrix)
    for A in (
        ev.ell(matrix),
        ev.dia(matrices()["all equal"]),
        ev.uniform(7, base),
        ev.subset(base, np.arange(0, matrix.shape[0], 3)),
    ):
        for schedule in (ev.ThreadMapped(), ev.MergePath(), ev.NonzeroSplit()):
            ev.verify(schedule, A)


# ---- schedules that are wrong -----------------------------------------------------------------------
@ev.schedule
class LeavesOut:
    """Wrong: it forgets the last atom of each tile."""

    block: int = 64
    owner = "thread"

    def launch(self, layout):
        return 1 + layout.num_tiles // self.block, self.block

    def tiles(self, layout):
        return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile) - 1)


@ev.schedule
class Twice(LeavesOut):
    """Wrong: every thread walks all tiles."""

    def tiles(self, layout):
        return range(layout.num_tiles)

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


@ev.schedule
class BeyondTheEnd(LeavesOut):
    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile) + 1)


@ev.schedule
class Disagrees:
    """Wrong: members of a group see different tiles."""

    size: int = 4
    block: int = 64
    owner = "group"

    def launch(self, layout):
        return 1 + layout.num_tiles // 16, self.block

    def tiles(self, layout):
        return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile) + ev.group(self.size).rank, layout.end(tile), self.size)


@ev.schedule
class RankFromSetup(Disagrees):
    """Right: asks for its rank once."""

    def setup(self, layout):
        return layout, ev.group(self.size).rank

    def tiles(self, state):
        return range(ev.group(self.size).index, state[0].num_tiles, ev.group(self.size).count)

    def atoms(self, state, tile):
        layout, rank = state
        return range(layout.begin(tile) + rank, layout.end(tile), self.size)


@ev.schedule
class OutOfOrder:
    """Wrong: a tile's threads take its later atoms first."""

    block: int = 64
    owner = "share"

    def launch(self, layout):
        return 1, self.block

    def setup(self, layout):
        share = (layout.num_atoms + ev.thread_count() - 1) // ev.thread_count()
        last = ev.thread_count() - 1 - ev.thread_index()
        return (
            layout,
            min(last * share, layout.num_atoms),
            min(last * share + share, layout.num_atoms),
        )

    def tiles(self, state):
        return range(state[0].num_tiles)

    def atoms(self, state, tile):
        return range(max(state[0].begin(tile), state[1]), min(state[0].end(tile), state[2]))


@ev.schedule
class DividesByZero(LeavesOut):
    """Wrong for one processor."""

    def tiles(self, layout):
        return range(ev.thread_index() // 2, layout.num_tiles, ev.thread_count() // 2)


@ev.schedule
class NoRange(LeavesOut):
    def tiles(self, layout):
        return 5


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (
            DividesByZero(),
            r"DividesByZero raises ValueError for 1 processor: range\(\) arg 3 must not",
        ),
        (LeavesOut(), r"atom 4 is never visited by 1 processor"),
        (Twice(), r"atom 0 is visited 2 times by 2 processors"),
        (BeyondTheEnd(), r"processor 0 of 1 takes atom 5 for tile 0, whose atoms are 0 to 4"),
        (Disagrees(), r"the members of group 0 of 1 see different tiles"),
        (OutOfOrder(), r"the next atom, in the order of processors, is 0"),
    ],
)
def test_wrong_schedules_are_found(schedule, message: str) -> None:
    with pytest.raises(ev.VerificationError, match=message):
        ev.verify(schedule, ev.ragged(np.array([0, 5, 9, 12])))


def test_what_a_schedule_gives_is_looked_at() -> None:
    A = ev.ragged(np.array([0, 5, 9, 12]))
    with pytest.raises(ev.InputError, match=r"NoRange\.tiles: expected a range, got 5"):
        ev.verify(NoRange(), A)
    with pytest.raises(ev.InputError, match="expected a multiple of 32 from 32 to 1024, got 100"):
        ev.verify(Twice(block=100), A)


def test_each_member_of_a_group_has_its_own_state() -> None:
    A = ev.ragged(np.array([0, 5, 9, 12]))
    ev.verify(RankFromSetup(), A)
    assert RankFromSetup().partition(A, 1).work().tolist() == [12]


# ---- parameters and contract --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ev.ThreadMapped(block=100), "a multiple of 32 from 32 to 1024, got 100"),
        (lambda: ev.MergePath(block=2048), "a multiple of 32 from 32 to 1024, got 2048"),
        (lambda: ev.MergePath(carveout=101), "an integer from -1 to 100, got 101"),
        (lambda: ev.MergePath(carveout=0.2), "an integer from -1 to 100, got 0.2"),
        (lambda: ev.MergePath(32, min_blocks=33), "an integer from 0 to 32, got 33"),
        (lambda: ev.MergePath(min_blocks=9), "an integer from 0 to 8, got 9"),
        (lambda: ev.GroupMapped(1), "an integer from 2 to 256, got 1"),
        (lambda: ev.GroupMapped(300), "an integer from 2 to 256, got 300"),
        (lambda: ev.ThreadMapped(items=0), "an integer from 1 to 32, got 0"),
        (
            lambda: ev.WarpMapped(items=33),
            "WarpMapped(items=...): expected an integer from 1 to 32",
        ),
        (lambda: ev.WarpMapped(run=8), "one of 1, 2, 4, a divisor of items=4, got 8"),
        (
            lambda: ev.GroupMapped(8, items=6, run=4),
            "GroupMapped(run=...): expected one of 1, 2, a",
        ),
        (lambda: ev.BlockMapped(items=3, run=3), "one of 1, a divisor of items=3, got 3"),
        (lambda: ev.GroupMapped(run=4.0), "one of 1, 2, 4, a divisor of items=4, got 4.0"),
        (lambda: ev.GroupMapped(run=True), "one of 1, 2, 4, a divisor of items=4, got True"),
        (lambda: ev.Lrb(items=2.0), "Lrb(items=...): expected an integer from 1 to 32, got 2.0"),
        (lambda: ev.DynamicChunks(items=True), "an integer from 1 to 32, got True"),
        (lambda: ev.WorkOriented(items=0), "an integer from 1 to 1024, got 0"),
        (
            lambda: ev.MergePath(items=2000),
            "MergePath(items=...): expected an integer from 1 to 64, got 2000",
        ),
        (lambda: ev.DynamicChunks(chunk=0), "an integer from 1 to 1048576, got 0"),
        (lambda: ev.DynamicChunks(size=300), "an integer from 1 to 256, got 300"),
        (lambda: ev.Lrb(lanes=64), "Lrb(lanes=...): expected an integer from 2 to 32, got 64"),
        (lambda: ev.Lrb(group=48), "Lrb(group=...): expected a power of two, got 48"),
        (
            lambda: ev.Lrb(thread=128),
            "Lrb(thread=..., group=..., warp=...): expected ascending lengths, got 128, 64, 1024",
        ),
        (lambda: schedules.by_name("merge_pth"), "hint: did you mean 'merge_path'?"),
    ],
)
def test_parameters_are_checked(make, message: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        make()
    assert message in str(caught.value)


def test_the_contract_is_checked_when_the_class_is_made() -> None:
    with pytest.raises(
        ev.InputError, match=r"NoTiles.tiles: expected a method tiles\(self, state\), got nothing"
    ):

        @ev.schedule
        class NoTiles:
            owner = "thread"

            def launch(self, layout):
                return 1, 32

            def atoms(self, layout, tile):
                return range(0)

    with pytest.raises(
        ev.InputError, match=r"Owner.owner: expected one of thread, group, share, got 'warp'"
    ):

        @ev.schedule
        class Owner:
            owner = "warp"

    with pytest.raises(ev.InputError, match=r"Hash.__hash__: expected another name for the field"):

        @ev.schedule
        class Hash:
            __hash__: int = 3

    with pytest.raises(
        ev.InputError, match=r"Engine.engine: expected one of owned, team, share.*, got 'dynamical'"
    ):

        @ev.schedule
        class Engine(ev.ThreadMapped):
            engine = "dynamical"

    with pytest.raises(
        ev.InputError,
        match=r"Chunk.chunk: expected a parameter `chunk: int = ...`, since the engine is 'dynamic'",
    ):

        @ev.schedule
        class Chunk(ev.ThreadMapped):
            engine = "dynamic"

    with pytest.raises(
        ev.InputError,
        match=r"Owner.owner: expected 'share', since the engine is 'merge', got 'thread'",
    ):

        @ev.schedule
        class Owner(ev.ThreadMapped):
            engine = "merge"


def named_late(engine: object, owner: str = "thread") -> Any:
    """A schedule whose engine is known once it is made, and not when its class is."""

    @ev.schedule
    class Late:
        block: int = 64

        def launch(self, layout):
            return -(-layout.num_tiles // self.block), self.block

        def tiles(self, layout):
            return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

        def atoms(self, layout, tile):
            return range(layout.begin(tile), layout.end(tile))

        @property
        def owner(self):
            return owner

        @property
        def engine(self):
            return engine

    return Late()


class Undecorated(ev.ThreadMapped):
    engine = "mergepath"


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (named_late("dynamical"), "Late.engine: expected one of owned, .*, got 'dynamical'"),
        (named_late(None), "Late.engine: expected one of owned, .*, got None"),
        (named_late(["owned"]), r"Late.engine: expected one of owned, .*, got \['owned'\]"),
        (
            named_late("merge"),
            "Late.owner: expected 'share', since the engine is 'merge', got 'thre",
        ),
        (
            named_late("owned", "share"),
            "Late.owner: expected 'thread' or 'group', since the engine",
        ),
        (named_late("dynamic"), "Late.chunk: expected a parameter `chunk: int = ...`, since the"),
        (Undecorated(), "Undecorated.engine: expected one of owned, .*, got 'mergepath'"),
    ],
)
def test_engines_that_are_named_late_are_checked(schedule: Any, message: str) -> None:
    A = ev.ragged(np.array([0, 2, 3]))
    with pytest.raises(ev.InputError, match=message):
        emitted(lengths, (A, np.zeros(2, np.int64)), schedule)
    with pytest.raises(ev.InputError, match=message):
        ev.verify(schedule, A)
    with pytest.raises(ev.InputError, match=message):
        lengths[schedule].on("python").plan(A, np.zeros(2, np.int64)).profile()


@pytest.mark.parametrize("entry", TABLE.values(), ids=TABLE)
def test_our_schedules_have_what_their_engines_ask_for(entry: Entry) -> None:
    made = entry.make()
    engine = engine_of(made)
    assert made.owner in engine.owners
    assert all(hasattr(made, name) for name in engine.parameters)


@ev.kernel
def lengths(A, y):
    for tile in A.tiles():
        y[tile] = sum(1 for _ in A.atoms(tile))


@pytest.mark.parametrize("items", [0, 33, 2.5, True])
def test_items_of_ones_own_are_checked(items: object) -> None:
    @ev.schedule
    class Several(ev.ThreadMapped):
        def __post_init__(self):
            pass

    A = ev.ragged(np.array([0, 5, 9, 12]))
    with pytest.raises(ev.InputError, match=r"Several\(items=...\): expected an integer from 1 to"):
        emitted(lengths, (A, np.zeros(3, np.int64)), Several(items=items))


def test_shares_need_to_know_how_many_items() -> None:
    with pytest.raises(
        ev.InputError,
        match=r"Share.items: expected a parameter `items: int = ...`, since the engine",
    ):

        @ev.schedule
        class Share:
            block: int = 64
            owner = "share"
            engine = "merge"

            def launch(self, layout):
                return 1, 64

            def tiles(self, layout):
                return range(0)

            def atoms(self, layout, tile):
                return range(0)


# ---- schedules made of ours -------------------------------------------------------------------------
@ev.schedule
class FewBlocks(ev.ThreadMapped):
    def launch(self, layout):
        return 1, self.block


class FewGroups(ev.WarpMapped):
    def launch(self, layout):
        return 1, self.block


class OneBlock:
    def launch(self, layout):
        return 1, self.block


class Mixed(OneBlock, ev.ThreadMapped):
    pass


@pytest.mark.simt
@pytest.mark.parametrize("schedule", [FewBlocks(64), FewGroups(64), Mixed(64)], ids=str)
def test_one_made_of_ours_may_launch_less(schedule: Any) -> None:
    assert ev.ThreadMapped(64).covers and not schedule.covers
    ev.verify(schedule, ev.ragged(layout_batteries()["power law"]), target="simt")


@ev.schedule
class Blocks:
    """The least that engine "merge" asks for."""

    block: int = 64
    items: int = 3
    owner = "share"
    engine = "merge"

    launch = ev.MergePath.launch
    setup = ev.MergePath.setup
    tiles = ev.MergePath.tiles
    atoms = ev.MergePath.atoms


@pytest.mark.parametrize("schedule", [Blocks(), Blocks(256, 3)], ids=str)
def test_what_an_engine_does_not_ask_for_may_be_missing(schedule: Any) -> None:
    matrix = matrices(np.float32)["power law"]
    args = ev.csr(matrix), vector(matrix.shape[1]), vector(matrix.shape[0])
    ours = ev.MergePath(schedule.block, schedule.items)
    assert [k.source for k in emitted(spmv, args, schedule)] == [
        k.source for k in emitted(spmv, args, ours)
    ]


# ---- tiles that engines hand out ----------------------------------------------------------------------
@ev.schedule
class TakesPairs:
    """Takes chunks on a GPU. On other targets, a group walks each tile."""

    chunk: int = 2
    size: int = 4
    block: int = 64
    owner = "group"
    engine = "dynamic"

    def launch(self, layout):
        return -(-layout.num_tiles // 4), self.block

    def tiles(self, layout):
        return range(ev.group(self.size).index, layout.num_tiles, ev.group(self.size).count)

    def atoms(self, layout, tile):
        return range(layout.begin(tile) + ev.group(self.size).rank, layout.end(tile), self.size)


@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_one_of_ones_own_takes_chunks(target: str) -> None:
    for offsets in layout_batteries().values():
        ev.verify(TakesPairs(), ev.ragged(offsets), target=target)


@ev.schedule
class BinsForNothing(ev.Lrb):
    def launch(self, layout):
        return layout.num_tiles + 1, self.block


@ev.kernel
def most_atoms(A, sizes, most):
    greatest = -1
    for tile in A.tiles():
        sizes[tile] = sum(1 for _ in A.atoms(tile))
        greatest = max(greatest, sizes[tile])
    most[0] = greatest


@pytest.mark.simt
@pytest.mark.parametrize("planned", [False, True])
def test_blocks_that_are_launched_for_nothing_read_no_bins(planned: bool) -> None:
    most = np.zeros(1, np.int64)
    bound, args = (
        most_atoms[BinsForNothing()].on("simt"),
        (ev.ragged(np.array([0])), np.zeros(0, int), most),
    )
    (bound.plan(*args) if planned else bound)(*args)
    assert most[0] == -1


@pytest.mark.parametrize("name", layout_batteries())
@pytest.mark.parametrize(
    "schedule", [ev.Lrb(), ev.Lrb(64, 4, 2, 16, 128), ev.Lrb(32, 2, 1, 1, 1)], ids=str
)
def test_bins_have_enough_blocks(schedule, name: str) -> None:
    """What a block takes at once: a tile of the longest class, one a warp, one a group of lanes, one a thread."""
    sizes = np.diff(layout_batteries()[name])
    cuts = np.digitize(sizes, [schedule.thread, schedule.group, schedule.warp])
    tiles = np.bincount(cuts, minlength=4)
    teams = schedule.block, schedule.block // schedule.lanes, schedule.block // 32, 1
    units = sum(-(-int(n) // each) for n, each in zip(tiles, teams, strict=True))
    blocks, _ = schedule.launch(schedules.Sizes(len(sizes), int(sizes.sum())))
    assert units <= blocks <= len(sizes)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 100])
@pytest.mark.parametrize(
    "schedule",
    [
        ev.WorkOriented(), ev.MergePath(), ev.NonzeroSplit(), ev.ThreadMapped(), ev.GroupMapped(4),
        ev.DynamicChunks(), ev.Lrb(),
    ],
)  # fmt: skip
def test_a_partition_for_any_number_of_processors(schedule, n: int) -> None:
    A = ev.ragged(layout_batteries()["power law"])
    work = schedule.partition(A, n).work()
    assert work.shape == (n,)
    assert work.sum() == A.num_atoms
    if isinstance(schedule, ev.NonzeroSplit):
        assert work.max() <= -(-A.num_atoms // n)
    if isinstance(schedule, ev.WorkOriented):
        assert work.max() <= -(-(A.num_atoms + A.num_tiles) // n)


def test_partitions_are_refused_for_no_processors() -> None:
    with pytest.raises(ev.InputError, match="n: expected a number of processors, 1 or more, got 0"):
        ev.MergePath().partition(ev.ragged(np.array([0, 1])), 0)


# ---- schedules that walk down --------------------------------------------------------------------
@ev.schedule
class Down:
    """Walks tiles and their atoms from the last to the first, with steps that are not literals."""

    block: int = 64

    owner = "thread"

    def launch(self, layout):
        return -(-layout.num_tiles // self.block), self.block

    def setup(self, layout):
        return layout, 0 - 1

    def tiles(self, state):
        return range(state[0].num_tiles - 1 - ev.thread_index(), -1, -ev.thread_count())

    def atoms(self, state, tile):
        layout, step = state
        return range(layout.end(tile) - 1, layout.begin(tile) - 1, step * (layout.num_tiles > 0))


@pytest.mark.parametrize("target", ["cpu", "simt"])
def test_steps_that_are_no_literals_may_go_down(target: str) -> None:
    matrix = matrices()["power law"]
    A, x = ev.csr(matrix), vector(matrix.shape[1])
    y = np.empty(matrix.shape[0], np.float32)
    spmv[Down()].on(target)(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)


# ---- what `launch` gives -------------------------------------------------------------------------
@ev.schedule
class Launches:
    """One thread for each tile, in `blocks` blocks or as `given` says."""

    blocks: float = 1
    owner = "thread"

    def launch(self, layout):
        return GIVEN.get(self.blocks, (self.blocks, 64))

    def tiles(self, layout):
        return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


GIVEN: dict[float, object] = {
    100: None,
    101: [1, 64],
    102: (1, 64, 1),
    103: (1, 33),
    104: (1, 2048),
    105: (np.array([1]), 64),
}


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (0, r"expected from 1 to 2,147,483,647 blocks for 3 tiles and 12 atoms, got 0"),
        (-1, r"blocks for 3 tiles and 12 atoms, got -1"),
        (2**31, r"blocks for 3 tiles and 12 atoms, got 2147483648"),
        (1.0, r"expected \(blocks, threads a block\), two integers, got \(1.0, 64\)"),
        (float("inf"), r"two integers, got \(inf, 64\)"),
        (True, r"two integers, got \(True, 64\)"),
        (100, r"two integers, got None"),
        (101, r"two integers, got \[1, 64\]"),
        (102, r"two integers, got \(1, 64, 1\)"),
        (103, r"expected a multiple of 32 from 32 to 1024, got 33"),
        (104, r"expected a multiple of 32 from 32 to 1024, got 2048"),
        (105, r"two integers, got \(array\(\[1\]\), 64\)"),
    ],
)
def test_a_launch_that_no_gpu_runs_is_refused(blocks, message: str) -> None:
    A, y = ev.ragged(np.array([0, 5, 9, 12])), np.zeros(3, np.int64)
    for run in (
        lambda: ev.verify(Launches(blocks), A),
        lambda: lengths[Launches(blocks)].on("simt")(A, y),
        lambda: lengths.plan(A, y, schedule=Launches(blocks), target="python").profile(),
    ):
        with pytest.raises(ev.InputError, match=r"Launches\.launch.*" + message):
            run()


def test_a_launch_may_be_of_numpys_integers_and_of_nothing_for_nothing() -> None:
    GIVEN[106] = np.int64(2), np.int32(64)
    ev.verify(Launches(106), ev.ragged(np.array([0, 5, 9, 12])), target="simt")
    ev.verify(Launches(0), ev.ragged(np.array([0])), target="simt")


def test_blocks_are_as_long_as_the_parameter_says() -> None:
    with pytest.raises(ev.InputError, match=r"expected blocks of 64 threads, .* got 128"):
        ev.verify(LaunchesOthers(), ev.ragged(np.array([0, 5])))


@ev.schedule
class LaunchesOthers(LeavesOut):
    def launch(self, layout):
        return 1, 128


@ev.schedule
class DividesInLaunch(LeavesOut):
    def launch(self, layout):
        return 1 // 0, 64


def test_what_launch_raises_is_told_with_its_name() -> None:
    A, y = ev.ragged(np.array([0, 5])), np.zeros(1, np.int64)
    expected = r"DividesInLaunch\.launch: .* got ZeroDivisionError: integer"
    for run in (
        lambda: ev.verify(DividesInLaunch(), A),
        lambda: lengths[DividesInLaunch()].on("simt")(A, y),
    ):
        with pytest.raises(ev.InputError, match=expected):
            run()


# ---- what is legal, and held to be so ------------------------------------------------------------
@ev.schedule
class InBlocks(LeavesOut):
    """Walks tiles in blocks of `size` threads, whatever the number of blocks: its stride is a block."""

    size: int = 64

    def tiles(self, layout):
        here = ev.group(self.size)
        return range(here.index * self.size + here.rank, layout.num_tiles, here.count * self.size)

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


@ev.schedule
class EachItsOwnEnd(Disagrees):
    """Each member of a group stops at an end of its own, after the group's last tile."""

    def tiles(self, layout):
        here = ev.group(self.size)
        rounds = (layout.num_tiles - here.index + here.count - 1) // here.count
        return range(here.index, here.index + rounds * here.count, here.count)


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize(
    "schedule", [Down(), InBlocks(), InBlocks(size=16), EachItsOwnEnd()], ids=str
)
def test_what_the_contract_admits_is_proved(schedule, target: str) -> None:
    for name in NASTY:
        ev.verify(schedule, ev.ragged(layout_batteries()[name]), target=target)
    matrix = matrices()["power law"]
    A, x = ev.csr(matrix), vector(matrix.shape[1])
    y = np.empty(matrix.shape[0], np.float32)
    spmv[schedule].on(target)(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_fewer_tiles_than_the_host_knows_of(target: str, count: int) -> None:
    base = ev.csr(matrices()["power law"])
    A = ev.subset(base, np.arange(1, 8), count=np.array([count]))
    for schedule in (ev.ThreadMapped(), ev.GroupMapped(8), ev.MergePath(), Down()):
        assert ev.verify(schedule, A, target=target).tiles == count


def test_groups_that_blocks_do_not_hold_are_refused() -> None:
    A, y = ev.ragged(np.array([0, 5, 9, 12])), np.zeros(3, np.int64)
    for run in (
        lambda: ev.verify(InBlocks(size=48), A),
        lambda: lengths[InBlocks(size=48)].on("cpu")(A, y),
        lambda: lengths[InBlocks(size=48)].on("simt")(A, y),
    ):
        with pytest.raises(
            ev.InputError,
            match=r"InBlocks: ev.group\(48\): expected a size that divides the 64 threads",
        ):
            run()
    with pytest.raises(ev.InputError, match=r"Disagrees\(size=...\): .* from 1 to 64, got 96"):
        lengths[Disagrees(size=96)].on("simt")(A, y)


@ev.schedule
class SharesDown(OutOfOrder):
    """Wrong only in the order of its tiles."""

    def setup(self, layout):
        return layout, 0, layout.num_atoms if ev.thread_index() == 0 else 0

    def tiles(self, state):
        return range(state[0].num_tiles - 1, -1, -1)


def test_shared_tiles_are_walked_one_by_one() -> None:
    A, y = ev.ragged(np.array([0, 5, 9, 12])), np.zeros(3, np.int64)
    with pytest.raises(ev.VerificationError, match="where tiles are shared, the step is 1"):
        ev.verify(SharesDown(), A)
    for target in ("cpu", "simt"):
        with pytest.raises(ev.KernelError, match=r"SharesDown\.tiles gives a range with a step"):
            lengths[SharesDown()].on(target)(A, y)


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_options_are_refused_where_a_target_has_none(target: str) -> None:
    with pytest.raises(
        ev.InputError, match=f"expected no options for target '{target}', got seed=1"
    ):
        ev.verify(ev.ThreadMapped(), ev.ragged(np.array([0, 2])), target, seed=1)


@pytest.mark.parametrize("look", [ev.verify, lambda s, A: s.partition(A, 2)])
def test_a_schedule_of_schedules_is_looked_at_level_by_level(look) -> None:
    B = ev.batch([matrices()["power law"]])
    with pytest.raises(ev.InputError) as caught:
        look(ev.Nested(ev.BlockMapped(64)), B)
    assert "schedule: expected one that hands out tiles" in str(caught.value)
    assert "try schedule.outer and schedule.inner" in str(caught.value)
    for schedule in (ev.BlockMapped(64), ev.ThreadMapped()):
        look(schedule, B)
