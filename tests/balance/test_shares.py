"""The closed formulas of shares and levels against plain loops and `Partition`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import evenly as ev
from evenly.balance.profile import load, offsets_of
from evenly.balance.shares import shares
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import numbers
from evenly.schedules.contract import Sizes
from tests.batteries import layout_batteries
from tests.kernels import others

OFFSETS = layout_batteries()
SCHEDULES = (
    ev.ThreadMapped(64), ev.GroupMapped(3, 64), ev.GroupMapped(8, 96), ev.WarpMapped(64),
    ev.GroupMapped(40, 160), ev.GroupMapped(64, 1024), ev.BlockMapped(64),
    ev.GroupMapped(5, 64, flatten=True), ev.GroupMapped(64, 128, flatten=True),
    ev.Lrb(64, 4, 2, 16, 128), ev.DynamicChunks(3, 1, 64), ev.DynamicChunks(5, 8, 64), ev.DynamicChunks(2, 40, 128),
    ev.WorkOriented(32, 3), ev.MergePath(32, 2), ev.MergePath(96, 4), ev.NonzeroSplit(64, 1),
)  # fmt: skip
SCHEDULES += tuple(others(SCHEDULES).values())


def made(schedule, offsets):
    A = ev.ragged(offsets)
    shared = shares(schedule, A, offsets_of(A), Sizes(A.num_tiles, A.num_atoms))
    return A, shared, load(schedule, shared)


def lanes(shared) -> np.ndarray:
    """Atoms of every thread, (blocks, threads), dealt one by one to the groups as device/group.cuh places them."""
    out = np.zeros((shared.blocks, shared.block), np.int64)
    size = shared.size
    for group, atoms in enumerate(shared.atoms):
        block, which = divmod(group, shared.per_block)
        if size > 32:
            place = which * -(-size // 32) * 32
        else:
            warp, among = divmod(which, 32 // size)
            place = warp * 32 + among * size
        for atom in range(atoms):
            out[block, place + atom % size] += 1
    return out


def spread(level) -> list[tuple[int, int]]:
    """(time, atoms) of each processor, in order of size."""
    return sorted(
        pair
        for t, a, n in zip(level.time, level.atoms, level.count, strict=True)
        for pair in [(int(t), int(a))] * int(n)
    )


def expected(threads: np.ndarray) -> list[tuple[int, int]]:
    """The (time, atoms) that `spread` should return, for processors whose threads are the rows."""
    return sorted((int(row.max()), int(row.sum())) for row in threads)


offsets = st.one_of(
    st.sampled_from(list(OFFSETS.values())),
    st.lists(st.one_of(st.integers(0, 5), st.just(0), st.integers(20, 400)), max_size=40).map(
        lambda sizes: np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])
    ),
)


@given(schedule=st.sampled_from(SCHEDULES), offsets=offsets)
def test_levels_are_what_dealing_atoms_one_by_one_gives(schedule, offsets) -> None:
    A, shared, found = made(schedule, offsets)
    dealt = lanes(shared)
    assert dealt.sum() == A.num_atoms
    assert spread(found.threads) == expected(dealt.reshape(-1, 1))
    assert spread(found.warps) == expected(dealt.reshape(-1, 32))
    assert spread(found.blocks) == expected(dealt)
    assert found.blocks.time.tolist() == dealt.max(axis=1, initial=0).tolist()


@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.parametrize(
    "schedule", [s for s in SCHEDULES if s.engine in ("owned", "share")], ids=str
)
def test_shares_are_those_of_the_partition(schedule, name) -> None:
    A, shared, _ = made(schedule, OFFSETS[name])
    if len(shared.atoms):
        work = schedule.partition(A, len(shared.atoms)).work()
        assert shared.atoms.tolist() == work.tolist()


@example(schedule=ev.MergePath(32, 2), offsets=OFFSETS["many empty between"])
@given(
    schedule=st.sampled_from([s for s in SCHEDULES if s.engine in ("merge", "nonzero", "flatten")]),
    offsets=offsets,
)
def test_shares_of_the_engines_are_cuts_of_a_line(schedule, offsets) -> None:
    """The ends of tiles (x) and the atoms (o) form a line, which the engines cut (device/split.cuh, flatten.cuh)."""
    _, shared, _ = made(schedule, offsets)
    sizes = np.diff(offsets)
    if schedule.engine == "flatten":
        pieces = [sizes[i : i + schedule.size].sum() for i in range(0, len(sizes), schedule.size)]
    else:
        end = "x" if schedule.engine == "merge" else ""
        line = "".join("o" * n + end for n in sizes)
        share = schedule.block * schedule.items
        slots = 32 * schedule.items
        pieces = [
            max(0, min(line[i : i + share].count("o") - warp * slots, slots))
            for i in range(0, len(line), share)
            for warp in range(schedule.block // 32)
        ]
    assert shared.atoms[: len(pieces)].tolist() == pieces
    assert not shared.atoms[len(pieces) :].any()


def test_chunks_go_to_whoever_is_free_first(monkeypatch) -> None:
    """One multiprocessor, 64 warps, 200 chunks: the warp with the long tile gets no other chunk."""
    monkeypatch.setattr("evenly.balance.shares.measured", lambda: Gpu(1))
    sizes = [5000, *[32] * 199]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    _, shared, _ = made(ev.DynamicChunks(chunk=1, size=32, block=1024), offsets)
    warps = shared.atoms.reshape(-1, 32).sum(axis=1)
    assert warps.tolist() == [5000, *[128] * 10, *[96] * 53]


def test_lanes_without_an_atom_of_a_short_tile_are_idle() -> None:
    """Groups of 8 that take tiles of one atom: the first lane has it, however many tiles the group takes."""
    _, shared, found = made(ev.DynamicChunks(chunk=64, size=8, block=64), np.arange(65))
    assert shared.atoms.reshape(-1, 8)[:, 0].sum() == 64
    assert found.idle_lanes == 1 - 4 / 32


def test_blocks_that_take_chunks_are_as_many_as_run_at_once() -> None:
    _, shared, _ = made(ev.DynamicChunks(chunk=1, size=1, block=1024), np.arange(20_001))
    assert shared.blocks == 2 * int(numbers()["multiprocessors"])


def test_binned_tiles_are_where_the_engine_has_them() -> None:
    """One block runs its units in order: those of blocks, of two warps, of 16 teams of 4, and of threads."""
    sizes = [1, 40, 5, 700, 0, 3, 20, 1]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    _, shared, found = made(ev.Lrb(block=64, lanes=4, thread=2, group=16, warp=128), offsets)
    assert shared.blocks == 8
    threads = shared.atoms.reshape(8, 64)
    assert threads[0].tolist() == [11] * 60 + [10] * 4
    assert threads[1].tolist() == [2] * 8 + [1] * 24 + [1] * 20 + [0] * 12
    assert threads[2].tolist() == [2, 1, 1, 1, 1, 1, 1] + [0] * 57
    assert threads[3].tolist() == [1, 1] + [0] * 62
    assert found.blocks.time.tolist() == [11, 2, 2, 1, 0, 0, 0, 0]


@ev.schedule
class Chunked:
    """Each thread has `tiles_each` consecutive tiles."""

    tiles_each: int = 3
    block = 64
    owner = "thread"

    def launch(self, layout):
        return -(-layout.num_tiles // (self.tiles_each * 64)), 64

    def tiles(self, layout):
        first = min(ev.thread_index() * self.tiles_each, layout.num_tiles)
        return range(first, min(first + self.tiles_each, layout.num_tiles))

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


@ev.schedule
class Halves:
    """A group of 3 threads walks a tile; its rank 0 takes half of it."""

    size: int = 3
    owner = "group"

    def launch(self, layout):
        return -(-layout.num_tiles // 20), 64

    def tiles(self, layout):
        return range(ev.group(self.size).index, layout.num_tiles, ev.group(self.size).count)

    def atoms(self, layout, tile):
        begin, end = layout.begin(tile), layout.end(tile)
        middle = (begin + end) // 2
        rank = ev.group(self.size).rank
        return range(
            begin if rank == 0 else middle, middle if rank == 0 else end if rank == 1 else middle
        )


@pytest.mark.parametrize("name", ["power law", "empty at the end", "no tiles"])
def test_schedules_of_the_users_are_walked(name) -> None:
    sizes = np.diff(OFFSETS[name])
    _, shared, found = made(Chunked(), OFFSETS[name])
    pieces = [sizes[i : i + 3].sum() for i in range(0, len(sizes), 3)]
    assert shared.atoms[: len(pieces)].tolist() == pieces
    assert found.blocks.time.tolist() == shared.atoms.reshape(-1, 64).max(axis=1).tolist()
    _, shared, _ = made(Halves(), OFFSETS[name])
    for tile, size in enumerate(sizes):
        block, group = divmod(tile, 20)
        thread = block * 64 + group // 10 * 32 + group % 10 * 3
        assert shared.atoms[thread : thread + 3].tolist() == [size // 2, size - size // 2, 0]


@ev.schedule
class Backwards(ev.ThreadMapped):
    def tiles(self, layout):
        return range(layout.num_tiles - 1 - ev.thread_index(), -1, -ev.thread_count())


@ev.schedule
class InOneBlock(ev.ThreadMapped):
    def launch(self, layout):
        return min(layout.num_tiles, 1), self.block


def test_those_made_of_ours_with_methods_of_their_own_are_walked() -> None:
    sizes = np.diff(OFFSETS["power law"])
    _, shared, _ = made(Backwards(64), OFFSETS["power law"])
    assert shared.atoms[: len(sizes)].tolist() == sizes[::-1].tolist()
    _, shared, _ = made(InOneBlock(64), OFFSETS["power law"])
    assert shared.atoms.tolist() == [int(sizes[thread::64].sum()) for thread in range(64)]


def test_too_much_to_walk_is_refused() -> None:
    with pytest.raises(
        ev.InputError,
        match=r"the balance of Chunked: expected at most 200,000 tiles and threads, since Python walks "
        r"them one by one, got \d{3},\d{3}; hint: profile some of the tiles: A.slice\(range\(1000\)\)",
    ):
        made(Chunked(), np.arange(300_001))


def test_offsets_of_layouts_that_take_one_tile_at_a_time() -> None:
    @ev.layout
    class Branching:
        num_tiles: int

        @property
        def num_atoms(self):
            return self.begin(self.num_tiles)

        def begin(self, tile):
            return tile * 5 if tile < 2 else 10 + (tile - 2) * 3

        def end(self, tile):
            return self.begin(tile + 1)

    assert offsets_of(Branching(4)).tolist() == [0, 5, 10, 13, 16]
    with pytest.raises(
        ev.InputError, match=r"Branching.begin: expected at most 200,000 tiles.* got 300,000"
    ):
        offsets_of(Branching(300_000))
