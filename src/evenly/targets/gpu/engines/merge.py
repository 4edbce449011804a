"""The merge engine: blocks take equal pieces of the merge path, which counts tiles and atoms together."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.language.phases import Split

from ..emit.early_loads import Loads, early_loads
from ..emit.unit import Unit
from ..engine import Counts
from .by_block import BlockEngine, of_warps


class MergeEngine(BlockEngine):
    """The merge engine. A block takes `items` tiles and atoms per thread."""

    rule = "merge_rule"

    def early_loads(self, phase: Split, unit: Unit) -> tuple[Split, Loads]:
        return early_loads(phase, unit.schedule, unit.written, unit.wide)

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts]:
        share = schedule.block * schedule.items
        return of_warps(schedule, along_path(offsets, share, blocks))


def along_path(offsets: Counts, share: int, count: int) -> Counts:
    """Return the number of atoms in each of `count` pieces of the merge path. A piece has `share` tiles and atoms."""
    tiles = len(offsets) - 1
    cuts = np.minimum(np.arange(count + 1) * share, tiles + offsets[-1])
    ended = np.searchsorted(offsets[1:] + np.arange(tiles), cuts)
    atoms: Counts = np.diff(cuts - ended)
    return atoms
