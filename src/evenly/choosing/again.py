"""The rule of `auto` for kernels of several passes that read the same at their atoms, as a softmax does.

If a thread of a GPU has few atoms of a tile, it loads them once for all passes (targets/gpu/emit/kept.py). So tiles
that are alike get as many threads as make them fit into registers.
"""

from __future__ import annotations

from typing import Any

from evenly import schedules as s
from evenly.gpus.gpu import REGISTER

from .powers import power_up_to
from .statistics import Statistics
from .streams import run_of


def for_again(
    st: Statistics, atom_bytes: int, numbers: dict[str, Any]
) -> tuple[s.Schedule, str] | None:
    """Return the schedule for such a kernel, and why; None if tiles differ, are too long for a block, or few.

    atom_bytes: what a pass reads at an atom. Threads that are few for a tile load, and store, runs of adjacent atoms.
    """
    held = numbers["again"]
    filled = st.atoms / max(st.tiles * (1 - st.empty), 1)
    most = min(held["alike"] * filled, held["longest"])
    if not 0 < st.greatest <= most or st.empty > held["empty"]:
        return None
    if st.atoms * atom_bytes < numbers["streams"]["least"]:
        return None
    long = st.greatest >= held["long"]
    run = 1 if long else run_of(atom_bytes)  # many threads read side by side by themselves
    many = power_up_to(held["many"] * REGISTER / max(atom_bytes, REGISTER))
    items = max(run, many if long else held["few"])
    # Runs are aligned, so the first may begin before the tile; not if all tiles are of whole runs.
    whole = st.mean == st.greatest and st.greatest % run == 0
    span, size = st.greatest + (0 if whole else run - 1), 2
    while size * items < span:
        size *= 2
    said = f"several passes read the same of tiles of up to {st.greatest:,} atoms, which fit into registers"
    return s.GroupMapped(size, max(size, held["block"]), items=items, run=run), said
