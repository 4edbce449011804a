"""The warps of a group do the same, also where others change meanwhile what a condition reads."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev

pytestmark = pytest.mark.simt

ROWS = ev.ragged(np.arange(0, 40 * 60, 60))


@ev.kernel
def below(R, x, bound, counts):
    """What comes after the bound is read waits for all members of the group."""
    for r in R.tiles():
        if bound[0] > r % 7:
            counts[r] = sum(x[k] for k in R.atoms(r))
            ev.atomic_min(bound, 0, 8 - r % 9)


@ev.kernel
def as_often(R, x, bound, counts):
    for r in R.tiles():
        known = ev.local(1, np.int64)
        known[0] = bound[0]
        n = 0
        while n < bound[0]:
            n += 1
            ev.atomic_min(bound, 0, 8 - r % 9)
            counts[r] = sum(x[k] for k in R.atoms(r))
        for _ in range(known[0] - bound[0]):
            counts[r] = sum(x[k] for k in R.atoms(r))


@ev.kernel
def flood(T, grid, width):
    """Fill what is connected, with a look before each atomic."""
    for t in T.tiles():
        cell = T.cell(t)
        for side in range(4):
            x = cell % width + (1 if side == 0 else -1 if side == 1 else 0)
            y = cell // width + (1 if side == 2 else -1 if side == 3 else 0)
            if 0 <= x < width and 0 <= y < width:
                other = y * width + x
                if grid[other] == 0 and ev.atomic_max(grid, other, 1) == 0:
                    T.push(other)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", [below, as_often], ids=lambda k: k.name)
@pytest.mark.parametrize("size", [48, 64])
def test_warps_of_a_group_agree(kernel: ev.Kernel, size: int, seed: int) -> None:
    x, bound, counts = np.ones(40 * 60, np.int64), np.full(1, 9), np.zeros(39, np.int64)
    schedule = ev.GroupMapped(size=size, block=128)
    kernel[schedule].on("simt", seed=seed)(ROWS, x, bound, counts)
    assert set(counts.tolist()) <= {0, 60}


@pytest.mark.parametrize("schedule", [ev.TaskPool, ev.WorkStealing])
def test_warps_of_a_task_agree(schedule: type[ev.Schedule]) -> None:
    width = 16
    walls = np.where(np.random.default_rng(5).random(width * width) < 0.3, 2, 0).astype(np.int32)
    walls[136] = 1
    grids = [walls.copy(), walls.copy()]
    for grid, target in zip(grids, ("python", "simt"), strict=True):
        tasks = ev.tasks(cell=np.int32, first=[136], capacity=256)
        flood[schedule(size=48, block=64)].on(target)(tasks, grid, width)
    assert grids[0].tolist() == grids[1].tolist()
    assert (grids[0] == 1).sum() > 100
