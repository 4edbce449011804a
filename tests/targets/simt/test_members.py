"""What the members of a group compute beside their leader: with its results where these decide, and never too early."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev

pytestmark = pytest.mark.simt

ROWS = ev.ragged(np.arange(0, 40 * 60, 60))
SCHEDULES = {
    "group 8": ev.GroupMapped(size=8, block=128),
    "group 12": ev.GroupMapped(size=12, block=128),
    "group 48": ev.GroupMapped(size=48, block=128),
    "group 64": ev.GroupMapped(size=64, block=128),
    "dynamic": ev.DynamicChunks(chunk=2, size=64, block=64),
    "lrb": ev.Lrb(block=64, lanes=4, thread=2, group=16, warp=32),
}


# Each compiles a kernel of its own.
EVERY = [
    n if n in ("group 8", "group 64", "lrb") else pytest.param(n, marks=pytest.mark.slow)
    for n in SCHEDULES
]


@ev.kernel
def until(R, x, table, y):
    """What an atomic returns ends a loop."""
    for r in R.tiles():
        old = 0
        while old < 3:
            old = ev.atomic_add(table, r, 1)
        y[r] = sum(x[k] for k in R.atoms(r)) + old


@ev.kernel
def collatz(R, x, table, y):
    """A sum ends a loop, which a part of it does not."""
    for r in R.tiles():
        n = sum(x[k] for k in R.atoms(r))
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        y[r] = steps


@ev.kernel
def looked_up(R, x, table, y):
    """A sum is an index, which a part of it is not."""
    for r in R.tiles():
        n = sum(x[k] for k in R.atoms(r))
        found = table[n - 60 + 1]
        y[r] = n + found


@ev.kernel
def divided(R, x, table, y):
    for r in R.tiles():
        n = 0
        for k in R.atoms(r):
            if k % 60 == 59:
                n += x[k]
        each = 120 // n
        y[r] = each


@ev.kernel
def counted_down(R, x, table, y):
    """A condition on a scratch array, which the pass that it guards changes."""
    for r in R.tiles():
        h = ev.scratch(1, np.int64)
        for k in R.atoms(r):
            ev.atomic_add(h, 0, x[k])
        n = 0
        while h[0] > 3:
            n += 1
            for k in R.atoms(r):
                if k % 60 < 40:
                    ev.atomic_add(h, 0, -1)
        y[r] = n * 1000 + h[0]


@ev.kernel
def read_first(R, x, table, y):
    """What was in a scratch array before a pass stored there."""
    for r in R.tiles():
        h = ev.scratch(64, np.int64)
        for k in R.atoms(r):
            h[k - R.begin(r)] = x[k]
        a = h[5]
        for k in R.atoms(r):
            h[k - R.begin(r)] = 7
        y[r] = a + sum(x[k] for k in R.atoms(r) if a == 1)


@ev.kernel
def marked(R, x, table, y):
    """What was in the tile's own element before its atoms stored there."""
    for r in R.tiles():
        before = table[r]
        for _ in R.atoms(r):
            table[r] = 5
        y[r] = before + 1


@ev.kernel
def numbered(R, x, table, y):
    """A pass computes with what an atomic around it has returned."""
    for r in R.tiles():
        old = ev.atomic_add(table, r, 1) + 7
        for k in R.atoms(r):
            x[k] = old
        y[r] = 1


@ev.kernel
def summed(R, x, bound, counts):
    """A sum over lanes of what others change."""
    for r in R.tiles():
        total = sum(bound[j] for j in ev.lanes(3))
        if total > r % 7:
            counts[r] = sum(x[k] for k in R.atoms(r))
            ev.atomic_min(bound, r % 3, 8 - r % 9)


@ev.kernel
def same_for_all(R, x, bound, counts):
    """All atoms compute with one value of what others change."""
    for r in R.tiles():
        b = bound[0]
        high = max((b for k in R.atoms(r)), default=0)
        low = min((b for k in R.atoms(r)), default=0)
        ev.atomic_min(bound, 0, 8 - r % 9)
        counts[r] = 60 * (high - low)


@ev.kernel
def guarded(R, x, bound, counts):
    """The pass that a condition guards changes what this reads."""
    for r in R.tiles():
        if bound[0] > r % 7:
            for k in R.atoms(r):
                ev.atomic_min(bound, k % 3, 8 - k % 9)
            counts[r] = sum(x[k] for k in R.atoms(r))


@ev.kernel
def repeated(R, x, bound, counts):
    for r in R.tiles():
        n = 0
        while n < bound[r % 3]:
            n += 1
            for k in R.atoms(r):
                ev.atomic_min(bound, k % 3, 8 - r % 9)
            counts[r] = sum(x[k] for k in R.atoms(r))


ALONE = [
    numbered, until, collatz, looked_up, divided, counted_down, read_first, marked,
]  # fmt: skip
TOGETHER = [summed, same_for_all, guarded, repeated]


def arguments() -> list[np.ndarray]:
    return [np.ones(40 * 60, np.int64), np.arange(64) % 2, np.zeros(39, np.int64)]


@pytest.mark.parametrize("schedule", EVERY)
@pytest.mark.parametrize("kernel", ALONE, ids=lambda k: k.name)
def test_members_compute_with_whole_results(kernel: ev.Kernel, schedule: str) -> None:
    wanted = arguments()
    kernel.on("python")(ROWS, *wanted)
    for seed in range(4):
        found = arguments()
        kernel[SCHEDULES[schedule]].on("simt", seed=seed)(ROWS, *found)
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("schedule", EVERY)
@pytest.mark.parametrize("kernel", TOGETHER, ids=lambda k: k.name)
def test_members_agree_on_what_others_change(kernel: ev.Kernel, schedule: str) -> None:
    for seed in range(6):
        x, bound, counts = np.ones(40 * 60, np.int64), np.full(3, 9), np.zeros(39, np.int64)
        kernel[SCHEDULES[schedule]].on("simt", seed=seed)(ROWS, x, bound, counts)
        assert set(counts.tolist()) <= {0, 60}
