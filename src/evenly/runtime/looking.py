"""Measure a layout on its GPU, for `choosing`: the lengths of its tiles, and what its columns gather.

One call does both where both are wanted: a call, and the wait for its results, takes longer than the kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.choosing.lengths import Sums
from evenly.choosing.reuse import Probes, Reuse, Sample
from evenly.choosing.walks import RUNS, Sampled, Walks, placed
from evenly.gpus.gpu import WARP
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.language.names import atomic_max
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.moving import an_array, device_of
from evenly.layouts.positions import Positions
from evenly.schedules import ThreadMapped

from .kernel import kernel

SUMS = 4  # numbers in front of the lengths; what probes have found comes behind
NEAR, CLOSE = 1.0, 2.0  # of a probe: the same 32 bytes before it, or among those of its instruction


@kernel
def look(L, P, every, together, first, found):
    """L: the tiles whose lengths are measured. P: parts of what precedes some atoms. Either may be None."""
    if L is not None:
        squares = 0.0
        greatest = 0
        empty = 0
        moment = 0.0
        for tile in L.tiles():
            length = L.end(tile) - L.begin(tile)
            squares += float(length) * float(length)
            moment += float(length) * float(tile)
            greatest = max(greatest, length)
            empty += 1 if length == 0 else 0
            run = tile // WARP
            index = run // every
            if index < RUNS and run - index * every == placed(index, every):
                found[SUMS + index * WARP + tile % WARP] = length
        found[0] = squares
        found[1] = greatest
        found[2] = empty
        found[3] = moment
    if P is not None:
        for part in P.tiles():
            mine = P.column(P.probe(part)) // together
            same = 0
            for k in P.atoms(part):
                same = max(same, 1 if P.column(k) // together == mine else 0)
            if same == 1:
                mark = CLOSE if P.nearest(part) else NEAR
                atomic_max(found, first + P.number(part), mark)


def lengths_of(layout: LayoutInstance, target: str = "") -> Sums:
    """Return the sums over the lengths, by one small kernel; up to 16 KiB are read back."""
    sample = Sampled(int(layout.max_tiles))
    held = _run(layout, sample, None, 1, target)
    return _sums(held)


def reuse_of(layout: LayoutInstance, sample: Sample, together: int, target: str = "") -> Reuse:
    """Return the reuse of the columns, by one small kernel; up to 4 KiB are read back."""
    return _reuse(_run(layout, None, sample, together, target))


def both_of(
    layout: LayoutInstance, sample: Sample, together: int, target: str = ""
) -> tuple[Sums, Reuse]:
    """Return the sums over the lengths, and the reuse of the columns, by one small kernel."""
    tiles = Sampled(int(layout.max_tiles))
    held = _run(layout, tiles, sample, together, target)
    return _sums(held[: -sample.probes]), _reuse(held[-sample.probes :])


def _run(
    layout: LayoutInstance,
    tiles: Sampled | None,
    atoms: Sample | None,
    together: int,
    target: str,
) -> Any:
    """Run the kernel, and return what it has found, as a NumPy array."""
    first = 0 if tiles is None else SUMS + tiles.runs * WARP
    # Zeros stand for tiles that the sample has places for, but the layout lacks.
    size = first + (0 if atoms is None else atoms.probes)
    found = arrays.zeros(an_array(layout), (size,), np.float64)
    L = None if tiles is None else Positions(layout)
    P = None if atoms is None else Probes(layout, atoms.probes, atoms.step, atoms.before)
    every = 1 if tiles is None else tiles.every
    bound = look[ThreadMapped()].on(target or device_of(layout))
    bound.once(L, P, every, together, first, found)
    return to_numpy(found)


def _sums(held: Any) -> Sums:
    squares, greatest, empty, moment = map(float, held[:SUMS])
    walks = Walks(held[SUMS:].reshape(-1, WARP))
    return Sums(squares, int(greatest), int(empty), moment, walks)


def _reuse(held: Any) -> Reuse:
    return Reuse(float((held < CLOSE).mean()), float((held < NEAR).mean()))
