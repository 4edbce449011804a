"""The methods that schedules share whose engine hands out the tiles."""

from __future__ import annotations

from evenly.language.names import group

from .group_mapped import ceil_share


class HandedOut:
    """On targets where no engine hands out tiles (`cpu`, `python`), each thread or group has consecutive tiles."""

    size: int

    def tiles(self, layout):
        share = ceil_share(layout.num_tiles, group(self.size).count)
        start = min(group(self.size).index * share, layout.num_tiles)
        return range(start, min(start + share, layout.num_tiles))

    def atoms(self, layout, tile):
        return range(layout.begin(tile) + group(self.size).rank, layout.end(tile), self.size)
