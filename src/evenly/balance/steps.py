"""Who takes each atom of a layout, and when: in the launch of a schedule (what `shares` counts), or in a partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.gpus.numbers import measured
from evenly.schedules.contract import Sizes
from evenly.targets.gpu.engine import Teams
from evenly.targets.gpu.engines import engine_of

from .balance import Numbers
from .shares import first_thread, group_size, walks, walks_of_launch


@dataclass(frozen=True, eq=False)
class Steps:
    """One schedule on one layout, in a launch or in a partition.

    blocks, block: the blocks, and the threads of each; a partition is one block.
    offsets: (tiles + 1,), where each tile begins.
    worker: (atoms,), the thread that takes each atom, counted through all blocks.
    step: (atoms,), how many atoms that thread takes before. All arrays are int64.
    """

    schedule: Any
    blocks: int
    block: int
    offsets: Numbers
    worker: Numbers
    step: Numbers


def steps(schedule: Any, layout: Any, offsets: Numbers, sizes: Sizes) -> Steps:
    """Follow `schedule` on a layout in CPU memory; the arguments are those of `shares`."""
    engine, block = engine_of(schedule), schedule.block
    blocks = engine.blocks(schedule, sizes, measured())
    teams = engine.teams(schedule, offsets, blocks)
    found = None if teams is not None else engine.shares(schedule, offsets, blocks)
    if teams is not None:
        taken = _in_teams(teams, offsets)
    elif found is not None:
        taken = _in_groups(*found, block)
    else:
        taken = followed(walks_of_launch(schedule, layout, blocks, block), int(layout.num_atoms))
    return Steps(schedule, blocks, block, offsets, *taken)


def steps_of_partition(schedule: Any, layout: Any, offsets: Numbers, processors: int) -> Steps:
    """Follow `schedule.partition(layout, processors)`. If tiles belong to groups, a processor has several threads."""
    size = group_size(schedule)
    walked = ((p * size + rank, atoms) for p, rank, atoms in walks(schedule, layout, processors))
    taken = followed(walked, int(layout.num_atoms))
    return Steps(schedule, 1, processors * size, offsets, *taken)


def _in_groups(size: int, atoms: Numbers, block: int) -> tuple[Numbers, Numbers]:
    """Groups of `size` lanes that take so many consecutive atoms each."""
    group, at = _within(atoms)
    step, rank = np.divmod(at, size)
    return first_thread(group, size, block) + rank, step


def _in_teams(teams: Teams, offsets: Numbers) -> tuple[Numbers, Numbers]:
    handed, at = _within(np.diff(offsets)[teams.tiles])
    atom = offsets[teams.tiles][handed] + at
    thread = teams.first[handed] + at % teams.size[handed]
    worker, step = np.empty_like(atom), np.empty_like(atom)
    worker[atom] = thread
    order = np.argsort(thread, kind="stable")
    _, step[atom[order]] = _within(np.bincount(thread))
    return worker, step


def followed(walked: Iterable[tuple[int, Any]], count: int) -> tuple[Numbers, Numbers]:
    """Walk threads through their atoms. walked: a thread, and the atoms of its next tile."""
    worker, step = np.zeros((2, count), np.int64)
    done: dict[int, int] = {}
    for thread, atoms in walked:
        for atom in atoms:
            worker[atom], step[atom] = thread, done.get(thread, 0)
            done[thread] = done.get(thread, 0) + 1
    return worker, step


def _within(counts: Numbers) -> tuple[Numbers, Numbers]:
    """Return, for the members of consecutive parts of these sizes, each one's part, and its place in that."""
    part = np.repeat(np.arange(len(counts)), counts)
    return part, np.arange(len(part)) - (np.cumsum(counts) - counts)[part]
