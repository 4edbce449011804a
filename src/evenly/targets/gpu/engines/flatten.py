"""The flatten engine: a group takes one tile per thread, and its threads share all their atoms (device/flatten.cuh)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.schedules.contract import ceil_div

from ..engine import Counts
from .split import SplitEngine, SplitKernels


class FlattenEngine(SplitEngine):
    """The flatten engine. No tile is shared by two groups of `size` threads."""

    parameters = ("size", "block")
    on_cpu = "methods"
    folds = False
    looks_back = False

    def body(self, made: SplitKernels, join: str, totals: str) -> list[str]:
        kind = f"Phase, {made.schedule.size}, {made.schedule.block}"
        return [f"ev::flatten<{kind}>(phase, {totals});"]

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts]:
        tiles = len(offsets) - 1
        first = np.arange(ceil_div(tiles, schedule.size) + 1) * schedule.size
        return schedule.size, np.diff(offsets[np.minimum(first, tiles)])
