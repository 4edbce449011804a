"""The candidates and their numbers as arrays, an entry a schedule: what the formulas of the model take."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenly import schedules as s
from evenly.gpus.gpu import WARP

from .walks import Walks

Numbers = Mapping[str, Any]
Own = dict[str, Any]  # numbers by name: (schedules,) each

OF_GROUPS = (
    "launch",
    "warp",
    "hidden",
    "item",
    "wide",
    "gathers",
    "far",
    "few",
    "round",
    "each",
)
OF_SHARES = "launch", "tile", "atom", "wide", "gathers", "by_tile", "far"
OF_BINS = "launch", "tile", "bare", "atom", "wide", "gathers", "far", "warp", "chain", "item"


def parameter(schedules: tuple[Any, ...], name: str, default: float) -> Any:
    return np.array([getattr(made, name, default) for made in schedules], np.float64)


class Groups:
    """Schedules whose groups of lanes own tiles.

    tiles: of a block. warps: for a tile. joins: how often its lanes join two partial results. halved: how often 8 lanes
    are halved to get theirs. each: adjacent atoms that they load at once. scattered: the share of their gathers that
    lie apart for being of few lanes. runs: 1 for those with runs of atoms.
    """

    def __init__(self, schedules: tuple[Any, ...]) -> None:
        self.schedules = schedules
        self.lanes = parameter(schedules, "size", 1)
        self.items = parameter(schedules, "items", 1)
        self.run = parameter(schedules, "run", 1)
        self.block = parameter(schedules, "block", 1)
        self.tiles = np.maximum(1, self.block // self.lanes)
        self.warps = self.lanes / WARP
        self.joins = np.log2(np.minimum(self.lanes, WARP))
        self.halved = np.maximum(0.0, np.log2(8 / self.lanes))
        self.each = self.lanes * self.run
        self.scattered = np.maximum(0.0, 1 - self.lanes / 8)
        self.runs = (self.run > 1).astype(int)
        self._by_lanes = [
            (int(lanes), at, self.lanes[at] * self.items[at])
            for lanes in np.unique(np.minimum(self.lanes, WARP))  # of a warp
            for at in [np.flatnonzero(np.minimum(self.lanes, WARP) == lanes)]
        ]
        counts, self._of_count = np.unique(np.minimum(self.tiles, WARP), return_inverse=True)
        self._counts: list[int] = counts.astype(int).tolist()

    def rounds(self, walks: Walks) -> Any:
        """Return how many rounds a warp walks, on average."""
        found = np.empty(len(self.schedules))
        for lanes, at, atoms in self._by_lanes:
            found[at] = walks.rounds(lanes, atoms)
        return found

    def heaviest(self, walks: Walks) -> Any:
        """Return the most atoms of a block over the mean, as far as the sample tells."""
        return np.array([walks.heaviest[count] for count in self._counts])[self._of_count]


class Shares:
    """Schedules that divide atoms, or tiles and atoms, evenly. own: their numbers.

    share: atoms, or tiles and atoms, of a block. merges: whether tiles count. crowded: whether a share may have any
    number of tiles. launch: us of the quickest launch.
    """

    def __init__(self, schedules: tuple[Any, ...], own: Own) -> None:
        self.schedules, self.own = schedules, own
        self.block = parameter(schedules, "block", 1)
        self.items = parameter(schedules, "items", 1)
        self.run = parameter(schedules, "run", 1)
        self.share = self.block * self.items
        self.listed = parameter(schedules, "hypersparse", False) > 0
        self.merges = np.array([made.engine == "merge" for made in schedules])
        self.crowded = ~self.merges & ~self.listed
        self.launch: float = own["launch"].min(initial=np.inf)

    def crowd(self, walks: Walks, tiles: int) -> Any:
        """Return about how many tiles begin within a share at most."""
        return walks.crowd(self.share, tiles)


class Bins:
    """Schedules that sort tiles into bins. own: their numbers.

    ends: (schedules, 3), the lengths from which on tiles are in the next bin. teams: (schedules, 4), how many threads
    walk one. launch: us of the quickest launch.
    """

    def __init__(self, schedules: tuple[s.Lrb, ...], own: Own) -> None:
        self.schedules, self.own = schedules, own
        self.block = parameter(schedules, "block", 1)
        self.items = parameter(schedules, "items", 1)
        self.ends = np.array([(made.thread, made.group, made.warp) for made in schedules])
        self.teams = np.array([(1, made.lanes, WARP, made.block) for made in schedules])
        self.launch: float = own["launch"].min(initial=np.inf)
        self.jumps = np.diff(self.teams)[:, :, None]

    def team_of(self, lengths: Any) -> Any:
        """Return how many threads walk tiles of these lengths, (schedules, lengths)."""
        more = (lengths >= self.ends[:, :, None]) * self.jumps
        return self.teams[:, :1] + more.sum(1)


class Tables:
    """The numbers of a GPU. groups: without and with runs, (2,) each. wave: threads that run at once."""

    def __init__(self, numbers: Numbers) -> None:
        self.of = numbers
        self.rates: Numbers = numbers["rates"]
        self.multiprocessors: int = numbers["multiprocessors"]
        self.wave = self.multiprocessors * numbers["threads"]
        both = numbers["groups"], numbers["runs"]
        self.groups = {key: np.array([row[key] for row in both]) for key in OF_GROUPS}
        self.bins = Bins(*_columns(numbers["bins"], OF_BINS))
        schedules, own = _columns(numbers["shares"], OF_SHARES)
        rows, narrow = numbers["shares"], numbers["narrow"]
        own["bare"] = np.array([row.get("bare", row["tile"]) for row in rows])
        about = (f"{made.items} by {getattr(made, 'run', 1)}" for made in schedules)
        own["narrow"] = np.array([narrow.get(name, narrow["others"]) for name in about])
        self._shares = Shares(schedules, own)
        self._some: dict[tuple[bool, bool, bool], Shares] = {}
        self._of_groups: dict[Groups, Own] = {}

    def numbers_of(self, made: Groups) -> Own:
        """Return the numbers of groups, with or without runs."""
        if made not in self._of_groups:
            self._of_groups[made] = {key: both[made.runs] for key, both in self.groups.items()}
        return self._of_groups[made]

    def shares(self, runs: bool = True, lists: bool = True, merges: bool = True) -> Shares:
        """Return the shares, with or without those that have runs, that walk a list of tiles, that count tiles."""
        wanted = runs, lists, merges
        if wanted not in self._some:
            every = self._shares
            kept = ((every.run == 1) | runs) & (~every.listed | lists) & (~every.merges | merges)
            at = np.flatnonzero(kept)
            own = {key: numbers[at] for key, numbers in every.own.items()}
            schedules = tuple(every.schedules[n] for n in at)
            self._some[wanted] = Shares(schedules, own)
        return self._some[wanted]


def _columns(rows: list[Numbers], keys: tuple[str, ...]) -> tuple[tuple[Any, ...], Own]:
    schedules = tuple(schedule_of(row["schedule"], tuple(row["with"].items())) for row in rows)
    return schedules, {key: np.array([row[key] for row in rows]) for key in keys}


@functools.cache
def schedule_of(name: str, parameters: tuple[tuple[str, int], ...]) -> s.Schedule:
    made: s.Schedule = s.TABLE[name].make(**dict(parameters))
    return made


_last: list[Tables] = []


def tables_of(numbers: Numbers) -> Tables:
    """Return the numbers as arrays. Those that were asked for last are kept: choices for a GPU have the same."""
    last = _last[0] if _last else None
    if last is None or last.of is not numbers:
        _last[:] = [last := Tables(numbers)]
    return last
