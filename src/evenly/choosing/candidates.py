"""The schedules that are tried by measuring: by `plan.tune()`, and by the benchmarks to find the best one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenly import schedules as s
from evenly import targets
from evenly.errors import InputError
from evenly.language.ir import Program
from evenly.schedules.nested import levels, misfit

from .statistics import Statistics

# The parameters to try on a GPU, in addition to each schedule's defaults.
GRID: tuple[s.Schedule, ...] = (
    s.ThreadMapped(128),
    s.ThreadMapped(128, items=3),
    *(s.GroupMapped(n) for n in (2, 4, 8, 16, 64)),
    *(s.GroupMapped(n, items=6) for n in (2, 4, 8, 16, 32, 64)),
    *(s.GroupMapped(n, items=run, run=run) for n in (2, 4, 8, 16, 32) for run in (4, 8)),
    *(s.GroupMapped(n, 512, items=items) for n in (128, 256) for items in (4, 6)),
    s.GroupMapped(8, flatten=True),
    s.MergePath(min_blocks=4),
    s.MergePath(128, 4, min_blocks=10, carveout=7),
    s.MergePath(128, 6, min_blocks=8, carveout=14),
    s.MergePath(256, 4, min_blocks=5),
    s.MergePath(256, 4, carveout=7),
    s.MergePath(256, 6, min_blocks=5, carveout=28),
    s.MergePath(512, 4, carveout=7),
    s.MergePath(512, 4, min_blocks=3, carveout=7),
    s.MergePath(128, 5),
    s.MergePath(128, 5, min_blocks=8),
    s.MergePath(128, 7),
    s.MergePath(128, 13),
    s.MergePath(256, 5),
    s.MergePath(512, 3),
    s.NonzeroSplit(128, 7),
    s.NonzeroSplit(128, 8),
    s.NonzeroSplit(128, 11),
    s.NonzeroSplit(128, 16),
    s.NonzeroSplit(256, 7),
    s.NonzeroSplit(256, 16),
    s.NonzeroSplit(512, 4),
    s.NonzeroSplit(128, 8, min_blocks=12, run=4),
    s.NonzeroSplit(128, 16, min_blocks=10, run=4),
    s.NonzeroSplit(128, 8, run=2),
    s.NonzeroSplit(128, 16, run=2),
    s.Lrb(block=512),
    s.Lrb(block=512, items=1),
    s.Lrb(items=1),
    s.Lrb(512, thread=16, group=128),
)

# The same for kernels with loops over items, which only these can run.
ITEMS: tuple[s.Schedule, ...] = (
    *(s.Nested(s.BlockMapped(n), s.GroupMapped(m)) for n in (64, 256) for m in (2, 4, 8, 32)),
    *(s.Nested(s.BlockMapped(n), s.ThreadMapped(items=items)) for n, items in ((64, 1), (256, 5))),
    s.Nested(s.BlockMapped(128), s.NonzeroSplit(128, 8)),
    *(s.Nested(s.GroupMapped(n), s.ThreadMapped(items=1)) for n in (8, 32)),
    *(s.Nested(s.WarpMapped(), s.GroupMapped(m)) for m in (2, 4, 8)),
)

BY_LANES = (
    "owned",
    "flatten",
    "dynamic",
)  # engines of schedules that give a tile a fixed number of lanes
MOST_WALKED = 3000


def candidates(target: str, items: bool = False) -> tuple[s.Schedule, ...]:
    """Return every schedule to try, once each. GRID is for GPUs only: a CPU has no blocks.

    items: for kernels with loops over items. On a CPU a worker walks whole items, whatever the schedule is.
    """
    if items:
        return (s.ThreadMapped(), *(ITEMS if targets.find(target).gpu else ()))
    own = [entry.make() for entry in s.TABLE.values()]
    return tuple(dict.fromkeys([*own, *(GRID if targets.find(target).gpu else ())]))


def promising(schedule: s.Schedule, st: Statistics) -> bool:
    """Whether a schedule may be among the fastest on a GPU, for tiles with these statistics.

    Schedules whose groups of lanes own tiles are not if a lane has to walk MOST_WALKED atoms of one, or if the lanes
    are far too few or too many for tiles of the mean length. They would take most of the time of a measurement.
    """
    if schedule.engine not in BY_LANES:
        return True
    lanes: int = getattr(schedule, "size", 1)
    return st.greatest < MOST_WALKED * lanes and st.mean / 40 <= lanes <= 8 * max(st.mean, 4)


def can_run(schedule: s.Schedule, program: Program) -> bool:
    """Whether a program runs under a schedule: some need one that owns whole tiles, or hands out items."""
    from evenly.language.cutting import needs_whole_tiles  # late, so that `import evenly` is quick
    from evenly.language.item_cutting import can_split

    whole = schedule.owns_tiles or needs_whole_tiles(program) is None
    inside = levels(schedule)[1].owns_tiles or can_split(program)
    return whole and inside and misfit(schedule, program) is None


def several(given: Any) -> list[s.Schedule]:
    """Return schedules for one name, class or schedule, or for any number of them.

    Raises InputError for anything else.
    """
    if given == "auto":
        expected = f"schedules to measure, or their names ({', '.join(s.TABLE)})"
        raise InputError("candidates", expected=expected, given="'auto'")
    one = isinstance(given, str | type | s.Schedule) or not isinstance(given, Iterable)
    return [s.by_name(item) for item in ([given] if one else given)]
