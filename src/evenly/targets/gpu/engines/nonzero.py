"""The nonzero engine: all blocks take the same number of atoms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import Counts
from .by_block import BlockEngine, of_warps


class NonzeroEngine(BlockEngine):
    """The nonzero engine. A block takes `items` atoms per thread."""

    rule = "nonzero_rule"
    on_cpu = "nonzero"

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts]:
        share = schedule.block * schedule.items
        cuts = np.minimum(np.arange(blocks + 1) * share, offsets[-1])
        return of_warps(schedule, np.diff(cuts))
