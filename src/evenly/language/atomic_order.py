"""Tell whether results depend on the order in which atomics happen."""

from __future__ import annotations

from . import ir, walk
from .phases import Phases


def by_order(phases: Phases) -> bool:
    """Whether results depend on the order of atomics.

    They do with floating-point sums, with different operations on one array, and if an old value is used.
    """
    for phase in phases.phases:
        for name in ("body", "enter", "leave", "prelude"):
            if _ordered(getattr(phase, name, ())):
                return True
        if hasattr(phase, "pass_") and _ordered(phase.pass_.body):
            return True
    return False


def _ordered(block: ir.Block) -> bool:
    read = walk.variables_read(block)
    operations: dict[ir.Array, str] = {}
    for s in walk.statements(block):
        if isinstance(s, ir.Atomic):
            commutes = s.op not in ("add", "exch", "cas") or (
                s.op == "add" and s.array.dtype.is_integer
            )
            alone = operations.setdefault(s.array, s.op) == s.op
            if not commutes or not alone or s.result in read:
                return True
    return False
