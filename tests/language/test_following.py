"""Which passes may follow the one before them at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from tests.emitting import emitted

SPLIT = ev.NonzeroSplit(block=64, items=4, run=4)


def names(kernel: Any, *more: Any, schedule: Any = SPLIT) -> list[str]:
    """What each main kernel of the phases calls, without its arguments."""
    offsets = np.array([0, 3, 3, 5], np.int32)
    arguments = ev.ragged(offsets), np.ones(5, np.float32), np.empty(5, np.float32), *more
    made = emitted(kernel, arguments, schedule)
    return [_called(k.source) for k in made if k.grid == "tiles"]


def _called(source: str) -> str:
    body = source[source.rindex("EV_KERNEL") :]
    return next(line.split("(")[0].strip() for line in body.splitlines() if "  ev::" in line)


SHARES = ["ev::stream_block<Phase, 64, 4, true>", "ev::follow_shared<Phase, 64, 4>"]


@ev.kernel
def shares(R, x, out):
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = x[k] / total


@ev.kernel
def weighted(R, x, out, w):
    """It reads another array, too."""
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        for k in R.atoms(t):
            part = w[k] * x[k]
            out[k] = part / total


@ev.kernel
def only_of_the_tile(R, x, out):
    for t in R.tiles():
        most = max((x[k] for k in R.atoms(t)), default=0.0)
        for k in R.atoms(t):
            out[k] = most


def test_a_pass_that_stores_at_its_atoms_follows() -> None:
    assert names(shares) == SHARES
    assert names(weighted, np.ones(5, np.float32)) == SHARES
    assert names(only_of_the_tile) == SHARES


@ev.kernel
def with_totals(R, x, out, totals):
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        totals[t] = total
        for k in R.atoms(t):
            out[k] = x[k] / total


@ev.kernel
def in_place(R, x, out):
    for t in R.tiles():
        total = sum(out[k] for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = x[k] / total


@ev.kernel
def turned(R, x, out):
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        for k in R.atoms(t):
            out[R.end(t) - 1 - k + R.begin(t)] = x[k] / total


@ev.kernel
def numbered(R, x, out):
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = total + t


@ev.kernel
def by_length(R, x, out):
    for t in R.tiles():
        mean = sum(x[k] for k in R.atoms(t)) / (R.end(t) - R.begin(t))
        for k in R.atoms(t):
            out[k] = x[k] - mean


@ev.kernel
def at_times(R, x, out):
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        for k in R.atoms(t):
            if x[k] > 0:
                out[k] = total


@ev.kernel
def used_again(R, x, out, totals):
    """A third pass needs what the first has left of each tile."""
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = x[k] / total
        totals[t] = sum(out[k] * total for k in R.atoms(t))


@ev.kernel
def looked_up(R, x, out, w):
    for t in R.tiles():
        last = max((w[k] for k in R.atoms(t)), default=0)
        for k in R.atoms(t):
            other = last - w[k]
            out[k] = x[other]


@ev.kernel
def divided(R, x, out, w):
    for t in R.tiles():
        total = sum(w[k] for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = w[k] // total


@pytest.mark.parametrize("kernel", [looked_up, divided], ids=lambda k: k.name)
def test_what_a_tile_leaves_is_no_index_and_no_divisor(kernel: Any) -> None:
    """Blocks compute the second pass at atoms of tiles that they share, too, with whatever is there."""
    assert not any("follow" in name for name in names(kernel, np.ones(5, np.int32)))


@pytest.mark.parametrize(
    "kernel",
    [with_totals, in_place, turned, numbered, by_length, at_times, used_again],
    ids=lambda k: k.name,
)
def test_others_have_a_launch_of_their_own(kernel: Any) -> None:
    more = (np.empty(3, np.float32),) if "totals" in kernel.parameters else ()
    assert not any("follow" in name or "true" in name for name in names(kernel, *more))


def test_it_is_for_blocks_that_load_in_runs() -> None:
    plain = ev.NonzeroSplit(block=64, items=4)
    assert not any("follow" in name for name in names(shares, schedule=plain))
    listed = ev.NonzeroSplit(block=64, items=4, run=4, hypersparse=True)
    assert not any("follow" in name for name in names(shares, schedule=listed))


@ev.kernel
def bounded(R, x, out):
    """A tile leaves two numbers, where it has been reduced to one."""
    for t in R.tiles():
        total = sum(x[k] for k in R.atoms(t))
        low, high = total - 1.0, total + 1.0
        for k in R.atoms(t):
            out[k] = min(max(x[k], low), high)


def test_it_needs_room_in_shared_memory() -> None:
    large = ev.NonzeroSplit(block=256, items=16, run=4)
    assert any("follow" in name for name in names(shares, schedule=large))
    assert any("follow" in name for name in names(bounded))
    assert not any("follow" in name for name in names(bounded, schedule=large))
