"""How many atoms each group of threads gets, for the launch that a schedule asks for.

All engines hand out atoms in one way: a group of lanes takes consecutive atoms (or a tile)
together, lane r every size-th of them from r on. A thread of its own is a group of one; under
the engines that split tiles (`merge`, `nonzero`) the group is the warp, and a lane's atoms are those
that it loads. So an array of counts says it all.
Held against `Partition` and against plain loops in tests/tuning/test_shares.py.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.gpus.numbers import numbers
from evenly.schedules import BlockMapped, GroupMapped, ThreadMapped, WarpMapped, WorkOriented
from evenly.schedules.contract import Sizes, ceil_div, launch_of
from evenly.schedules.dynamic_chunks import takers_in_block
from evenly.schedules.group_mapped import groups_in_block
from evenly.schedules.handed_out import ROUNDS, most_blocks
from evenly.schedules.partition import Partition

from .balance import WARP, Numbers

MOST_STEPS = 200_000  # that Python walks in a few seconds


@dataclass(frozen=True, eq=False)
class Shares:
    """Atoms of each group, in the order of the launch: (blocks * per_block,) int64.

    size: lanes a group. block: threads a block. per_block: groups a block.
    """

    atoms: Numbers
    size: int
    blocks: int
    block: int

    @property
    def per_block(self) -> int:
        return _per_block(self.size, self.block)


def shares(schedule: Any, layout: Any, offsets: Numbers, sizes: Sizes) -> Shares:
    """The shares of `schedule` on a layout in CPU memory.

    offsets: (tiles + 1,) int64, where its tiles begin. sizes: what `launch` sees.
    Raises InputError for a schedule of the user's on more than MOST_STEPS tiles and threads.
    """
    blocks, block = launch_of(schedule, sizes)
    if schedule.engine in ROUNDS:
        blocks = min(blocks, most_blocks(schedule, int(numbers()["multiprocessors"])))
    divide = _BY_ENGINE.get(schedule.engine) or _BY_CLASS.get(type(schedule))
    if divide is None:
        return Shares(_walked(schedule, layout, blocks, block), 1, blocks, block)
    size, atoms = divide(schedule, offsets, blocks)
    whole = np.zeros(blocks * _per_block(size, block), np.int64)
    whole[: len(atoms)] = atoms
    return Shares(whole, size, blocks, block)


def _per_block(size: int, block: int) -> int:
    return block if size == 1 else groups_in_block(size, block)


# ---- closed forms: (lanes a group, atoms of each group) --------------------------------------------
def _a_tile_each(schedule: Any, offsets: Numbers, blocks: int) -> tuple[int, Numbers]:
    return getattr(schedule, "size", 1), np.diff(offsets)


def _flat(schedule: Any, offsets: Numbers, blocks: int) -> tuple[int, Numbers]:
    tiles = len(offsets) - 1
    first = np.arange(ceil_div(tiles, schedule.size) + 1) * schedule.size
    return schedule.size, np.diff(offsets[np.minimum(first, tiles)])


def _merge(schedule: Any, offsets: Numbers, blocks: int) -> tuple[int, Numbers]:
    return WARP, _of_warps(schedule, _along_path(offsets, schedule.block * schedule.items, blocks))


def _threads_along_path(schedule: Any, offsets: Numbers, blocks: int) -> tuple[int, Numbers]:
    threads = blocks * schedule.block
    total = len(offsets) - 1 + int(offsets[-1])
    return 1, _along_path(offsets, ceil_div(total, threads) if threads else 0, threads)


def _along_path(offsets: Numbers, share: int, count: int) -> Numbers:
    """Atoms in each of `count` pieces of the merge path, of `share` tiles and atoms each."""
    tiles = len(offsets) - 1
    cuts = np.minimum(np.arange(count + 1) * share, tiles + offsets[-1])
    ended = np.searchsorted(offsets[1:] + np.arange(tiles), cuts)
    return np.diff(cuts - ended)


def _nonzero(schedule: Any, offsets: Numbers, blocks: int) -> tuple[int, Numbers]:
    share = schedule.block * schedule.items
    return WARP, _of_warps(
        schedule, np.diff(np.minimum(np.arange(blocks + 1) * share, offsets[-1]))
    )


def _of_warps(schedule: Any, atoms: Numbers) -> Numbers:
    """Of the blocks' atoms, which their warps take one after the other, so many each as they have slots."""
    slots = WARP * schedule.items
    before = np.arange(schedule.block // WARP) * slots
    return np.clip(atoms[:, None] - before, 0, slots).reshape(-1)


def _dynamic(schedule: Any, offsets: Numbers, blocks: int) -> tuple[int, Numbers]:
    """Each chunk goes to the taker that is free first, the earlier one of several."""
    size, takers = schedule.size, blocks * takers_in_block(schedule.size, schedule.block)
    groups = 1 if size > WARP else WARP // size
    work = _of_groups(np.diff(offsets), schedule.chunk, groups)
    times = (-(-work // size)).max(axis=2).sum(axis=1)
    atoms = np.zeros((takers, groups), np.int64)
    free = [(0, taker) for taker in range(takers)]  # a heap: equal times in order
    for time, done in zip(times.tolist(), work.sum(axis=1), strict=True):
        since, taker = free[0]
        atoms[taker] += done
        heapq.heapreplace(free, (since + time, taker))
    return size, atoms.reshape(-1)


def _of_groups(sizes: Numbers, chunk: int, groups: int) -> Numbers:
    """What the groups of a taker get in each round of each chunk: (chunks, rounds, groups) int64."""
    chunks, rounds = ceil_div(len(sizes), chunk), ceil_div(chunk, groups)
    whole = np.zeros((chunks, rounds * groups), np.int64)
    place = np.arange(len(sizes))
    whole[place // chunk, place % chunk] = sizes
    return whole.reshape(chunks, rounds, groups)


def _binned(schedule: Any, offsets: Numbers, blocks: int) -> tuple[int, Numbers]:
    """A block's threads take a tile, or a tile a team; the longest first, to the blocks in turn (device/bins.cuh)."""
    sizes = np.diff(offsets)
    bits = np.frexp(sizes)[1]
    order = np.argsort(-bits, kind="stable")
    longest = [-n.bit_length() for n in (schedule.warp, schedule.group, schedule.thread)]
    classes = np.split(sizes[order], np.searchsorted(-bits[order], longest, "right"))
    out = np.zeros((blocks, schedule.block), np.int64)
    first = 0
    for size, tiles in zip((schedule.block, WARP, schedule.lanes, 1), classes, strict=True):
        turn, team = np.divmod(np.arange(len(tiles)), schedule.block // size)
        each, more = np.divmod(tiles, size)
        for rank in range(size if len(tiles) else 0):
            np.add.at(out, ((first + turn) % blocks, team * size + rank), each + (rank < more))
        first += ceil_div(len(tiles), schedule.block // size)
    return 1, out.reshape(-1)


_Divide = Callable[[Any, Numbers, int], tuple[int, Numbers]]
_BY_ENGINE: dict[str, _Divide] = {
    "merge": _merge,
    "nonzero": _nonzero,
    "flatten": _flat,
    "dynamic": _dynamic,
    "lrb": _binned,
}
_BY_CLASS: dict[type, _Divide] = {
    ThreadMapped: _a_tile_each,
    GroupMapped: _a_tile_each,
    WarpMapped: _a_tile_each,
    BlockMapped: _a_tile_each,
    WorkOriented: _threads_along_path,
}


# ---- schedules of the user's, walked ---------------------------------------------------------------
def _walked(schedule: Any, layout: Any, blocks: int, block: int) -> Numbers:
    """Atoms of each thread, (blocks * block,), by the schedule's own methods as plain Python."""
    size = schedule.size if schedule.owner == "group" else 1
    steps = blocks * block + int(layout.num_tiles) * size
    if steps > MOST_STEPS:
        raise InputError(
            f"the balance of {type(schedule).__name__}",
            expected=f"at most {MOST_STEPS:,} tiles and threads, since Python walks them one by one",
            given=f"{steps:,}",
            hint="profile some of the tiles: A.slice(range(1000))",
        )
    per_block = _per_block(size, block)
    whole = Partition(schedule, layout, blocks * per_block)
    atoms = np.zeros((blocks, block), np.int64)
    for group in range(blocks * per_block):
        place = _first_thread(group % per_block, size)
        for rank in range(size):
            atoms[group // per_block, place + rank] = sum(
                len(whole.atoms(group, tile, rank)) for tile in whole.tiles(group, rank)
            )
    return atoms.reshape(-1)


def _first_thread(group: int, size: int) -> int:
    """Where in its block a group begins: no small one straddles two warps (device/group.cuh)."""
    if size > 32:
        return group * ceil_div(size, 32) * 32
    per_warp = 32 // size
    return group // per_warp * 32 + group % per_warp * size
