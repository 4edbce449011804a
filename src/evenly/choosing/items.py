"""The rule of `auto` for kernels with loops over items: who takes an item, and who its tiles."""

from __future__ import annotations

import math
from typing import Any

from evenly import schedules as s
from evenly.gpus.numbers import numbers


def for_items(layout: Any, gpu: bool) -> tuple[s.Schedule, str]:
    """Return the schedule for the items of a layout, and why: from the mean numbers of an item's tiles and atoms."""
    if not gpu:
        return s.ThreadMapped(), "a worker of a CPU walks whole items"
    held = numbers()["items"]
    tiles, atoms = int(layout.max_tiles), int(layout.max_atoms)
    length, size = atoms / max(tiles, 1), tiles / max(int(layout.num_items), 1)
    lanes = min(_power(length / held["atoms"]), 32)
    threads = min(max(_power(size * lanes / held["tiles"]), lanes), held["block"])
    why = f"items of {size:.1f} tiles of {length:.1f} atoms, in the mean"
    inner = s.GroupMapped(lanes) if lanes > 1 else s.ThreadMapped(items=held["alone"])
    if threads == 1:
        return s.Nested(s.ThreadMapped(), inner), why
    outer = s.GroupMapped(threads) if threads <= 32 else s.BlockMapped(threads)
    return s.Nested(outer, inner), why


def _power(x: float) -> int:
    """Return the power of two next to x, from 1."""
    return int(2 ** max(0, round(math.log2(x)))) if x > 1 else 1
