"""Predict what schedules cost on a GPU, from the statistics of the tiles, the columns and the kernel.

The hardware limits every schedule alike: bytes from memory, bytes out of L2, lines that L1 looks up. What differs is
the work of the warps: `groups` own whole tiles, `shares` divide atoms evenly, `bins` sort tiles. The numbers are in the
data file of the GPU, with their units; `evenly fit` measures and fits them.

The formulas work on arrays: all schedules of a kind are predicted at once, (schedules,), and for a fit all of its
cases, (cases, schedules).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenly import schedules as s
from evenly.gpus.gpu import WARP

from .cost import Cost, cost
from .reuse import ANYWHERE, SECTOR, Reuse
from .rows import Bins, Groups, Own, Shares, Tables, tables_of
from .statistics import Statistics
from .task import INDEX, SPMV, Task
from .walks import Walks, alike

Numbers = Mapping[str, Any]

LANES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ITEMS = (4, 6)  # how many atoms a lane of a group loads at once
ALONE = (128, 3), (128, 5), (256, 5)  # the same, and threads of a block, where a lane is a group
RUN, RUN_BYTES = 4, 32  # atoms of a run, and the most bytes of its values
LINE, WIDE = 128, 8  # bytes
LEAST = 0.3  # of the cost of 4 bytes, however a fit extends that of 8
SEARCHED = 8  # tiles for each atom of a share, from which on atoms search for their tile (device/chunk_tiles.cuh)
# Lanes for each atom of a mean tile, and atoms for each lane: with so many, groups are never quick.
TOO_MANY, TOO_FEW = 8, 40


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done: a kernel of this kind, over tiles like these, with columns like these.

    columns: how many numbers are gathered from. by_columns: whether adjacent tiles lie side by side, slot by slot.
    """

    st: Statistics
    task: Task = SPMV
    reuse: Reuse = ANYWHERE
    columns: int = 0
    by_columns: bool = False

    @property
    def walks(self) -> Walks:
        return self.st.walks or alike(self.st.mean)

    @property
    def atom_bytes(self) -> int:
        return self.task.atom_bytes

    @property
    def gathers(self) -> bool:
        return self.task.gathers

    @property
    def arrays(self) -> tuple[int, ...]:
        """Bytes of an atom in each of the one or two arrays that are read in order."""
        if not self.gathers:
            return (self.atom_bytes,)
        # What is not in order, as the ids of one pattern, is near.
        return max(self.atom_bytes - self.task.width, 1), self.task.width

    @property
    def tile_lines(self) -> float:
        """Lines that a warp's load of each of these arrays looks up for each tile, unless several lie in a line."""
        return sum(min(1.0, self.length * size / LINE) for size in self.arrays)

    @property
    def length(self) -> float:
        """The length of the tile that an atom finds itself in, on average: most atoms may be in few long ones."""
        return max(self.st.mean * (1 + self.st.spread**2), 1.0)

    @property
    def filled(self) -> float:
        """The number of tiles that have atoms."""
        return self.st.tiles * (1 - self.st.empty)

    def moved(self, listed: bool = False) -> float:
        """Bytes that are read and written in order. listed: by a list of the tiles that have atoms, and bits of all."""
        st = self.st
        places = self.filled * 2 * INDEX + st.tiles / 8 if listed else st.tiles * INDEX
        each = self.atom_bytes + self.task.stored
        results = st.tiles * self.task.width * (self.task.reductions > 0)
        return st.atoms * each + results + places


class About(NamedTuple):
    """The numbers of a work that formulas take: of one, or (works, 1) of several.

    moved: bytes in order, without and with a list of tiles. size: bytes of a value as lanes exchange it. vector: bytes
    that are gathered from. narrow: whether ids take 1 or 2 bytes. Others are those of Work, Statistics, Task and Reuse.
    """

    tiles: Any
    atoms: Any
    greatest: Any
    filled: Any
    moved: Any
    moved_listed: Any
    tile_lines: Any
    atom_bytes: Any
    width: Any
    size: Any
    vector: Any
    near: Any
    apart: Any
    gathers: Any
    by_tile: Any
    narrow: Any
    once: Any
    by_columns: Any
    passes: Any
    stored: Any
    later: Any
    scans: Any
    whole: Any
    split: Any
    scatters: Any
    reductions: Any
    length: Any
    operations: Any
    early: Any


def about(work: Work) -> About:
    st, task = work.st, work.task
    return About(
        float(st.tiles),
        float(st.atoms),
        float(st.greatest),
        work.filled,
        work.moved(),
        work.moved(listed=True),
        work.tile_lines,
        task.atom_bytes,
        task.width,
        max(task.width, task.exchanged),
        float(work.columns * task.width),
        work.reuse.near,
        work.reuse.apart,
        work.gathers,
        task.by_tile,
        work.gathers and task.atom_bytes < INDEX + task.width,
        not task.kept,
        work.by_columns,
        float(task.passes),
        float(task.stored),
        float(task.later),
        task.scans,
        task.kernels[0] - 1.0,
        task.kernels[1] - 1.0,
        task.scatters,
        float(task.reductions),
        work.length,
        task.operations - 1.0,
        st.early,
    )


# ---- what all schedules share ----------------------------------------------------------------------
class Rates:
    """What all schedules of a prediction share.

    beside: the share of gathers that find their 32 bytes neither in use nor in L1 from long before. gathered: bytes of
    all gathers out of L2. in_memory: of memory.
    """

    def __init__(self, a: About, tables: Tables) -> None:
        self.a, self.tables, self.n = a, tables, tables.rates
        n = self.n
        self.beside = a.near * np.maximum(0.0, 1 - n["l1"] / np.maximum(a.vector, 1))
        sectors = SECTOR * a.near * a.atoms
        once = tables.multiprocessors * np.minimum(a.vector, n["l1"])
        self.gathered = np.minimum(sectors, SECTOR * self.beside * a.atoms + once)
        self.in_memory = np.minimum(a.vector, sectors)

    def limits(self, moved: Any, missed: Any, lines: Any, more: Any = 0.0) -> tuple[Any, Any, Any]:
        """Return the microseconds of memory, of L2 and of L1.

        moved: bytes in order. missed: by L2, a share. lines: that an atom makes L1 look up. more: bytes that an
        atom's stores write beside its own.
        """
        a, n = self.a, self.n
        cached = moved + self.gathered + a.atoms * more
        in_memory = (moved + self.in_memory) * missed
        return in_memory / n["memory"], cached / n["cache"], a.atoms * lines / n["lines"]

    def missed(self, moved: Any) -> Any:
        """Return the share of all bytes that comes from memory: L2 keeps some of what just does not fit."""
        size = (moved + self.in_memory) / self.n["l2"]
        return np.minimum(np.maximum((size - 0.6) / 0.8, 0.0), 1.0)

    def waiting(self, busy: Any, missed: Any) -> Any:
        """Return the work of lanes that own their tiles: with few loads under way, they wait longer for memory."""
        return busy * (1 + self.n["slower"] * missed)

    def late(self, blocks: Any, block: Any, heaviest: Any = 1.0) -> Any:
        """Return how much longer than the mean the last multiprocessor is at work, as a share of the mean.

        While the last blocks end, others have none: `last` of a wave, or of all blocks if they are fewer. The block
        that has the most work may be among them, `heaviest` times the mean: `heavy` of what it has more.
        """
        blocks = np.maximum(blocks, 1.0)
        more = self.n["heavy"] * (heaviest - 1) * self.tables.multiprocessors / blocks
        return self.n["last"] * np.minimum(1.0, self.tables.wave / (block * blocks)) + more

    def of_atoms(self, own: Mapping[str, Any]) -> Any:
        """Return the work of an atom under shares or bins."""
        a = self.a
        atom = by_width(own["atom"], own["wide"], a.size) + a.gathers * own["gathers"]
        return atom + self.beside * own["far"]

    def written(self, each: Any) -> Any:
        """Return the bytes that stores of an atom write, if these are of so many sectors, or more."""
        return np.maximum(self.a.stored, (self.a.stored > 0) * SECTOR * each)

    def of_tiles(self, own: Mapping[str, Any]) -> Any:
        """Return the work of the tiles that have atoms, and of the others."""
        a = self.a
        return a.filled * own["tile"] + (a.tiles - a.filled) * own["bare"]


def by_width(narrow: Any, wide: Any, size: Any) -> Any:
    """Return a cost for values of this size, from those for 4 and for 8 bytes."""
    return np.maximum(narrow + (wide - narrow) * ((size - INDEX) / (WIDE - INDEX)), LEAST * narrow)


# ---- groups of lanes that own whole tiles ----------------------------------------------------------
def lanes_for(work: Work) -> tuple[int, ...]:
    """Return the numbers of lanes that may be among the quickest for tiles of this mean length."""
    if work.by_columns:
        return (1,)
    mean = work.st.mean
    able = tuple(n for n in LANES if mean / TOO_FEW <= n <= TOO_MANY * max(mean, 4.0))
    return able or LANES[-1:]


def able_groups(work: Work) -> Groups:
    """Return schedules that give a tile to a thread or group, for numbers of atoms that a lane loads at once.

    Where adjacent atoms read adjacent memory, also those with runs of them, for groups of up to a warp.
    """
    runs = work.task.runs and not work.by_columns and RUN * work.task.width <= RUN_BYTES
    return groups_of(lanes_for(work), runs)


@functools.cache
def groups_of(lanes: tuple[int, ...], runs: bool) -> Groups:
    plain = (made for n in lanes for made in _plain(n))
    some = (s.GroupMapped(n, items=RUN, run=RUN) for n in lanes if runs and 2 <= n <= WARP)
    return Groups((*plain, *some))


def _plain(lanes: int) -> list[Any]:
    if lanes == 1:
        return [s.ThreadMapped(block, items=items) for block, items in ALONE]
    return [s.GroupMapped(lanes, 512 if lanes > 64 else 256, items=items) for items in ITEMS]


def of_groups(made: Groups, rates: Rates, rounds: Any, heaviest: Any) -> Cost:
    """Predict the cost of groups: of starting warps, of the rounds that each walks, and of the longest tile.

    rounds, heaviest: of Walks. Numbers: launch: us. warp: us a warp that starts; `hidden` us of these cost nothing.
    item: us for each atom of a lane in each round of a warp; wide: the same for numbers of 8 bytes; gathers: more if it
    gathers. far: us a gather out of L2; few: more for each time that lanes are halved, from 8 on. round: us for each
    round of the longest tile, and each: for each atom of a lane there.
    """
    a, n, own = rates.a, rates.n, rates.tables.numbers_of(made)
    warps = a.tiles * made.warps
    missed = rates.missed(a.moved)
    busy = rates.waiting(_work_of_groups(made, rates, own, warps, rounds), missed)
    lines, more = _read_by_groups(made, rates)
    tail = rates.late(a.tiles / made.tiles, made.block, heaviest)
    launch = own["launch"] + n["kernel"] * a.whole
    limits = rates.limits(a.moved, missed, lines, more)
    # Where the longest tiles come first, the others are worked on meanwhile.
    chain = np.maximum(_chain_of_groups(made, rates, own, warps) - a.early * busy, 0.0)
    return cost(limits, busy, launch, chain, n["overlap"], tail)


def _work_of_groups(made: Groups, rates: Rates, own: Own, warps: Any, rounds: Any) -> Any:
    a, n = rates.a, rates.n
    item = by_width(own["item"], own["wide"], a.size) + a.gathers * own["gathers"]
    walked = warps * rounds * made.items * a.passes
    busy = np.maximum(0.0, warps * own["warp"] - own["hidden"]) + walked * (
        item + a.scans * n["scan"]
    )
    few = a.width / INDEX * made.halved * own["few"]
    joined = walked + warps * made.joins * a.reductions
    busy = busy + joined * (a.operations * n["operation"])
    return busy + a.atoms * rates.beside * (own["far"] + few)


def _read_by_groups(made: Groups, rates: Rates) -> tuple[Any, Any]:
    """Return the lines that an atom makes L1 look up, and the bytes that its stores write beside its own."""
    a, n = rates.a, rates.n
    # Tiles that lie side by side are read by whole lines.
    by_tile = a.passes * a.tile_lines * (1 - a.by_columns) / made.each
    lines = np.maximum((a.atom_bytes + a.later) / LINE, by_tile)
    apart = a.apart + (1 - a.apart) * made.scattered
    lines = lines + n["gather"] * a.gathers * np.minimum(1.0, apart * made.run)
    # L1 does not gather what lanes store: each instruction writes sectors of its own.
    written = rates.written(1 / np.minimum(made.each, a.length))
    return lines + written / SECTOR, written - a.stored


def _chain_of_groups(made: Groups, rates: Rates, own: Own, warps: Any) -> Any:
    a, n, several = rates.a, rates.n, made.lanes > 1
    alone = n["alone"] * np.maximum(a.scatters, a.scans * several)
    chain = own["round"] * np.ceil(a.greatest / (made.lanes * made.items))
    chain = chain + (own["each"] + alone) * np.ceil(a.greatest / made.lanes)
    return (chain + n["meet"] * warps * (made.lanes > WARP)) * a.passes


# ---- atoms in equal shares, tiles in bins ----------------------------------------------------------
def of_shares(made: Shares, rates: Rates, crowd: Any) -> Cost:
    """Predict the cost of shares.

    crowd: of Walks. Numbers: launch: us. tile, atom: us of each; wide: an atom of 8 bytes; gathers, by_tile: more for
    one that gathers, that depends on its tile; narrow: more for one whose id takes 1 or 2 bytes. far: as above. bare:
    under a list of tiles, us of a tile without atoms. The share with the most tiles takes longer: turn: us for each of
    a thread's tiles; or as many rounds of groups as its atoms' searches have steps.
    """
    a, n, own = rates.a, rates.n, made.own
    atom = rates.of_atoms(own) + a.by_tile * own["by_tile"] + a.narrow * own["narrow"]
    # A share of tiles and atoms at least finds its tiles.
    visits = np.maximum(a.reductions, made.merges)
    busy = rates.of_tiles(own) * visits + a.atoms * atom * a.passes
    busy = busy + a.scans * n["running"] * a.atoms / made.items
    joined = a.atoms / WARP * (1 + np.log2(WARP) / made.items) * a.reductions
    busy = busy + joined * a.operations * n["operation"]
    lines = (a.atom_bytes + a.later + a.stored) / LINE
    lines = lines + n["gather"] * np.minimum(1.0, a.apart * made.run)
    launch = np.where(a.reductions > 0, own["launch"], n["plain"])
    launch = launch + n["partition"] * (made.run > 1) * a.once
    launch = launch + n["kernel"] * a.split + n["wait"] * a.scans
    # A search waits for a load at each step, as groups do in each round of the longest tile.
    search = rates.tables.groups["round"][0] * made.items * np.log2(np.maximum(crowd, 1.0))
    turns = np.where(crowd > SEARCHED * made.share, search, n["turn"] * crowd / made.block)
    chain = turns * made.crowded + n["alone"] * made.items * a.scatters
    tail = rates.late((a.atoms + a.tiles * made.merges) / made.share, made.block)
    moved = a.moved + (a.moved_listed - a.moved) * made.listed + a.atoms * a.later
    limits = rates.limits(moved, rates.missed(moved), lines)
    return cost(limits, busy, launch, chain, n["overlap"], tail)


def of_bins(made: Bins, rates: Rates, threads: Any, rounds: Any, longest: Any, parts: Any) -> Cost:
    """Predict the cost of bins.

    threads, rounds, longest, parts: of `walked_in_bins`. Numbers: as for groups and shares. chain: us for each round
    of a team in the longest tile.
    """
    a, n, own = rates.a, rates.n, made.own
    threads = a.tiles * threads
    item = own["item"] + a.scans * n["scan"] + a.operations * n["operation"]
    walked = a.tiles / WARP * rounds * made.items
    busy = walked * item + a.atoms * rates.of_atoms(own)
    busy = busy * a.passes + threads / WARP * own["warp"] + rates.of_tiles(own)
    missed = rates.missed(a.moved_listed)
    busy = rates.waiting(busy, missed)
    written = rates.written(parts)
    lines = (a.atom_bytes + a.later) / LINE + written / SECTOR + n["gather"] * a.apart
    tail = rates.late(threads / made.block, made.block)
    chain = own["chain"] * np.ceil(longest / made.items)
    chain = (chain + n["alone"] * np.maximum(a.scatters, a.scans) * longest) * a.passes
    launch = own["launch"] + n["kernel"] * a.whole
    limits = rates.limits(a.moved_listed, missed, lines, written - a.stored)
    return cost(limits, busy, launch, chain, n["overlap"], tail)


def walked_in_bins(made: Bins, walks: Walks, greatest: float) -> tuple[Any, Any, Any, Any]:
    """Return, for each schedule of bins: threads and rounds of threads for each tile, a thread's longest walk, and the
    share of an atom in what its team stores at once.

    The longest tile is looked at, too, though most samples do not have it.
    """
    sampled, share = walks.counted
    lengths, share = np.append(sampled, greatest), np.append(share, 0.0)
    team = made.team_of(lengths)
    walked = np.where(team == 1, np.minimum(made.ends[:, :1], lengths + 2), lengths)
    rounds = np.where(lengths > 0, np.ceil(walked / (team * made.items[:, None])), 0.0)
    threads, at_once = (team * (lengths > 0)) @ share, np.clip(lengths, 1.0, team)
    parts = (lengths / at_once) @ share / max(lengths @ share, 1e-9)
    return threads, (rounds * team) @ share, (lengths / team).max(1), parts


# ---- all of them -------------------------------------------------------------------------------------
Part = tuple[tuple[s.Schedule, ...], Cost]  # candidates of a kind, and what each costs, as arrays


def parts(work: Work, tables: Tables) -> list[Part]:
    """Return the candidates that can run the task, kind by kind."""
    rates = Rates(about(work), tables)
    return [groups_part(able_groups(work), rates, work.walks), *others(work, rates)]


def others(work: Work, rates: Rates, most: float = math.inf) -> Iterator[Part]:
    """Yield those that are no groups, but for kinds whose launch alone takes `most` us."""
    tables, task, walks = rates.tables, work.task, work.walks
    if not task.whole_tiles:
        # One-shot calls would make the list of tiles each time. Who reduces nothing does nothing for empty tiles.
        lists = task.kept and work.st.empty > 0 and task.reductions > 0
        shares = tables.shares(task.runs and not task.by_tile, lists, merges=not task.scans)
        if (shares.launch if task.reductions > 0 else rates.n["plain"]) < most:
            crowd = shares.crowd(walks, work.st.tiles)
            yield shares.schedules, of_shares(shares, rates, crowd)
    bins = tables.bins
    if task.kept and bins.launch < most:  # one-shot calls would sort the tiles each time
        walked = walked_in_bins(bins, walks, work.st.greatest)
        yield bins.schedules, of_bins(bins, rates, *walked)


def groups_part(made: Groups, rates: Rates, walks: Walks) -> Part:
    return made.schedules, of_groups(made, rates, made.rounds(walks), made.heaviest(walks))


def predicted(work: Work, numbers: Numbers) -> dict[s.Schedule, Cost]:
    """Predict the cost of each candidate that can run the task."""
    found: dict[s.Schedule, Cost] = {}
    for schedules, costs in parts(work, tables_of(numbers)):
        found |= zip(schedules, costs.each(len(schedules)), strict=True)
    return found


def ordered(work: Work, numbers: Numbers) -> Iterator[s.Schedule]:
    """Yield the candidates that can run the task, the one of the least predicted time first."""
    return (schedule for schedule, _ in _in_order(parts(work, tables_of(numbers))))


def _in_order(found: list[Part]) -> Iterator[tuple[s.Schedule, float]]:
    """Yield all candidates with their times, the quickest first."""
    schedules: list[s.Schedule] = [schedule for some, _ in found for schedule in some]
    totals = np.concatenate([costs.total for _, costs in found])
    order = totals.argsort(kind="stable")
    return zip(map(schedules.__getitem__, order.tolist()), totals[order].tolist(), strict=True)


def quickest(work: Work, numbers: Numbers, able: Callable[[s.Schedule], bool]) -> s.Schedule:
    """Return the candidate of the least predicted time among those that are able to run.

    A group often ends before others have started. Then these are not predicted: for a small one-shot call that takes
    longer than what it saves.
    """
    rates = Rates(about(work), tables_of(numbers))
    groups = groups_part(able_groups(work), rates, work.walks)
    most = next((us for schedule, us in _in_order([groups]) if able(schedule)), math.inf)
    found = _in_order([groups, *others(work, rates, most)])
    return next(schedule for schedule, _ in found if able(schedule))
