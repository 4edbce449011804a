"""What a schedule costs: microseconds on a GPU, from the statistics of the tiles.

Four formulas: for whole tiles that belong to groups, also by runs of atoms, for tiles and atoms divided evenly, and
for tiles in bins. The numbers are in the data file of the architecture, fitted by benchmarks/fit_auto.py to measured
SpMVs and to measured kernels that gather nothing. They only have to put schedules in the right order.
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
ITEMS = (4, 6)  # that a lane of several asks for at once
ITEMS_ALONE = (3, 5)
RUNS, RUN_BYTES = (4, 8), 32  # atoms side by side, and the most bytes that values have of a run


def predicted(
    st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV
) -> dict[s.Schedule, float]:
    """Microseconds of each candidate, for an SpMV, or for a kernel that streams, of those that can run the task."""
    costs = streaming_costs(numbers["streaming"], task) if task.streams else numbers
    regular = bool(st.spread <= numbers["regular_spread"])
    found = dict(quickest(st, regular, lanes, costs["groups"]) for lanes in LANES)
    if task.runs and bound_by_bytes(st, numbers):
        least = (numbers["streaming"] if task.streams else numbers)["run_lanes"]
        found |= {run: run_time(st, run, costs["runs"]) for run in runs(task.width, least)}
    if task.kept and not regular:  # once: one-shot calls would sort each time
        sorts = bins(st, numbers, task)
        found[sorts] = bins_time(st, sorts, costs["bins"])
    if not task.whole_tiles:
        found[split(st, numbers, task)] = split_time(st, costs["split"])
    return found


def streaming_costs(numbers: Mapping[str, Any], task: Task) -> dict[str, Numbers]:
    """The tables of a kernel that streams: what is done with a value costs more, the larger it is.

    heavier: how many times as much for each 8 bytes beyond the first, of these numbers.
    """
    more = max(0, task.value_bytes - 8) / 8
    return {
        table: {
            name: value * (1 + more * (numbers["heavier"].get(f"{table}_{name}", 1.0) - 1))
            for name, value in numbers[table].items()
        }
        for table in ("groups", "runs", "bins", "split")
    }


def bound_by_bytes(st: Statistics, numbers: Mapping[str, Any]) -> bool:
    """Whether runs of atoms side by side may pay: of many atoms, in tiles of about equal length."""
    regular = st.spread <= numbers["regular_spread"]
    return bool(regular and st.atoms >= numbers["bound_by_bytes"])


def may_be_bound_by_gathers(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> bool:
    """Whether it matters how far apart columns are: of many atoms, in regular tiles that are not short.

    (The other tiles are divided by MergePath in any case; short ones leave a warp enough of them.)
    """
    n = numbers["gathers"]
    regular = st.spread <= numbers["regular_spread"]
    splits = not task.streams and not task.whole_tiles and can_be_in_flight(numbers, task)
    return bool(splits and regular and st.atoms >= n["atoms"] and st.mean >= n["mean"])


def bound_by_gathers(
    st: Statistics, numbers: Mapping[str, Any], times: Mapping[s.Schedule, float]
) -> dict[s.Schedule, float]:
    """The times where every atom waits for a sector of its own out of L2: least with most of them in flight."""
    n = numbers["gathers"]
    found = {schedule: max(us, st.atoms * n["atom"]) for schedule, us in times.items()}
    return found | {most_in_flight(numbers): st.atoms * n["in_flight"]}


def most_in_flight(numbers: Mapping[str, Any]) -> s.NonzeroSplit:
    """The schedule that keeps most loads in flight."""
    return s.NonzeroSplit(*numbers["most_in_flight"][1:])


def can_be_in_flight(numbers: Mapping[str, Any], task: Task) -> bool:
    """Whether values are small enough for that: in shared memory they take the place of blocks."""
    return bool(task.exchanged <= numbers["most_in_flight"][0])


def split(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> s.Schedule:
    """MergePath; by atoms where most tiles are empty, or where there are many of them, most in few tiles."""
    if st.empty > numbers["mostly_empty"]:
        return s.NonzeroSplit()
    if task.streams:
        return largest_share(st, numbers["streaming"]["shares"], task)
    few = most_in_few(st, numbers) or long_in_small(st, numbers, task)
    if few and can_be_in_flight(numbers, task):
        return most_in_flight(numbers)
    return largest_share(st, numbers["shares"], task)


def most_in_few(st: Statistics, numbers: Mapping[str, Any]) -> bool:
    """Whether most of many atoms lie in few tiles: what neighbours gather lies side by side."""
    own = st.mean * (1 + st.spread**2)  # how long the tile of an atom is, on average
    return bool(st.atoms > numbers["many_atoms"] and own > numbers["few_tiles"] * st.atoms)


def long_in_small(st: Statistics, numbers: Mapping[str, Any], task: Task) -> bool:
    """Whether long tiles gather from a vector so small that it stays near: narrow numbers only, or it does not.

    How long the vector is nobody knows here: about as many entries as there are tiles, in most such matrices.
    """
    n = numbers["near"]
    small = st.tiles <= n["tiles"] and task.width <= n["width"]
    return bool(small and st.atoms >= n["atoms"] and st.mean >= n["mean"])


def largest_share(st: Statistics, shares: Sequence[Sequence[Any]], task: Task) -> s.MergePath:
    """MergePath as the last row says that is for values so large and so much to do, and fits."""
    able = [
        s.MergePath(*share)
        for largest, least, *share in shares
        if task.exchanged <= largest and st.tiles + st.atoms >= least
    ]
    return next((m for m in reversed(able) if fits(m, task)), able[0])


@functools.cache
def groups(lanes: int) -> tuple[s.ThreadMapped | s.GroupMapped, ...]:
    """Whole tiles for so many lanes each, by how many atoms each of them asks for at once."""
    if lanes == 1:
        return tuple(s.ThreadMapped(128, items=items) for items in ITEMS_ALONE)
    return tuple(s.GroupMapped(lanes, 512 if lanes > 64 else 256, items=items) for items in ITEMS)


@functools.cache
def runs(width: int, least: int) -> tuple[s.GroupMapped, ...]:
    """Whole tiles for groups of `least` lanes to a warp with runs of atoms side by side, of values of so many bytes."""
    shapes = itertools.product((n for n in LANES if least <= n <= WARP), RUNS)
    return tuple(
        s.GroupMapped(lanes, items=run, run=run)
        for lanes, run in shapes
        if run * width <= RUN_BYTES
    )


def quickest(st: Statistics, regular: bool, lanes: int, n: Numbers) -> tuple[s.Schedule, float]:
    """Of `groups`, and its time."""
    times = {
        schedule: group_time(st, regular, lanes, schedule.items, n) for schedule in groups(lanes)
    }
    return min(times.items(), key=lambda item: item[1])


def group_time(st: Statistics, regular: bool, lanes: int, items: int, n: Numbers) -> float:
    """A launch, the work of all warps, the memory that it moves, and the lane with the longest tile.

    n: base, a launch; warp, one that starts, of which `hidden` costs nothing and an empty one saves the
    share `empty`; byte, moved, and scatter, how much more where a lane's atoms lie apart, idle, where lanes ask
    for atoms that tiles of about equal length do not have; round, a lane's next items, and step, its next atom; wide,
    what several warps wait for each other.
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
    """Of tiles of about equal length, where bytes are the bound.

    n: byte, moved, and how much more of them: idle, where lanes ask for atoms that tiles do not have, and apart, for
    each next run of a lane, since what the warp asks for at once lies in pieces; warp, one that starts, and again, the
    next runs of its lanes.
    """
    at_once, mean = schedule.size * schedule.run, max(st.mean, 1.0)
    rounds = math.ceil(round(mean / at_once, 3))
    warps = st.tiles * schedule.size / WARP * (n["warp"] + n["again"] * (rounds - 1))
    moved = 8 * (st.atoms + st.tiles) * n["byte"]
    more = n["idle"] * (rounds * at_once / mean - 1) + n["apart"] * (rounds - 1)
    return float(warps + moved * (1 + more))


def bins(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> s.Lrb:
    """Lrb; where most tiles are empty the others are short, and have nothing to ask for at once."""
    block, lanes, thread, group = numbers["bin_sizes"]
    if st.empty > numbers["mostly_empty"]:
        return s.Lrb(block, lanes, thread, group, items=1)
    if task.streams:
        block, lanes, thread, group = numbers["streaming"]["bin_sizes"]
    return s.Lrb(block, lanes, thread, group)


def bins_time(st: Statistics, schedule: s.Lrb, n: Numbers) -> float:
    """n: base, a launch and the bins; tile, most of them empty; atom; step, a thread's next in the longest tile."""
    teams = ((schedule.thread, 1), (schedule.group, schedule.lanes), (schedule.warp, WARP))
    team = next((lanes for longer, lanes in teams if st.greatest < longer), schedule.block)
    alone = n["step"] * st.greatest / team
    return float(n["base"] + n["tile"] * st.tiles + n["atom"] * st.atoms + alone)


def split_time(st: Statistics, n: Numbers) -> float:
    """n: base, a launch and what it takes to join tiles; item, a tile or an atom."""
    return float(n["base"] + n["item"] * (st.tiles + st.atoms))
