"""The part that merge and nonzero share: blocks take equal shares, and lanes exchange values (device/chunk.cuh)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.gpus.gpu import WARP
from evenly.language.phases import Split
from evenly.schedules.contract import lanes_of

from ..emit.code import PartitionCode
from ..emit.contended import rereads
from ..emit.dense import Dense
from ..emit.parameters import Parameter
from ..emit.split_apart import apart_split
from ..emit.spread_split import dense_split
from ..emit.unit import device_counts
from ..engine import Counts
from .counting import COUNT_BLOCK, STEPS, WARPS
from .split import SplitEngine, SplitKernels
from .split_launch import FINISH_BLOCK

# The kernels that make a list of tiles (device/listed.cuh).
BINS_OF = "const ev::nonempty_tiles<AllTiles> tiles{phase}; ev::"
LISTING = (
    *(
        (s, n, g, f"{BINS_OF}{s}(tiles, first_tile + main_blocks + 1{more});")
        for s, n, g, more in STEPS
    ),
    ("list_begins", COUNT_BLOCK, "bins", "ev::list_begins(phase, first_tile);"),
)
# Of so many items, lanes exchange values of up to 8 bytes without shared memory (device/group.cuh).
SHUFFLED = (1, 2, 4, 8)


class BlockEngine(SplitEngine):
    """An engine whose blocks take equal shares, as `rule` says."""

    parameters = ("block", "items")

    def meets(self, phase: Split) -> bool:
        # The last of the blocks that share a tile leaves it. That is wrong for totals of the grid, which depend on
        # which block leaves a tile, and where `leave` stores what another block may have read just before.
        return not phase.grid and not rereads(phase)

    def parameters_of(self, made: SplitKernels) -> list[Parameter]:
        first = Parameter("buffer", "const pos* __restrict__", name="first_tile")
        return [first] if self.partitions(made) else []

    def partitions(self, made: SplitKernels) -> bool:
        """Whether blocks read where they begin, if a plan has stored that."""
        return not made.persistent

    def partition(self, made: SplitKernels) -> PartitionCode | None:
        if not self.partitions(made):
            return None
        # All lanes share one partition, so `phase` may have any lane.
        phase = made.phase_value(lane="0", blocks="main_blocks")
        first = Parameter("buffer", "pos*", name="first_tile")
        extra = [first, Parameter("blocks", "int", name="main"), *([WARPS] if made.lists else [])]
        steps = [*(LISTING if made.lists else ()), ("partition", FINISH_BLOCK, "partition", "")]
        kernels = tuple(
            made.following(
                name, [f"  {phase}", f"  {call or self.cuts(made)}"], extra, True, grid, block
            )
            for name, block, grid, call in steps
        )
        kept, needed = not device_counts(made.phase.layout), made.lists or made.runs is not None
        return PartitionCode(kernels, first.name, kept, needed)

    def cuts(self, made: SplitKernels) -> str:
        """Return the call that makes a partition."""
        share = made.schedule.block * made.schedule.items
        return f"ev::thread_partition<Phase, {share}, ev::{self.rule}>(phase, first_tile, main_blocks);"

    def dense(self, schedule: Any, phase: Split) -> Dense | None:
        return dense_split(schedule, phase) or apart_split(schedule, phase)

    def kind(self, made: SplitKernels) -> str:
        return f"Phase, {made.schedule.block}, {made.schedule.items}, ev::{self.rule}"

    def body(self, made: SplitKernels, join: str, totals: str) -> list[str]:
        kind = self.kind(made) + (", true" if made.loads else "")
        if made.persistent:
            return [f"ev::split_persistent<{kind}>(phase, {join}, {totals});"]
        first = ", first_tile" if self.partitions(made) else ""
        return [f"ev::split_block<{kind}>(phase, {join}, {totals}{first});"]

    def shared_bytes(self, schedule: Any, value_bytes: int) -> int:
        """Shared memory holds an id for each atom, and its value if lanes exchange values there.

        Or two values for each thread and column, where teams lie along a dense axis (device/split_dense.cuh).
        """
        lanes, vector = lanes_of(schedule)
        teams = 2 * vector * max(value_bytes, 8) if lanes * vector > 1 else 0
        by_shuffles = schedule.items in SHUFFLED and value_bytes <= 8
        each = 2 + (0 if by_shuffles else max(value_bytes, 8))
        return int(schedule.block * max(schedule.items * each, teams))


def of_warps(schedule: Any, atoms: Counts) -> tuple[int, Counts]:
    """Divide each block's atoms among its warps, in order. A warp takes as many atoms as it has slots."""
    slots = WARP * schedule.items
    before = np.arange(schedule.block // WARP) * slots
    return WARP, np.clip(atoms[:, None] - before, 0, slots).reshape(-1)
