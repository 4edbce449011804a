"""Measure a layout on its GPU, for `choosing`: the lengths of its tiles, and what its columns gather.

One launch and one copy measure both where both are wanted: a call, and the wait for its results, takes longer than the
kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.choosing.lengths import Sums
from evenly.choosing.reuse import TOGETHER, Reuse, Sample
from evenly.choosing.walks import Sampled, Walks, placed
from evenly.gpus.gpu import WARP
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import Layout, LayoutInstance, Static, layout
from evenly.layouts.moving import an_array, device_of
from evenly.schedules import GroupMapped

from .entries import outside_captures
from .kernel import kernel

SECTIONS, LEAST = 512, 1024  # of all tiles: how many at most, and how many tiles each has at least
SUMS = 4  # numbers of a section
TEAMS = GroupMapped(256)  # one for each part
NEAR, CLOSE = 1, 2  # of a probe: the same 32 bytes before it, or among those of its instruction


@layout
class Parts(LayoutInstance):
    """What is looked at, part by part: sections of all tiles, runs of the sampled ones, and probes of the columns.

    The atoms of a section are tiles of the base, `share` of them, and those of a run are as many as a warp has lanes.
    The atoms of a probe are those that precede one of the base's atoms. gathers: whether there are probes.
    """

    base: Layout
    share: int
    sections: int
    every: int
    runs: int
    gathers: Static
    probes: int
    step: int
    before: int

    delegate = "base"  # for the columns

    @property
    def num_tiles(self):
        return self.sections + self.runs + self.probes

    @property
    def num_atoms(self):
        return self.base.num_tiles + self.base.num_atoms

    @property
    def max_tiles(self):
        return self.sections + self.runs + self.probes

    @property
    def max_atoms(self):
        return self.base.max_tiles + self.base.max_atoms

    def probe(self, part):
        """Return the atom that is looked at."""
        return (part - self.sections - self.runs + 1) * self.step - 1

    def first(self, part):
        """Return the first tile of a section or run; the layout may have fewer."""
        index = part - self.sections
        run = index * self.every + placed(index, self.every)
        return part * self.share if index < 0 else run * WARP

    def begin(self, part):
        if part < self.sections + self.runs:
            return self.first(part)
        return self.probe(part) - self.before

    def end(self, part):
        if part < self.sections:
            return max(self.first(part), min(self.first(part) + self.share, self.base.num_tiles))
        return self.first(part) + WARP if part < self.sections + self.runs else self.probe(part)

    def length(self, tile):
        """Return the length of a tile; 0 beyond the last one."""
        return self.base.end(tile) - self.base.begin(tile) if tile < self.base.num_tiles else 0


@kernel
def look(P, together, found):
    """Store the sums of each section, then the lengths of each run, then a mark for each probe."""
    for part in P.tiles():
        run = part - P.sections
        squares = 0.0
        greatest = 0
        empty = 0
        moment = 0.0
        mine = P.column(P.probe(part)) // together if P.gathers == 1 and run >= P.runs else 0
        mark = 0
        for k in P.atoms(part):
            if run < 0:
                length = P.length(k)
                squares += float(length) * float(length)
                moment += float(length) * float(k)
                greatest = max(greatest, length)
                empty += 1 if length == 0 else 0
            elif run < P.runs:
                found[SUMS * P.sections + run * WARP + k - P.first(part)] = P.length(k)
            elif P.gathers == 1 and P.column(k) // together == mine:
                mark = max(mark, CLOSE if P.end(part) - k < TOGETHER else NEAR)
        if run < 0:
            found[SUMS * part] = squares
            found[SUMS * part + 1] = greatest
            found[SUMS * part + 2] = empty
            found[SUMS * part + 3] = moment
        elif run >= P.runs:
            found[SUMS * P.sections + P.runs * WARP + run - P.runs] = mark


def lengths_of(layout: LayoutInstance, target: str = "") -> Sums:
    """Return the sums over the lengths; up to 32 KiB are read back."""
    tiles = Sampled(int(layout.max_tiles))
    return _sums(_run(layout, tiles, None, 1, target), tiles)


def reuse_of(layout: LayoutInstance, sample: Sample, together: int, target: str = "") -> Reuse:
    """Return the reuse of the columns; up to 4 KiB are read back."""
    return _reuse(_run(layout, Sampled(0), sample, together, target))


def both_of(
    layout: LayoutInstance, sample: Sample, together: int, target: str = ""
) -> tuple[Sums, Reuse]:
    """Return the sums over the lengths, and the reuse of the columns."""
    tiles = Sampled(int(layout.max_tiles))
    held = _run(layout, tiles, sample, together, target)
    return _sums(held[: -sample.probes], tiles), _reuse(held[-sample.probes :])


def _run(
    layout: LayoutInstance, tiles: Sampled, atoms: Sample | None, together: int, target: str
) -> Any:
    """Run the kernel, and return what it has found, as a NumPy array."""
    sections = min(-(-tiles.tiles // LEAST), SECTIONS)
    share = -(-tiles.tiles // max(sections, 1))
    probes = (0, 0, 0, 0) if atoms is None else (1, atoms.probes, atoms.step, atoms.before)
    parts = Parts(layout, share, sections, tiles.every, tiles.runs, *probes)
    size = SUMS * sections + WARP * tiles.runs + parts.probes
    like, target = an_array(layout), target or device_of(layout)
    if target == "cuda":
        hint = "call it once before, or choose a schedule: kernel[schedule](...)"
        outside_captures(like, "tiles are measured for `auto`", hint)
    found = arrays.empty(like, (size,), np.float64)
    look[TEAMS].on(target).once(parts, together, found)
    return to_numpy(found)


def _sums(held: Any, tiles: Sampled) -> Sums:
    count = len(held) - WARP * tiles.runs
    sections, lengths = held[:count].reshape(-1, SUMS), held[count:].reshape(-1, WARP)
    squares, _, empty, moment = sections.sum(0).tolist()
    return Sums(squares, int(sections[:, 1].max(initial=0)), int(empty), moment, Walks(lengths))


def _reuse(held: Any) -> Reuse:
    apart, near = (np.count_nonzero(held < mark) / len(held) for mark in (CLOSE, NEAR))
    return Reuse(apart, near)
