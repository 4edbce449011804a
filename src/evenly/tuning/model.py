"""What a schedule costs: microseconds on a GPU, from the statistics of the tiles.

Three formulas: for whole tiles that belong to groups, for tiles and atoms divided evenly, and for
tiles in bins, where most are empty. The numbers are in the data file of the architecture, fitted to measured SpMVs by
benchmarks/fit_auto.py. They only have to put schedules in the right order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenly import schedules as s

from .statistics import Statistics
from .task import SPMV, Task, fits

LANES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
Numbers = Mapping[str, float]


def predicted(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> dict[Any, float]:
    """Microseconds of each candidate, for an SpMV, or for a kernel that streams, of those that can run the task."""
    groups = numbers["groups"]
    if task.streams:
        groups = {**groups, "step": numbers["streaming"]["step"]}
    found = {owned(lanes): group_time(st, lanes, groups) for lanes in LANES}
    if task.kept and st.empty > numbers["mostly_empty"]:  # tiles are sorted once by plans only
        found[s.Lrb(block=512)] = bins_time(st, numbers["bins"])
    if not task.whole_tiles:
        found[split(st, numbers, task)] = split_time(st, numbers["split"])
    return found


def may_be_bound_by_gathers(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> bool:
    """Whether it matters how far apart columns are: of many atoms, in regular tiles that are not short.

    (The other tiles are divided by MergePath in any case; short ones leave a warp enough of them.)
    """
    n = numbers["gathers"]
    regular = st.spread <= numbers["regular_spread"]
    splits = not task.streams and not task.whole_tiles
    return bool(splits and regular and st.atoms >= n["atoms"] and st.mean >= n["mean"])


def bound_by_gathers(
    st: Statistics, numbers: Mapping[str, Any], times: Mapping[Any, float]
) -> dict[Any, float]:
    """The times where every atom waits for a sector of its own out of L2: least with most of them in flight."""
    n = numbers["gathers"]
    found = {schedule: max(us, st.atoms * n["atom"]) for schedule, us in times.items()}
    return found | {s.NonzeroSplit(*numbers["most_in_flight"]): st.atoms * n["in_flight"]}


def owned(lanes: int) -> Any:
    return s.ThreadMapped() if lanes == 1 else s.GroupMapped(lanes)


def split(st: Statistics, numbers: Mapping[str, Any], task: Task = SPMV) -> Any:
    """MergePath; by atoms where most tiles are empty, or where there are many of them, most in few tiles."""
    if st.empty > numbers["mostly_empty"]:
        return s.NonzeroSplit()
    if task.streams:
        return streaming_split(st, numbers["streaming"]["shares"], task)
    own = st.mean * (1 + st.spread**2)  # how long the tile of an atom is, on average
    streams = st.atoms > numbers["many_atoms"] and own > numbers["few_tiles"] * st.atoms
    in_flight = s.NonzeroSplit(*numbers["most_in_flight"])
    if streams and fits(in_flight, task):
        return in_flight
    return s.MergePath(min_blocks=numbers["merge_min_blocks"])


def streaming_split(st: Statistics, shares: Sequence[Sequence[int]], task: Task) -> Any:
    """The larger shares the more there is to do: no gathers wait, which smaller ones would hide."""
    able = [s.MergePath(*share) for least, *share in shares if st.tiles + st.atoms >= least]
    return next((m for m in reversed(able) if fits(m, task)), able[0])


def group_time(st: Statistics, lanes: int, n: Numbers) -> float:
    """A launch, the work of all warps, the memory that it moves, and the lane with the longest tile.

    n: base, a launch; warp, one that starts, of which `hidden` costs nothing and an empty one saves the
    share `empty`; byte, moved, and scatter, how much more where a lane's atoms lie apart; step, a
    lane's next atom.
    """
    greatest = max(st.greatest, math.ceil(st.mean))
    warps = st.tiles * lanes / 32 * n["warp"] * (1 - n["empty"] * st.empty)
    moved = 8 * (st.atoms + st.tiles) * n["byte"]
    scattered = 1 + n["scatter"] * max(0.0, st.mean / lanes - 4)
    alone = n["step"] * math.ceil(greatest / lanes)
    return float(n["base"] + max(0.0, warps - n["hidden"]) + moved * scattered + alone)


def bins_time(st: Statistics, n: Numbers) -> float:
    """n: base, a launch and the bins; tile, most of them empty; atom; step, a thread's next in the longest tile."""
    alone = n["step"] * st.greatest / 512
    return float(n["base"] + n["tile"] * st.tiles + n["atom"] * st.atoms + alone)


def split_time(st: Statistics, n: Numbers) -> float:
    """n: base, a launch and what it takes to join tiles; item, a tile or an atom."""
    return float(n["base"] + n["item"] * (st.tiles + st.atoms))
