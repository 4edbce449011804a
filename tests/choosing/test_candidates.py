"""Which schedules are worth measuring on a GPU."""

from __future__ import annotations

import pytest

import evenly as ev
from evenly.choosing.candidates import candidates, promising
from evenly.choosing.statistics import Statistics


def of(mean: float, greatest: int) -> Statistics:
    return Statistics(1000, int(1000 * mean), mean, greatest, 0.0, 0.0)


@pytest.mark.parametrize(
    ("schedule", "mean", "greatest", "worth"),
    [
        (ev.ThreadMapped(), 10, 2999, True),
        (ev.ThreadMapped(), 10, 3000, False),
        (ev.ThreadMapped(), 41, 41, False),
        (ev.GroupMapped(8), 10, 23_999, True),
        (ev.GroupMapped(8), 10, 24_000, False),
        (ev.GroupMapped(8, flatten=True), 10, 24_000, False),
        (ev.DynamicChunks(size=8), 10, 24_000, False),
        (ev.WarpMapped(), 0.1, 1, True),
        (ev.GroupMapped(64), 7.9, 8, False),
        (ev.GroupMapped(64), 8, 8, True),
        (ev.BlockMapped(), 1, 1, False),
        (ev.MergePath(), 10, 1_000_000, True),
        (ev.NonzeroSplit(), 10, 1_000_000, True),
        (ev.WorkOriented(), 10, 1_000_000, True),
        (ev.Lrb(), 10, 1_000_000, True),
    ],
)
def test_lanes_fit_tiles(schedule: ev.Schedule, mean: float, greatest: int, worth: bool) -> None:
    assert promising(schedule, of(mean, greatest)) == worth


def test_there_are_always_many() -> None:
    for mean in (0.01, 1, 30, 1e6):
        assert sum(promising(s, of(mean, int(40 * mean) + 1)) for s in candidates("cuda")) >= 15
