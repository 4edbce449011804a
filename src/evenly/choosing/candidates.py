"""The schedules that are tried by measuring: by `plan.tune()`, and by the benchmarks to find the best one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from evenly import schedules as s
from evenly import targets
from evenly.errors import InputError
from evenly.language.ir import Program
from evenly.layouts.contract import LayoutInstance
from evenly.schedules.nested import levels, misfit
from evenly.targets.gpu.engines import engine_of

from .auto import weighed
from .statistics import Statistics, statistics
from .task import Task

# The parameters to try on a GPU, in addition to each schedule's defaults.
GRID: tuple[s.Schedule, ...] = (
    s.ThreadMapped(128),
    s.ThreadMapped(128, items=3),
    *(s.GroupMapped(n) for n in (2, 4, 8, 16, 64)),
    *(s.GroupMapped(n, items=6) for n in (2, 4, 8, 16, 32, 64)),
    *(s.GroupMapped(n, items=run, run=run) for n in (2, 4, 8, 16, 32) for run in (4, 8)),
    *(s.GroupMapped(n, 512, items=items) for n in (128, 256) for items in (4, 6)),
    s.GroupMapped(8, flatten=True),
    s.MergePath(256, 4, min_blocks=5),
    s.MergePath(min_blocks=4),
    s.MergePath(128, 4, min_blocks=10, carveout=7),
    s.MergePath(128, 6, min_blocks=8, carveout=14),
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
    s.NonzeroSplit(128, 8),
    s.NonzeroSplit(128, 7),
    s.NonzeroSplit(128, 11),
    s.NonzeroSplit(128, 16),
    s.NonzeroSplit(256, 16),
    s.NonzeroSplit(512, 4),
    s.NonzeroSplit(128, 4, min_blocks=16, run=4),
    s.NonzeroSplit(128, 8, min_blocks=12, run=4),
    s.NonzeroSplit(512, 8, min_blocks=3, run=4),
    s.NonzeroSplit(128, 16, min_blocks=10, run=4),
    s.NonzeroSplit(128, 8, run=2),
    s.NonzeroSplit(128, 16, run=2),
    s.NonzeroSplit(128, 4, hypersparse=True),
    s.NonzeroSplit(128, 8, hypersparse=True),
    s.NonzeroSplit(256, 2, hypersparse=True),
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


KINDS = ("owned", "merge", "nonzero", "nonzero, runs", "bins")  # each is the fastest for some work


def ranked(layout: LayoutInstance | None, target: str, task: Task) -> tuple[s.Schedule, ...]:
    """Return every schedule to try, once each, the most promising first, for who has not the time for all.

    The choice of `auto` comes first. A prediction is often wrong about a whole kind of schedules, and seldom about the
    order within one. So the most promising of each other kind follow, then what else `auto` weighs, then the rest.
    Of built-in schedules that are the same on a CPU, the first is among them.
    """
    chosen, *others = weighed(layout, target, task)
    rest = candidates(target, task.items)
    if targets.find(target).gpu:
        st = statistics(layout) if layout is not None else None
        rest = tuple(sorted(rest, key=lambda x: st is not None and not promising(x, st)))
    else:
        first = {divided_on_cpu(schedule): schedule for schedule in reversed(rest)}
        rest = tuple(schedule for schedule in rest if schedule in first.values())
    every = set(rest)
    usual = [*(x for x in GRID if x in every), *rest]
    best = {kind_of(schedule): schedule for schedule in reversed([chosen, *others, *usual])}
    leaders = [best[kind] for kind in KINDS if kind in best]
    return tuple(dict.fromkeys([chosen, *leaders, *others, *rest]))


def kind_of(schedule: s.Schedule) -> str:
    """Return the kind of a schedule: its engine, and whether lanes that share atoms take runs of them."""
    runs = schedule.engine == "nonzero" and getattr(schedule, "run", 1) > 1
    return f"{schedule.engine}{', runs' * runs}"


def divided_on_cpu(schedule: s.Schedule) -> str:
    """Return all that target `cpu` looks at in a built-in schedule. A worker is one lane, and walks in order."""
    return "whole tiles" if schedule.owns_tiles else engine_of(schedule).on_cpu


def promising(schedule: s.Schedule, st: Statistics) -> bool:
    """Whether a schedule may be among the fastest on a GPU, for tiles with these statistics.

    Schedules whose groups of lanes own tiles are not if a lane has to walk MOST_WALKED atoms of one, or if the lanes
    are far too few or too many for tiles of the mean length. They would take most of the time of a measurement. A list
    of the tiles that have atoms needs others.
    """
    if getattr(schedule, "hypersparse", False):
        return st.empty > 0
    if schedule.engine not in BY_LANES:
        return True
    lanes: int = getattr(schedule, "size", 1)
    return st.greatest < MOST_WALKED * lanes and st.mean / 40 <= lanes <= 8 * max(st.mean, 4)


def can_run(program: Program) -> Callable[[s.Schedule], bool]:
    """Return whether the program runs under a schedule: some need one that owns whole tiles, or hands out items.

    What that takes of the program, which is cut for it, is found out once.
    """
    from evenly.language.cutting import needs_whole_tiles  # late, so that `import evenly` is quick
    from evenly.language.item_cutting import can_split

    splits = functools.cache(lambda: needs_whole_tiles(program) is None)
    splits_items = functools.cache(lambda: can_split(program))

    def able(schedule: s.Schedule) -> bool:
        whole = schedule.owns_tiles or splits()
        inside = levels(schedule)[1].owns_tiles or splits_items()
        return whole and inside and misfit(schedule, program) is None

    return able


def several(given: Any) -> list[s.Schedule]:
    """Return schedules for one name, class or schedule, or for any number of them.

    Raises InputError for anything else.
    """
    if given == "auto":
        expected = f"schedules to measure, or their names ({', '.join(s.TABLE)})"
        raise InputError("candidates", expected=expected, given="'auto'")
    one = isinstance(given, str | type | s.Schedule) or not isinstance(given, Iterable)
    return [s.by_name(item) for item in ([given] if one else given)]
