"""The nonzero engine: all blocks take the same number of atoms."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.language.following import Following
from evenly.language.phases import Split

from ..emit.runs import Runs, runs_of
from ..emit.unit import Unit, device_counts
from ..engine import Counts
from .by_block import BlockEngine, of_warps
from .split import SplitKernels


class NonzeroEngine(BlockEngine):
    """The nonzero engine. A block takes `items` atoms per thread, of which `run` are adjacent where possible."""

    rule = "nonzero_rule"
    on_cpu = "nonzero"

    def runs(self, phase: Split, unit: Unit) -> tuple[Split, Runs | None]:
        return runs_of(phase, unit)

    def pair(self, unit: Unit) -> Following | None:
        f, listed = unit.following, getattr(unit.schedule, "hypersparse", False)
        if f is None or listed or device_counts(f.first.layout):
            return None
        return f if runs_of(f.first, unit)[1] else None

    def lists(self, made: SplitKernels) -> bool:
        wanted = getattr(made.schedule, "hypersparse", False)
        return wanted and made.folds and not made.persistent and not made.phase.scans

    def partitions(self, made: SplitKernels) -> bool:
        # Phases of a kernel share what is stored for a layout. Runs and lists need another partition.
        run, listed = getattr(made.schedule, "run", 1), getattr(made.schedule, "hypersparse", False)
        alone = run > 1 and made.runs is None
        return super().partitions(made) and (made.lists or not (alone or listed))

    def cuts(self, made: SplitKernels) -> str:
        if made.runs is None:
            return super().cuts(made)
        return f"ev::stream_partition<{shape(made)}>(phase, first_tile, main_blocks);"

    def body(self, made: SplitKernels, join: str, totals: str) -> list[str]:
        if made.runs is None:
            return super().body(made, join, totals)
        if made.pair is None:
            return [f"ev::stream_block<{shape(made)}>(phase, {join}, {totals}, first_tile);"]
        if made.follows:
            return [f"ev::follow_shared<{shape(made)}>(phase, first_tile);"]
        return [f"ev::stream_block<{shape(made)}, true>(phase, {join}, {totals}, first_tile);"]

    def shared_bytes(self, schedule: Any, value_bytes: int) -> int:
        if getattr(schedule, "run", 1) == 1:
            return super().shared_bytes(schedule, value_bytes)
        value = max(value_bytes, 8)  # one of less than 8 bytes is counted as 8
        padded = schedule.items + schedule.items // 8 + 1  # one value is left out after so many
        return int(schedule.block * (schedule.items + padded * value + value))

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts]:
        share = schedule.block * schedule.items
        cuts = np.minimum(np.arange(blocks + 1) * share, offsets[-1])
        return of_warps(schedule, np.diff(cuts))


def shape(made: SplitKernels) -> str:
    """Return what the kernels of device/stream.cuh are made for."""
    return f"Phase, {made.schedule.block}, {made.schedule.items}"
