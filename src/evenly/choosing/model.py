"""Predict the cost of a schedule on a GPU, in microseconds, from the statistics of the tiles.

There are four formulas: for groups that own whole tiles (also with runs of adjacent atoms), for tiles and atoms
divided evenly, and for tiles in bins. Their numbers are in the data file of the architecture. benchmarks/fit_auto.py
fitted them to measured SpMVs and to measured kernels that gather nothing. They only have to put schedules in the
right order.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenly import schedules as s
from evenly.gpus.gpu import WARP

from .statistics import Statistics
from .task import SPMV, Task, fits

Numbers = Mapping[str, float]

LANES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ITEMS = (4, 6)  # how many atoms a lane of a group loads at once
ITEMS_ALONE = (3, 5)
RUNS, RUN_BYTES = (4, 8), 32  # atoms of a run, and the most bytes of its values


def predicted(
    st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV
) -> dict[s.Schedule, float]:
    """Predict the microseconds of each candidate that can run the task: an SpMV, or a kernel that streams."""
    costs = streaming_costs(numbers["streaming"], task) if task.streams else numbers
    regular = bool(st.spread <= numbers["regular_spread"])
    found = dict(quickest(st, regular, lanes, costs["groups"]) for lanes in LANES)
    if task.runs and bound_by_bytes(st, numbers):
        least = (numbers["streaming"] if task.streams else numbers)["run_lanes"]
        found |= {run: run_time(st, run, costs["runs"]) for run in runs(task.width, least)}
    if task.kept and not regular:  # only in plans: one-shot calls would sort each time
        sorts = bins(st, numbers, task)
        found[sorts] = bins_time(st, sorts, costs["bins"])
    if not task.whole_tiles:
        found[split(st, numbers, task)] = split_time(st, costs["split"])
    return found


def streaming_costs(numbers: Mapping[str, Any], task: Task) -> dict[str, Numbers]:
    """Return the numbers for a kernel that streams: larger values cost more.

    heavier: by which factor these numbers grow for each 8 bytes of a value beyond the first.
    """
    more = max(0, task.value_bytes - 8) / 8
    return {
        table: {
            name: value * (1 + more * (numbers["heavier"].get(f"{table}_{name}", 1.0) - 1))
            for name, value in numbers[table].items()
        }
        for table in ("groups", "runs", "bins", "split")
    }


def by_columns(
    st: Statistics, numbers: Mapping[str, Any], times: Mapping[s.Schedule, float], task: Task = SPMV
) -> dict[s.Schedule, float]:
    """Return the times over slots that are stored column by column.

    Threads that own a row each read adjacent slots. Those of a group that share a row read slots that are far apart,
    so no group is a candidate.
    """
    costs = streaming_costs(numbers["streaming"], task) if task.streams else numbers
    regular = bool(st.spread <= numbers["regular_spread"])
    found = {k: us for k, us in times.items() if not isinstance(k, s.GroupMapped | s.ThreadMapped)}
    return found | dict([quickest(st, regular, 1, {**costs["groups"], "scatter": 0.0})])


def bound_by_bytes(st: Statistics, numbers: Mapping[str, Any]) -> bool:
    """Whether runs of adjacent atoms may pay: there are many atoms, in tiles of about equal length."""
    regular = st.spread <= numbers["regular_spread"]
    return bool(regular and st.atoms >= numbers["bound_by_bytes"])


def may_be_bound_by_gathers(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> bool:
    """Whether it matters how far apart columns are: there are many atoms, in regular tiles that are not short.

    (MergePath divides other tiles in any case. With short tiles, a warp gathers for enough of them at once.)
    """
    n = numbers["gathers"]
    regular = st.spread <= numbers["regular_spread"]
    splits = not task.streams and not task.whole_tiles and can_be_in_flight(numbers, task)
    return bool(splits and regular and st.atoms >= n["atoms"] and st.mean >= n["mean"])


def bound_by_gathers(
    st: Statistics, numbers: Mapping[str, Any], times: Mapping[s.Schedule, float]
) -> dict[s.Schedule, float]:
    """Return the times if every atom waits for an L2 sector of its own: least for the schedule with most in flight."""
    n = numbers["gathers"]
    found = {schedule: max(us, st.atoms * n["atom"]) for schedule, us in times.items()}
    return found | {most_in_flight(numbers): st.atoms * n["in_flight"]}


def most_in_flight(numbers: Mapping[str, Any]) -> s.NonzeroSplit:
    """Return the schedule that keeps most loads in flight."""
    return s.NonzeroSplit(*numbers["most_in_flight"][1:])


def can_be_in_flight(numbers: Mapping[str, Any], task: Task) -> bool:
    """Whether values are small enough to keep that many in flight: large ones in shared memory allow fewer blocks."""
    return bool(task.exchanged <= numbers["most_in_flight"][0])


def split(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> s.Schedule:
    """Choose MergePath, or NonzeroSplit if most tiles are empty, or if few tiles hold most of many atoms."""
    if st.empty > numbers["mostly_empty"]:
        return s.NonzeroSplit()
    if task.streams:
        return largest_share(st, numbers["streaming"]["shares"], task)
    few = most_in_few(st, numbers) or long_in_small(st, numbers, task)
    if few and can_be_in_flight(numbers, task):
        return most_in_flight(numbers)
    return largest_share(st, numbers["shares"], task)


def most_in_few(st: Statistics, numbers: Mapping[str, Any]) -> bool:
    """Whether there are many atoms, and few tiles hold most of them. Adjacent threads then gather adjacent entries."""
    own = st.mean * (1 + st.spread**2)  # the mean, over atoms, of the length of their tile
    return bool(st.atoms > numbers["many_atoms"] and own > numbers["few_tiles"] * st.atoms)


def long_in_small(st: Statistics, numbers: Mapping[str, Any], task: Task) -> bool:
    """Whether long tiles gather from a vector that is small enough to stay in cache, which needs narrow values.

    The length of the vector is not known here. In most such matrices it has about as many entries as there are tiles.
    """
    n = numbers["near"]
    small = st.tiles <= n["tiles"] and task.width <= n["width"]
    return bool(small and st.atoms >= n["atoms"] and st.mean >= n["mean"])


def largest_share(st: Statistics, shares: Sequence[Sequence[Any]], task: Task) -> s.MergePath:
    """Return MergePath by the last of the rows for such large values and so many items that fits."""
    able = [
        s.MergePath(*share)
        for largest, least, *share in shares
        if task.exchanged <= largest and st.tiles + st.atoms >= least
    ]
    return next((m for m in reversed(able) if fits(m, task)), able[0])


@functools.cache
def groups(lanes: int) -> tuple[s.ThreadMapped | s.GroupMapped, ...]:
    """Return schedules that give a whole tile to so many lanes, for each number of atoms that a lane loads at once."""
    if lanes == 1:
        return tuple(s.ThreadMapped(128, items=items) for items in ITEMS_ALONE)
    return tuple(s.GroupMapped(lanes, 512 if lanes > 64 else 256, items=items) for items in ITEMS)


@functools.cache
def runs(width: int, least: int) -> tuple[s.GroupMapped, ...]:
    """Return schedules for whole tiles with runs of adjacent atoms, for groups of `least` lanes up to a warp.

    width: bytes of a value.
    """
    shapes = itertools.product((n for n in LANES if least <= n <= WARP), RUNS)
    return tuple(
        s.GroupMapped(lanes, items=run, run=run)
        for lanes, run in shapes
        if run * width <= RUN_BYTES
    )


def quickest(st: Statistics, regular: bool, lanes: int, n: Numbers) -> tuple[s.Schedule, float]:
    """Return the fastest of `groups`, and its time."""
    times = {
        schedule: group_time(st, regular, lanes, schedule.items, n) for schedule in groups(lanes)
    }
    return min(times.items(), key=lambda item: item[1])


def group_time(st: Statistics, regular: bool, lanes: int, items: int, n: Numbers) -> float:
    """Predict the sum of a launch, the work of all warps, the memory traffic, and the lane with the longest tile.

    n: base: a launch. warp: a warp that starts; `hidden` of this time costs nothing, and empty tiles save the share
    `empty` of it. byte: a byte that is moved. scatter: how much more that costs if a lane's atoms are not adjacent.
    idle: how much more if lanes load past the end of tiles of about equal length. round: the next `items` of a lane.
    step: its next atom. wide: what several warps of a group wait for each other.
    """
    greatest, mean = max(st.greatest, math.ceil(st.mean)), max(st.mean, 1.0)
    at_once = lanes * items
    warps = st.tiles * lanes / WARP * n["warp"] * (1 - n["empty"] * st.empty)
    moved = 8 * (st.atoms + st.tiles) * n["byte"]
    scattered = 1 + n["scatter"] * max(0.0, st.mean / lanes - items)
    asked = math.ceil(round(mean / at_once, 3)) * at_once if regular else mean
    idle = 1 + n["idle"] * (asked / mean - 1)
    alone = n["round"] * math.ceil(greatest / at_once) + n["step"] * math.ceil(greatest / lanes)
    meets = n["wide"] if lanes > WARP else 0.0
    return float(
        n["base"] + max(0.0, warps - n["hidden"]) + moved * scattered * idle + alone + meets
    )


def run_time(st: Statistics, schedule: s.GroupMapped, n: Numbers) -> float:
    """Predict the time for tiles of about equal length, if memory traffic limits it.

    n: byte: a byte that is moved. idle: how much more that costs if lanes load past the end of tiles. apart: how much
    more for each further run of a lane, because the loads of the warp are then in pieces. warp: a warp that starts.
    again: the further runs of its lanes.
    """
    at_once, mean = schedule.size * schedule.run, max(st.mean, 1.0)
    rounds = math.ceil(round(mean / at_once, 3))
    warps = st.tiles * schedule.size / WARP * (n["warp"] + n["again"] * (rounds - 1))
    moved = 8 * (st.atoms + st.tiles) * n["byte"]
    more = n["idle"] * (rounds * at_once / mean - 1) + n["apart"] * (rounds - 1)
    return float(warps + moved * (1 + more))


def bins(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> s.Lrb:
    """Return Lrb. If most tiles are empty, the others are short, and lanes load one atom at a time."""
    block, lanes, thread, group = numbers["bin_sizes"]
    if st.empty > numbers["mostly_empty"]:
        return s.Lrb(block, lanes, thread, group, items=1)
    if task.streams:
        block, lanes, thread, group = numbers["streaming"]["bin_sizes"]
    return s.Lrb(block, lanes, thread, group)


def bins_time(st: Statistics, schedule: s.Lrb, n: Numbers) -> float:
    """Predict the time of Lrb.

    n: base: a launch, and sorting into bins. tile: a tile; most of them are empty. atom: an atom. step: the next atom
    of a thread in the longest tile.
    """
    teams = ((schedule.thread, 1), (schedule.group, schedule.lanes), (schedule.warp, WARP))
    team = next((lanes for longer, lanes in teams if st.greatest < longer), schedule.block)
    alone = n["step"] * st.greatest / team
    return float(n["base"] + n["tile"] * st.tiles + n["atom"] * st.atoms + alone)


def split_time(st: Statistics, n: Numbers) -> float:
    """Predict the time of a split. n: base: a launch, and joining tiles. item: a tile or an atom."""
    return float(n["base"] + n["item"] * (st.tiles + st.atoms))
