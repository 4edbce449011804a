"""Count the atoms of each group of threads, for the launch of a schedule.

Most engines hand out atoms in one way: a group of lanes takes consecutive atoms (or a tile)
together, and lane r takes every size-th of them from r on. A single thread is a group of one. In
the engines that split tiles (`merge`, `nonzero`) the group is the warp, and a lane's atoms are those
that it loads. So an array of counts is enough. Engines that hand out whole tiles in an order of their
own (`bins`, `dynamic`) say who takes each tile, and their groups are single threads.
tests/balance/test_shares.py compares it with `Partition` and with plain loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.gpus.gpu import WARP
from evenly.gpus.numbers import measured
from evenly.schedules.contract import Sizes, ceil_div
from evenly.schedules.group_mapped import groups_in_block
from evenly.schedules.partition import Partition, Walked
from evenly.targets.gpu.engines import engine_of

from .balance import Numbers

MOST_STEPS = 200_000  # what Python walks in a few seconds


@dataclass(frozen=True, eq=False)
class Shares:
    """The atoms of each group, in the order of the launch: (blocks * per_block,) int64.

    size: lanes of a group. block: threads of a block. per_block: groups of a block.
    """

    atoms: Numbers
    size: int
    blocks: int
    block: int

    @property
    def per_block(self) -> int:
        return groups_in(self.size, self.block)


def shares(schedule: Any, layout: Any, offsets: Numbers, sizes: Sizes) -> Shares:
    """Count the shares of `schedule` on a layout in CPU memory.

    offsets: (tiles + 1,) int64, where its tiles begin. sizes: what `launch` gets.
    Raises InputError for a user's schedule on more than MOST_STEPS tiles and threads.
    """
    engine, block = engine_of(schedule), schedule.block
    blocks = engine.blocks(schedule, sizes, measured())
    found = engine.shares(schedule, offsets, blocks)
    if found is None:
        return Shares(_walked(schedule, layout, blocks, block), 1, blocks, block)
    size, atoms = found
    whole = np.zeros(blocks * groups_in(size, block), np.int64)
    whole[: len(atoms)] = atoms
    return Shares(whole, size, blocks, block)


def groups_in(size: int, block: int) -> int:
    """Return how many groups of so many threads a block has."""
    return block if size == 1 else groups_in_block(size, block)


# ---- schedules of the user's, walked ---------------------------------------------------------------
def _walked(schedule: Any, layout: Any, blocks: int, block: int) -> Numbers:
    """Count the atoms of each thread, (blocks * block,)."""
    atoms = np.zeros(blocks * block, np.int64)
    for thread, taken in walks_of_launch(schedule, layout, blocks, block):
        atoms[thread] += len(taken)
    return atoms


def walks_of_launch(
    schedule: Any, layout: Any, blocks: int, block: int
) -> Iterator[tuple[int, Walked]]:
    """Yield a thread of a launch and the atoms of its next tile, by the schedule's own methods as plain Python."""
    size = group_size(schedule)
    for group, rank, atoms in walks(schedule, layout, blocks * groups_in(size, block)):
        yield first_thread(group, size, block) + rank, atoms


def walks(schedule: Any, layout: Any, processors: int) -> Iterator[tuple[int, int, Walked]]:
    """Yield (processor, rank, atoms of its next tile), as `partition` says. Raises InputError beyond MOST_STEPS."""
    size = group_size(schedule)
    steps = (processors + int(layout.num_tiles)) * size
    if steps > MOST_STEPS:
        raise InputError(
            f"the balance of {type(schedule).__name__}",
            expected=f"at most {MOST_STEPS:,} tiles and threads, since Python walks them one by one",
            given=f"{steps:,}",
            hint="profile some of the tiles: A.slice(range(1000))",
        )
    whole = Partition(schedule, layout, processors).keeping()
    for processor in range(processors):
        for rank in range(size):
            for tile in whole.tiles(processor, rank):
                yield processor, rank, whole.atoms(processor, tile, rank)


def group_size(schedule: Any) -> int:
    """Return the threads of a processor of the schedule's partition."""
    return int(schedule.size) if schedule.owner == "group" else 1


def first_thread(group: Any, size: int, block: int) -> Any:
    """Return the first thread of a group, or of an array of them, among all threads of a launch.

    A small group never straddles two warps (device/group.cuh).
    """
    per_block = groups_in(size, block)
    among = group % per_block
    if size > WARP:
        place = among * ceil_div(size, WARP) * WARP
    else:
        per_warp = WARP // size
        place = among // per_warp * WARP + among % per_warp * size
    return group // per_block * block + place
