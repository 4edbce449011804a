"""The rule of `auto` for kernels of several passes that read the same at their atoms, as a softmax does.

If a thread of a GPU has few atoms of a tile, it loads them once for all passes (targets/gpu/emit/kept.py). So tiles
that are alike get as many threads as make them fit into registers.
"""

from __future__ import annotations

from typing import Any

from evenly import schedules as s

from .statistics import Statistics


def for_again(st: Statistics, numbers: dict[str, Any]) -> tuple[s.Schedule, str] | None:
    """Return the schedule for such a kernel, and why; None if tiles differ, or are too long for a block."""
    held = numbers["again"]
    filled = st.atoms / max(st.tiles * (1 - st.empty), 1)
    most = min(held["alike"] * filled, held["longest"])
    if not 0 < st.greatest <= most or st.empty > held["empty"]:
        return None
    items, size = held["many" if st.greatest >= held["long"] else "few"], 2
    while size * items < st.greatest:
        size *= 2
    said = f"several passes read the same of tiles of up to {st.greatest:,} atoms, which fit into registers"
    return s.GroupMapped(size, max(size, held["block"]), items=items), said
