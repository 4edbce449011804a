"""Measure the lengths and the columns of a layout on a GPU at once: a call takes longer than what it measures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenly.hooks import hook
from evenly.layouts.contract import LayoutInstance, is_layout

from . import reuse, statistics
from .lengths import Sums, by_gpu
from .reuse import Reuse, Sample, sample_of, together_of


def look(layout: LayoutInstance, width: int) -> None:
    """Measure both where neither is known, for a kernel that gathers numbers of `width` bytes."""
    unknown = not (statistics.known(layout) or reuse.known(layout, width))
    if unknown and statistics.judged_by(layout) is layout and by_gpu(layout):
        sample = sample_of(layout)
        if sample is not None:
            lengths, columns = both_on_gpu(layout, sample, together_of(width))
            statistics.keep(layout, lengths)
            reuse.keep(layout, width, columns)


def forget(values: Iterable[Any]) -> None:
    """Forget both of the layouts in `values`: offsets and columns may have been changed in place."""
    layouts = [value for value in values if is_layout(value)]
    statistics.forget(layouts)
    for layout in layouts:
        reuse.forget(layout)
        reuse.forget(statistics.judged_by(layout))


@hook
def both_on_gpu(layout: LayoutInstance, sample: Sample, together: int) -> tuple[Sums, Reuse]:
    """Return what `lengths.measured_on_gpu` and `reuse.measured_on_gpu` return, by one small kernel."""
    raise NotImplementedError
