"""The nested engine: the outer of two schedules hands out items, the inner one an item's tiles (emit/items.py)."""

from __future__ import annotations

from typing import Any

from ..engine import Counts
from .owned import OwnedEngine


class NestedEngine(OwnedEngine):
    """Runs loops over items, which the owned engine hands out as the outer schedule says."""

    runs_methods = False
    on_cpu = "merge"

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> None:
        return None
