"""`Partition`: a schedule applied to a layout for any number of processors, on the host."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.language.exchange import Setups
from evenly.language.names import processor

from .contract import OF_TILES, Schedule, is_integer

Walked = range | tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Partition:
    """Which atoms each processor takes: `tiles(p)` and `atoms(p, tile)` are ranges, or tuples, of positions.

    They are tuples where the schedule's method yields, in the order of the walk.
    Processors are threads, or groups if the schedule's owner is "group".
    """

    schedule: Schedule
    layout: Any
    num_processors: int
    kept: Setups | None = None  # the setups that have run, if they are kept

    def keeping(self) -> Partition:
        """Return this partition with the results of `setup` kept, for walks in which the layout does not change."""
        return replace(self, kept=self._setups())

    def state(self, p: int, rank: int = 0) -> Any:
        """Return what the schedule's `setup` returns on processor `p` (in a group: on its member `rank`)."""
        return (self.kept or self._setups()).state(self._thread(p, rank))

    def _setups(self) -> Setups:
        setup = getattr(type(self.schedule), "setup", None)
        threads = self.num_processors * self._size

        def run(thread: int) -> Any:
            if not inspect.isfunction(setup):
                return self.layout
            with processor(thread, threads):
                return setup(self.schedule, self.layout)

        return Setups(run, threads)

    def tiles(self, p: int, rank: int = 0) -> Walked:
        """Return the tiles that processor `p` walks (in a group: its member `rank`)."""
        return self._walked("tiles", p, rank)

    def atoms(self, p: int, tile: int, rank: int = 0) -> Walked:
        """Return the atoms of `tile` that processor `p` takes (in a group: its member `rank`)."""
        return self._walked("atoms", p, rank, tile)

    def work(self) -> np.ndarray:
        """Count the atoms of each processor, (num_processors,) int64."""
        out = np.zeros(self.num_processors, np.int64)
        walked = self.keeping()
        for p in range(self.num_processors):
            for rank in range(self._size):
                tiles = walked.tiles(p, rank)
                out[p] += sum(len(walked.atoms(p, t, rank)) for t in tiles)
        return out

    def _walked(self, method: str, p: int, rank: int, *tile: int) -> Walked:
        """Return what `tiles` or `atoms` of the schedule returns or yields there, as Python's integers."""
        thread = self._thread(p, rank)
        state = (self.kept or self._setups()).state(thread)
        with processor(thread, self.num_processors * self._size):
            r = getattr(self.schedule, method)(state, *tile)
            if isinstance(r, range):
                return range(int(r.start), int(r.stop), int(r.step))
            name = f"{type(self.schedule).__name__}.{method}"
            if inspect.isgenerator(r):
                return self._given(name, r, *tile)
            raise InputError(name, expected="a range", given=repr(r))

    def _given(self, name: str, given: Iterator[Any], *tile: int) -> tuple[int, ...]:
        """Return what a method yields: at most all tiles, or all atoms of the tile. It may be a loop without end."""
        most = self.layout.num_tiles
        if tile:
            most = self.layout.end(tile[0]) - self.layout.begin(tile[0])
        what = f"the atoms of tile {tile[0]}" if tile else "the tiles"
        found = tuple(int(x) for x in itertools.islice(given, int(most) + 1))
        if len(found) > most:
            raise InputError(name, expected=f"each of {what} at most once, {most}", given="more")
        return found

    @property
    def _size(self) -> int:
        return self.schedule.size if self.schedule.owner == "group" else 1

    def _thread(self, p: int, rank: int) -> int:
        if not 0 <= p < self.num_processors:
            raise InputError(
                "p", expected=f"a processor from 0 to {self.num_processors - 1}", given=str(p)
            )
        return p * self._size + rank


def partition(schedule: Schedule, layout: Any, n: int) -> Partition:
    """Apply `schedule` to `layout` (in host memory) for `n` processors.

    Raises InputError for n < 1, and for a schedule of items, which does not say who walks which tiles of a layout.
    """
    if not hasattr(schedule, "tiles"):
        raise InputError(
            "schedule",
            expected=OF_TILES,
            given=str(schedule),
            hint="of ev.Nested, try schedule.outer and schedule.inner",
        )
    if not is_integer(n) or n < 1:
        raise InputError("n", expected="a number of processors, 1 or more", given=repr(n))
    return Partition(schedule, layout, int(n))
