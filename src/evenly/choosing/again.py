"""The rule of `auto` for kernels of several passes that read the same at their atoms, as a softmax does.

If a thread of a GPU has few atoms of a tile, it loads them once for all passes (targets/gpu/emit/kept.py). So tiles get
as many threads as make them fit into registers.
"""

from __future__ import annotations

from typing import Any

from evenly import schedules as s

from .statistics import Statistics


def for_again(st: Statistics, kept: bool, numbers: dict[str, Any]) -> tuple[s.Schedule, str] | None:
    """Return the schedule for such a kernel, and why; None if the longest tile is too long for a block.

    kept: whether a plan keeps the order of the tiles.
    """
    held = numbers["again"]
    items, filled = held["items"], st.atoms / max(st.tiles * (1 - st.empty), 1)
    if not 0 < st.greatest <= held["longest"]:
        return None
    said = f"several passes read the same of tiles of up to {st.greatest:,} atoms, which fit into registers"
    if st.greatest <= held["alike"] * filled:
        size = 2
        while size * items < st.greatest:
            size *= 2
        return s.GroupMapped(size, max(size, held["block"]), items=items), said
    if not kept:
        return None
    block, lanes, thread, group, warp = held["bins"]
    return s.Lrb(block, lanes, thread, group, warp, items), said
