"""Measure how far apart neighbouring atoms gather, from a sample of them: lengths do not show it."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenly.hooks import hook
from evenly.language.members import is_default
from evenly.layouts.contract import LayoutInstance, accessors
from evenly.layouts.items import Items
from evenly.layouts.moving import device_of
from evenly.layouts.pattern import PatternBatch

SECTOR = 32  # bytes: what a GPU reads from L2 at least
PROBES, FEW = 512, 32  # atoms that are looked at: at most, and where there are few
BEFORE = 1024  # atoms before each of them: about what a block has under way
TOGETHER = 32  # of these, the ones that a warp gathers by the same instruction


class Reuse(NamedTuple):
    """What share of the gathers find that no earlier one needed the same 32 bytes.

    apart: among the TOGETHER atoms of an instruction. near: among the last BEFORE atoms. Both are about 1 for random
    columns, and 0 if nothing is gathered.
    """

    apart: float
    near: float

    def __str__(self) -> str:
        return f"{self.near:.0%} of the gathers far from earlier ones"


NOTHING = Reuse(0.0, 0.0)
ANYWHERE = Reuse(1.0, 1.0)
NEARBY = Reuse(0.5, 0.05)  # as in blocks of some hundred columns


@dataclass(frozen=True, slots=True)
class Sample:
    """Which atoms are looked at: `probes` of them, `step` apart, and up to `before` that precede each."""

    atoms: int

    @property
    def probes(self) -> int:
        # They read a fiftieth of all columns at most, or those of a few.
        return min(PROBES, max(self.atoms // (50 * BEFORE), FEW), self.atoms)

    @property
    def step(self) -> int:
        return self.atoms // max(self.probes, 1)

    @property
    def before(self) -> int:
        return min(BEFORE, max(self.step - 1, 0))  # the first one has no more


_known: weakref.WeakKeyDictionary[Any, dict[int, Reuse]] = weakref.WeakKeyDictionary()


def reuse(layout: LayoutInstance | None, width: int) -> Reuse:
    """Return the reuse of numbers of `width` bytes that are gathered at a layout's columns.

    For a layout whose columns are unknown it is ANYWHERE, or NEARBY if it is a batch; of one pattern, that of an item.
    The result is remembered as long as the layout lives.
    """
    if layout is None:
        return ANYWHERE
    if not known(layout, width):
        keep(layout, width, _measured(layout, together_of(width)))
    return _known[layout][width]


def measured(found: Reuse) -> bool:
    """Whether it is of columns that were looked at, and not one of those that stand for unknown ones."""
    return not any(found is assumed for assumed in (NOTHING, ANYWHERE, NEARBY))


def known(layout: LayoutInstance, width: int) -> bool:
    return width in _known.get(layout, ())


def keep(layout: LayoutInstance, width: int, found: Reuse) -> None:
    _known.setdefault(layout, {})[width] = found


def forget(layout: Any) -> None:
    """Forget the reuse of a layout: its columns may have been changed in place."""
    _known.pop(layout, None)


def together_of(width: int) -> int:
    """Return how many numbers of so many bytes lie in 32 bytes."""
    return max(1, SECTOR // width)


def sample_of(layout: LayoutInstance) -> Sample | None:
    """Return which atoms are to be looked at; None if columns are unknown, or there are none."""
    cls: Any = type(layout)
    sample = Sample(int(layout.max_atoms))
    positions = is_default("atom_id", cls.atom_id)  # other ids may be any numbers
    found = accessors(cls).get("column") == (False, True) and positions and sample.probes
    return sample if found else None


def _measured(layout: LayoutInstance, together: int) -> Reuse:
    if isinstance(layout, PatternBatch):
        return _measured(layout[0], together) if len(layout) else NOTHING
    unknown = NEARBY if isinstance(layout, Items) else ANYWHERE  # columns within a small item
    sample = sample_of(layout)
    if sample is None:
        return unknown
    if device_of(layout) == "cuda":
        return measured_on_gpu(layout, sample, together)
    try:
        return by_numpy(layout, sample, together)
    except (TypeError, ValueError, IndexError):  # the method takes one atom at a time
        return unknown


@hook
def measured_on_gpu(layout: LayoutInstance, sample: Sample, together: int) -> Reuse:
    """Return the same for a layout on a GPU, by one small kernel."""
    raise NotImplementedError


def by_numpy(layout: Any, sample: Sample, together: int) -> Reuse:
    """together: how many numbers lie in 32 bytes."""
    at = (np.arange(sample.probes) + 1) * sample.step - 1
    back = np.arange(sample.before - 1, -1, -1) + 1
    earlier = layout.column(at[:, None] - back) // together
    same = earlier == (layout.column(at) // together)[:, None]
    apart = 1 - same[:, back < TOGETHER].any(axis=1).mean()
    return Reuse(float(apart), float(1 - same.any(axis=1).mean()))
