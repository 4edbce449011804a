"""Measure on the GPU how far apart neighbouring atoms gather, for `choosing.reuse`."""

from __future__ import annotations

import numpy as np

from evenly.choosing.reuse import TOGETHER, Probes, Reuse, Sample
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.moving import an_array, device_of
from evenly.schedules import GroupMapped

from .kernel import kernel


@kernel
def look(P, L, together, found):
    apart = 0
    near = 0
    for probe in P.tiles():
        at = P.end(probe)
        mine = L.column(at) // together
        close = 0
        seen = 0
        for k in P.atoms(probe):
            same = 1 if L.column(k) // together == mine else 0
            seen = max(seen, same)
            close = max(close, same if at - k < TOGETHER else 0)
        apart += 1 - close
        near += 1 - seen
    found[0] = apart
    found[1] = near


def by_kernel(layout: LayoutInstance, sample: Sample, together: int, target: str = "") -> Reuse:
    """Run one small kernel, and read 16 bytes back."""
    found = arrays.empty(an_array(layout), (2,), np.int64)
    probes = Probes(layout, sample.probes, sample.step, sample.before)
    place = target or device_of(layout)
    look[GroupMapped(256, 256, items=4)].on(place).once(probes, layout, together, found)
    apart, near = to_numpy(found) / sample.probes
    return Reuse(float(apart), float(near))
