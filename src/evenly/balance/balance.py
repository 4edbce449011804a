"""`Balance`, the result of `plan.profile()`: how evenly a schedule, and others beside it, divide the work of a layout.

Time is counted in atoms. A lane processes its atoms one after the other, the 32 lanes of a warp run in
lockstep, and a block holds its threads until its last warp is done. The loss of a launch then has three
factors: lanes that wait for their warp, warps that wait for their block, and blocks that are done
before the slowest.

Source: the load imbalance of Osama, Porumbescu, Owens (PPoPP 2023), section 3; the lockstep
model of Bell and Garland (SC 2009), section 4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenly.gpus.gpu import WARP
from evenly.schedules import OF_TASKS, TABLE, Schedule

from .shown import Shown

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Level:
    """The threads, the warps or the blocks of a launch. Processors with equal work are one entry.

    time, atoms, count: (n,) int64. Each of `count` processors takes `time` (in atoms, one after the
    other) for its `atoms`. Each block is an entry of its own, in the order of the launch.
    lanes: the threads of a processor.
    """

    lanes: int
    time: Numbers
    atoms: Numbers
    count: Numbers

    @cached_property
    def number(self) -> int:
        """The number of processors."""
        return int(self.count.sum())

    @cached_property
    def most(self) -> int:
        """The greatest time."""
        return int(self.time.max(initial=0))

    @cached_property
    def held(self) -> int:
        """The sum of all times."""
        return int(self.time @ self.count)

    @property
    def mean(self) -> float:
        """The mean time."""
        return self.held / self.number if self.number else 0.0

    @property
    def skew(self) -> float:
        """The greatest time over the mean; 1 if there is no work."""
        return self.most / self.mean if self.mean else 1.0

    @property
    def idle(self) -> float:
        """The share of the lanes' time without an atom, 0 .. 1, while their processors are at work."""
        return _lost(int(self.atoms @ self.count), self.held * self.lanes)

    def sampled(self, points: int) -> tuple[Numbers, Numbers]:
        """Return (time, atoms) of processors at `points` evenly spaced positions, the longest first, or (0,)."""
        if self.number == 0:
            return self.time, self.atoms
        order = np.lexsort((-self.atoms, -self.time))
        places = np.arange(points) * self.number // points
        order = order[np.searchsorted(np.cumsum(self.count[order]), places, side="right")]
        return self.time[order], self.atoms[order]


@dataclass(frozen=True, eq=False)
class Load:
    """How one schedule divides the layout: the levels of its launch, and their losses.

    idle: the share of the threads' time without an atom while their blocks are at work, which combines
    idle_lanes and idle_warps. idle_blocks: what blocks would lose in addition if all of them ran at
    once (a GPU that cannot run all of them starts the next one instead).
    All four are in 0 .. 1.
    """

    schedule: Schedule
    threads: Level
    warps: Level
    blocks: Level

    @property
    def label(self) -> str:
        return label_of(self.schedule)

    @property
    def idle(self) -> float:
        return self.blocks.idle

    @property
    def idle_lanes(self) -> float:
        return self.warps.idle

    @property
    def idle_warps(self) -> float:
        return _lost(self.warps.held, self.blocks.held * (self.blocks.lanes // WARP))

    @property
    def idle_blocks(self) -> float:
        return _lost(self.blocks.held, self.blocks.most * self.blocks.number)


@dataclass(frozen=True, eq=False)
class Balance(Shown):
    """How evenly schedules divide the tiles of one layout. `str()` is a sketch for a terminal.

    kernel, layout: what was profiled, in words. tiles, atoms: of the layout.
    loads: a Load for each schedule, the plan's own first; `chosen` is that one.
    """

    kernel: str
    layout: str
    tiles: int
    atoms: int
    loads: tuple[Load, ...]

    @property
    def chosen(self) -> Load:
        return self.loads[0]

    def __str__(self) -> str:
        from .sketch import sketch

        return sketch(self)

    def _figure(self) -> Any:
        from .pictures import figure

        return figure(self)


def label_of(schedule: Schedule) -> str:
    """Return the name of a schedule, with the parameters that are not the default."""
    known = (name for name, entry in (TABLE | OF_TASKS).items() if entry.make is type(schedule))
    return " ".join([next(known, type(schedule).__name__), *_changed(schedule)])


def _lost(used: int, held: int) -> float:
    return 1 - used / held if held else 0.0


def _changed(schedule: Schedule) -> Iterator[str]:
    """Yield the parameters that are not the default, as name=value."""
    for f in dataclasses.fields(schedule):
        if getattr(schedule, f.name) != f.default:
            yield f"{f.name}={getattr(schedule, f.name)}"
