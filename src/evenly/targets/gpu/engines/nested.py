"""The nested engine: the outer of two schedules hands out items, the inner one an item's tiles (emit/items.py)."""

from __future__ import annotations

from evenly.language.phases import Owned
from evenly.schedules.nested import levels

from ..emit.code import PhaseCode
from ..emit.unit import Unit
from ..engine import Engine
from . import engine_of


class NestedEngine(Engine):
    """Runs loops over items, which the engine of the outer schedule hands out."""

    def emit(self, unit: Unit, phase: Owned, name: str) -> PhaseCode:
        outer, _ = levels(unit.schedule)
        return engine_of(outer).emit(unit, phase, name)
