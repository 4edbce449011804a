"""The nonzero engine: all blocks take the same number of atoms."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.gpus.gpu import WARP
from evenly.language.following import Following
from evenly.language.phases import Split
from evenly.language.types import POS, struct_bytes

from ..emit.following import read_at_once
from ..emit.parameters import Parameter
from ..emit.runs import Runs, runs_of
from ..emit.statements import fields_of
from ..emit.unit import Unit, device_counts
from ..engine import Counts
from .by_block import BlockEngine, of_warps
from .split import SplitKernels

SHARED = 48 * 1024  # bytes that a block has without asking for more
ALIGNED = 128  # bytes that the alignment of a block's arrays takes, at most


class NonzeroEngine(BlockEngine):
    """The nonzero engine. A block takes `items` atoms per thread, of which `run` are adjacent where possible."""

    rule = "nonzero_rule"
    on_cpu = "nonzero"

    def runs(self, phase: Split, unit: Unit) -> tuple[Split, Runs | None]:
        return runs_of(phase, unit)

    def pair(self, unit: Unit) -> Following | None:
        f, schedule = unit.following, unit.schedule
        if f is None or getattr(schedule, "hypersparse", False) or device_counts(f.first.layout):
            return None
        if runs_of(f.first, unit)[1] is None or _shared(f, schedule, unit.position) > SHARED:
            return None
        return f

    def parameters_of(self, made: SplitKernels) -> list[Parameter]:
        shares = [Parameter("blocks", "int", name="main")] if made.follows else []
        return [*super().parameters_of(made), *shares]

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
            return [f"ev::follow_shared<{shape(made)}>(phase, first_tile, main_blocks);"]
        return [f"ev::stream_block<{shape(made)}, true>(phase, {join}, {totals}, first_tile);"]

    def shared_bytes(self, schedule: Any, value_bytes: int) -> int:
        if getattr(schedule, "run", 1) == 1:
            return super().shared_bytes(schedule, value_bytes)
        value = max(value_bytes, 8)  # one of less than 8 bytes is counted as 8
        padded = schedule.items + schedule.items // 8 + 1  # one value is left out after so many
        return int(schedule.block * (schedule.items + padded * value))

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts]:
        share = schedule.block * schedule.items
        cuts = np.minimum(np.arange(blocks + 1) * share, offsets[-1])
        return of_warps(schedule, np.diff(cuts))


def _shared(f: Following, schedule: Any, position: int) -> int:
    """Return the bytes of shared memory of a block that goes on with the pass that follows (device/stream.cuh)."""
    fields, left = (
        [position if v.type is POS else v.type.dtype.itemsize for v in variables]
        for variables in (fields_of(f.first.pass_.accumulators), f.then.state)
    )
    value, after = struct_bytes(fields), struct_bytes(left)
    in_place = after <= value and value % (read_at_once(f.then.state) or max(left, default=1)) == 0
    block, slots = schedule.block, schedule.block * schedule.items
    values = (slots + slots // 8) * value  # one is left out after every eight, or more
    afters = 0 if in_place else slots * after
    warps = block // WARP * (3 * value + 5)  # what they exchange in a scan and in a sum
    own = block * (8 if schedule.items <= 32 else 16)
    return int(slots + values + afters + own + warps + ALIGNED)


def shape(made: SplitKernels) -> str:
    """Return what the kernels of device/stream.cuh are made for."""
    return f"Phase, {made.schedule.block}, {made.schedule.items}"
