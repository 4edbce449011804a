"""The team engine: several blocks, all of which run at once, own an item together (device/blocks.cuh)."""

from __future__ import annotations

from typing import Any, ClassVar

from evenly.gpus.gpu import Gpu
from evenly.schedules.contract import Sizes

from ..emit.parameters import Parameter
from ..emit.several import Several
from ..emit.totals import partials
from ..engine import Counts
from ..sizing import ONE, Sizing
from .owned import OwnedEngine

TEAM = Parameter("blocks", "int", name="team_blocks")


class TeamEngine(OwnedEngine):
    """Runs the schedule's `tiles`. A team has `blocks` blocks, or as many as run at once."""

    owners: ClassVar[tuple[str, ...]] = ("group",)
    parameters = ("blocks", "block")

    def several(self, schedule: Any) -> Several:
        return Several(schedule.block, TEAM.name, (TEAM,))

    def sizing(
        self, schedule: Any, grid_words: int, bounded: bool, sizes: Sizes, lanes: int, gpu: Gpu
    ) -> Sizing:
        """Compute how a phase is launched. bounded: does not matter: there are as many blocks as run at once."""
        most = gpu.together(schedule.block)
        team = min(schedule.blocks, most)
        blocks = team * min(sizes.num_tiles, most // team)
        grids = {"tiles": (blocks, 1), "one": ONE}
        counts = {"all_lanes": blocks, TEAM.name: team}
        return Sizing(grids, counts, partials(blocks, grid_words), team)

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> None:
        return None
