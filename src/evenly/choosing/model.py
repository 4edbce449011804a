"""Predict what a schedule costs on a GPU, from the statistics of the tiles, the columns and the kernel.

The hardware limits every schedule alike: bytes from memory, bytes out of L2, lines that L1 looks up. What differs is
the work of the warps: `groups` own whole tiles, `shares` divide atoms evenly, `bins` sort tiles. The numbers are in the
data file of the GPU, with their units; `evenly fit` measures and fits them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly import schedules as s
from evenly.gpus.gpu import WARP

from .cost import Cost, cost
from .reuse import ANYWHERE, SECTOR, Reuse
from .statistics import Statistics
from .task import INDEX, SPMV, Task
from .walks import Walks, alike

Numbers = Mapping[str, Any]

LANES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ITEMS = (4, 6)  # how many atoms a lane of a group loads at once
ITEMS_ALONE = (3, 5)
RUNS, RUN_BYTES = (4, 8), 32  # atoms of a run, and the most bytes of its values
LINE, WIDE = 128, 8  # bytes
LEAST = 0.3  # of the cost of 4 bytes, however a fit extends that of 8
SEARCHED = 8  # tiles for each atom of a share, from which on atoms search for their tile (device/chunk.cuh)
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
        return not self.task.streams

    @property
    def arrays(self) -> tuple[int, ...]:
        """Bytes of an atom in each of the arrays that are read in order."""
        if not self.gathers:
            return (self.atom_bytes,)
        # What is not in order, as the ids of one pattern, is near.
        return max(self.atom_bytes - self.task.width, 1), self.task.width

    @property
    def tile_lines(self) -> float:
        """Lines that a warp's load of each of these arrays looks up for each tile, unless several lie in a line.

        The tiles are those that an atom finds itself in, since most atoms may be in few long ones.
        """
        length = self.st.mean * (1 + self.st.spread**2)
        return sum(min(1.0, length * size / LINE) for size in self.arrays)

    @property
    def filled(self) -> float:
        """The number of tiles that have atoms."""
        return self.st.tiles * (1 - self.st.empty)

    def moved(self, listed: bool = False) -> float:
        """Bytes that are read and written in order. listed: by a list of the tiles that have atoms, and bits of all."""
        st = self.st
        places = self.filled * 2 * INDEX + st.tiles / 8 if listed else st.tiles * INDEX
        return st.atoms * self.atom_bytes + st.tiles * self.task.width + places

    def tiles_cost(self, own: Numbers) -> float:
        """Return the work of the tiles of a list, and of the others."""
        bare = self.st.tiles - self.filled
        return self.filled * float(own["tile"]) + bare * float(own["bare"])


class Rates:
    """What all schedules of a prediction share.

    n: the table of rates. narrow: see `share_cost`. beside: the share of gathers that find their 32 bytes neither in
    use nor in L1 from long before. gathered: bytes of all gathers out of L2. in_order: bytes that are moved in order,
    and the microseconds of memory, without and with a list of tiles. wave: threads that run at once. tile_lines: see
    `Work`.
    """

    def __init__(self, work: Work, numbers: Numbers) -> None:
        self.n = n = numbers["rates"]
        self.narrow: Numbers = numbers["narrow"]
        self.multiprocessors: int = numbers["multiprocessors"]
        self.wave = self.multiprocessors * numbers["threads"]
        st, vector = work.st, work.columns * work.task.width
        self.beside = work.reuse.near * max(0.0, 1 - n["l1"] / max(vector, 1))
        sectors = SECTOR * work.reuse.near * st.atoms
        once = self.multiprocessors * min(vector, n["l1"])
        self.gathered = min(sectors, SECTOR * self.beside * st.atoms + once)
        self.in_order = [
            self._memory(work.moved(listed), sectors, vector) for listed in (False, True)
        ]
        self.atoms, self.tile_lines = st.atoms, work.tile_lines

    def _memory(self, moved: float, sectors: float, vector: float) -> tuple[float, float]:
        """Return the bytes that are moved in order, and the microseconds of memory."""
        size = moved + min(vector, sectors)
        # L2 keeps some of what just does not fit.
        share = min(max((size / self.n["l2"] - 0.6) / 0.8, 0.0), 1.0)
        return moved, size * share / self.n["memory"]

    def limits(
        self, lines: float, again: float = 0.0, listed: bool = False
    ) -> tuple[float, float, float]:
        """Return the microseconds of memory, of L2 and of L1.

        lines: that an atom makes L1 look up. again: bytes of an atom that L1 fetches once more. listed: see `moved`.
        """
        moved, memory = self.in_order[listed]
        cached = moved + self.gathered + self.atoms * again
        return memory, cached / self.n["cache"], self.atoms * lines / self.n["lines"]

    def late(self, blocks: float, block: int, heaviest: float = 1.0) -> float:
        """Return how much longer than the mean the last multiprocessor is at work, as a share of the mean.

        While the last blocks end, others have none: `last` of a wave, or of all blocks if they are fewer. The block
        that has the most work may be among them, `heaviest` times the mean: `heavy` of what it has more.
        """
        blocks = max(blocks, 1.0)
        more = self.n["heavy"] * (heaviest - 1) * self.multiprocessors / blocks
        return float(self.n["last"] * min(1.0, self.wave / (block * blocks)) + more)


def predicted(work: Work, numbers: Numbers) -> dict[s.Schedule, Cost]:
    """Predict the cost of each candidate that can run the task."""
    rates = Rates(work, numbers)
    found = {g: group_cost(work, g, numbers["groups"], rates) for g in groups(work)}
    if work.task.runs and not work.by_columns:
        found |= {g: group_cost(work, g, numbers["runs"], rates) for g in runs(work)}
    if not work.task.whole_tiles:
        found |= {
            made: share_cost(work, made, row, rates) for made, row in rows(numbers, "shares", work)
        }
    if work.task.kept:  # one-shot calls would sort the tiles each time
        found |= {
            made: bins_cost(work, made, row, rates) for made, row in rows(numbers, "bins", work)
        }
    return found


def rows(numbers: Numbers, table: str, work: Work) -> Iterator[tuple[Any, Numbers]]:
    """Yield the schedules of a table, each with its numbers."""
    for row in numbers[table]:
        made = schedule_of(row["schedule"], tuple(row["with"].items()))
        runs = (work.task.runs and not work.task.by_tile) or getattr(made, "run", 1) == 1
        # One-shot calls would make the list each time.
        lists = work.task.kept and work.st.empty > 0
        if runs and (lists or not getattr(made, "hypersparse", False)):
            yield made, row


@functools.cache
def schedule_of(name: str, parameters: tuple[tuple[str, int], ...]) -> s.Schedule:
    made: s.Schedule = s.TABLE[name].make(**dict(parameters))
    return made


# ---- groups of lanes that own whole tiles ----------------------------------------------------------
def lanes_for(work: Work) -> list[int]:
    """Return the numbers of lanes that may be among the quickest for tiles of this mean length."""
    if work.by_columns:
        return [1]
    mean = work.st.mean
    able = [n for n in LANES if mean / TOO_FEW <= n <= TOO_MANY * max(mean, 4.0)]
    return able or [LANES[-1]]


def groups(work: Work) -> list[Any]:
    """Return schedules that give a tile to a thread or group, for numbers of atoms that a lane loads at once."""
    return [made for lanes in lanes_for(work) for made in _groups(lanes)]


@functools.cache
def _groups(lanes: int) -> tuple[s.ThreadMapped | s.GroupMapped, ...]:
    if lanes == 1:
        return tuple(s.ThreadMapped(128, items=items) for items in ITEMS_ALONE)
    return tuple(s.GroupMapped(lanes, 512 if lanes > 64 else 256, items=items) for items in ITEMS)


def runs(work: Work) -> list[s.GroupMapped]:
    """Return such schedules with runs of adjacent atoms, for groups of up to a warp."""
    able = [n for n in lanes_for(work) if 2 <= n <= WARP]
    lengths = [run for run in RUNS if run * work.task.width <= RUN_BYTES]
    return [_run(lanes, run) for lanes in able for run in lengths]


@functools.cache
def _run(lanes: int, run: int) -> s.GroupMapped:
    return s.GroupMapped(lanes, items=run, run=run)


def group_cost(work: Work, made: Any, own: Numbers, rates: Rates) -> Cost:
    """Predict the cost of groups: of starting warps, of the rounds that each walks, and of the longest tile.

    own: launch: us. warp: us a warp that starts; `hidden` us of these cost nothing, and empty tiles save the share
    `empty`. item: us for each atom of a lane in each round of a warp; wide: the same for numbers of 8 bytes; gathers:
    more if it gathers. far: us a gather out of L2; few: more for each time that lanes are halved, from 8 on. round: us
    for each round of the longest tile, and each: for each atom of a lane there.
    """
    st, width, n = work.st, work.task.width, rates.n
    lanes, items, run = getattr(made, "size", 1), made.items, getattr(made, "run", 1)
    warps = st.tiles * lanes / WARP
    walked = warps * work.walks.rounds(lanes, lanes * items) * items
    item = by_width(own["item"], own["wide"], work.task) + work.gathers * own["gathers"]
    few = max(0.0, math.log2(8 / lanes)) * width / INDEX
    starts = warps * own["warp"] * (1 - own["empty"] * st.empty)
    busy = max(0.0, starts - own["hidden"]) + walked * item
    busy += st.atoms * rates.beside * (own["far"] + few * own["few"])
    alone = work.by_columns
    streamed = work.atom_bytes / LINE
    apart = work.reuse.apart + (1 - work.reuse.apart) * max(0.0, 1 - lanes / 8)
    lines = streamed if alone else max(streamed, rates.tile_lines / (lanes * run))
    lines += n["gather"] * min(1.0, apart * run) * work.gathers
    left = sum(max(0.0, SECTOR / (lanes * run) - size) for size in work.arrays)
    again = 0.0 if alone else n["again"] * left * rates.beside
    chain = own["round"] * math.ceil(st.greatest / (lanes * items))
    chain += own["each"] * math.ceil(st.greatest / lanes)
    chain += n["meet"] * warps if lanes > WARP else 0.0
    tiles = max(1, made.block // lanes)  # of a block
    tail = rates.late(st.tiles / tiles, made.block, work.walks.heaviest(tiles))
    return cost(rates.limits(lines, again), busy, own["launch"], chain, n["overlap"], tail)


def by_width(narrow: float, wide: float, task: Task) -> float:
    """Return a cost for values of this size, from those for 4 and for 8 bytes."""
    size = max(task.width, task.exchanged)
    return max(narrow + (wide - narrow) * (size - INDEX) / (WIDE - INDEX), LEAST * narrow)


# ---- atoms in equal shares, tiles in bins ----------------------------------------------------------
def share_cost(work: Work, made: Any, own: Numbers, rates: Rates) -> Cost:
    """Predict the cost of shares.

    own: launch: us. tile, atom: us of each; wide: an atom of 8 bytes; gathers, by_tile: more for one that gathers, that
    depends on its tile. rates.narrow: more for one whose id takes 1 or 2 bytes. far: as above. bare: under a list of
    tiles, us of a tile without atoms.
    """
    st, n = work.st, rates.n
    run, listed = getattr(made, "run", 1), getattr(made, "hypersparse", False)
    atom = by_width(own["atom"], own["wide"], work.task) + work.gathers * own["gathers"]
    atom += work.task.by_tile * own["by_tile"] + rates.beside * own["far"]
    if work.gathers and work.atom_bytes < INDEX + work.task.width:
        atom += rates.narrow.get(f"{made.items} by {run}", rates.narrow["others"])
    busy = (work.tiles_cost(own) if listed else st.tiles * own["tile"]) + st.atoms * atom
    lines = work.atom_bytes / LINE + n["gather"] * min(1.0, work.reuse.apart * run)
    launch = own["launch"] + (0.0 if run == 1 or work.task.kept else n["partition"])
    chain = 0.0
    if made.engine == "nonzero" and not listed:
        share = made.block * made.items
        crowd = work.walks.crowd(share, st.tiles)
        wide = crowd > SEARCHED * share
        chain = n["turn"] * (made.items * math.log2(crowd) if wide else crowd / made.block)
    units = st.atoms + (st.tiles if made.engine == "merge" else 0)
    tail = rates.late(units / (made.block * made.items), made.block)
    return cost(rates.limits(lines, listed=listed), busy, launch, chain, n["overlap"], tail)


def bins_cost(work: Work, made: s.Lrb, own: Numbers, rates: Rates) -> Cost:
    """Predict the cost of bins.

    own: as for groups and shares. chain: us for each round of a team in the longest tile.
    """
    st, n, (lengths, share) = work.st, rates.n, work.walks.counted
    team = team_of(lengths, made)
    walked = np.where(team == 1, np.minimum(made.thread, lengths + 2), lengths)
    rounds = np.where(lengths > 0, np.ceil(walked / (team * made.items)), 0.0)
    threads = st.tiles * float(share @ (team * (lengths > 0)))
    busy = threads / WARP * own["warp"]
    busy += st.tiles / WARP * float(share @ (rounds * team)) * made.items * own["item"]
    atom = by_width(own["atom"], own["wide"], work.task) + work.gathers * own["gathers"]
    busy += work.tiles_cost(own) + st.atoms * (atom + rates.beside * own["far"])
    longest = max(float((lengths / team).max()), st.greatest / team_of(st.greatest, made))
    lines = work.atom_bytes / LINE + n["gather"] * work.reuse.apart
    limits = rates.limits(lines, listed=True)
    tail = rates.late(threads / made.block, made.block)
    return cost(
        limits,
        busy,
        own["launch"],
        own["chain"] * math.ceil(longest / made.items),
        n["overlap"],
        tail,
    )


def team_of(lengths: Any, made: s.Lrb) -> Any:
    """Return how many threads of Lrb walk tiles of these lengths."""
    teams = np.array((1, made.lanes, WARP, made.block))
    return teams[np.searchsorted((made.thread, made.group, made.warp), lengths, "right")]
