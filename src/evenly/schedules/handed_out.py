"""What schedules have in common whose engine hands out the tiles."""

from __future__ import annotations

from typing import Any

from evenly.language.names import group

from .group_mapped import ceil_share

RESIDENT_THREADS = 2048  # that a multiprocessor holds at most, from sm_80 on
# Blocks of an engine, over those that a GPU runs at once. Blocks that take what is left stay; where the longest tiles
# come first, later blocks fill in.
ROUNDS = {"dynamic": 1, "lrb": 4}


def most_blocks(schedule: Any, multiprocessors: int) -> int:
    """How many blocks are worth launching for a schedule whose engine is one of ROUNDS."""
    return multiprocessors * ROUNDS[schedule.engine] * (RESIDENT_THREADS // int(schedule.block))


class HandedOut:
    """Where no engine hands them out (`cpu`, `python`), each thread or group has consecutive tiles."""

    size: int

    def tiles(self, layout):
        share = ceil_share(layout.num_tiles, group(self.size).count)
        start = min(group(self.size).index * share, layout.num_tiles)
        return range(start, min(start + share, layout.num_tiles))

    def atoms(self, layout, tile):
        return range(layout.begin(tile) + group(self.size).rank, layout.end(tile), self.size)
