"""Loops over lanes beside passes, whose lanes the threads of a group share."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from evenly.gpus.gpu import WARP
from evenly.language import ir, walk
from evenly.language.dependence import Dependence, depend

from .expressions import ctype

if TYPE_CHECKING:
    from .owner import Owner


def reduced(loop: ir.For) -> tuple[ir.Accumulator, ...]:
    """Return the accumulators that a loop contributes to and does not start itself."""
    inside = walk.variables_set(loop.body)
    found = (s.accumulator for s in walk.statements(loop.body) if isinstance(s, ir.Accumulate))
    return tuple(dict.fromkeys(a for a in found if inside.isdisjoint(a.fields)))


def may_share(loop: ir.For, outside: Set[ir.Var], grid: Set[ir.Var]) -> bool:
    """Whether each lane may run on another thread.

    outside: the variables from outside the loop. grid: the accumulators of the whole grid, to which leaders contribute.
    """
    if loop.kind != "lanes" or not outside.isdisjoint(walk.variables_set(loop.body)):
        return False
    if any(isinstance(s, ir.Pass | ir.Scratch) for s in walk.statements(loop.body)):
        return False
    return not any(v in grid for a in reduced(loop) for v in a.fields) and stores_apart(loop)


def stores_apart(loop: ir.For) -> bool:
    """Whether lanes store at places that depend on the lane, and read nothing that others store."""
    varying = Dependence(loop.body, {loop.var}).varying()
    stores = [s for s in walk.statements(loop.body) if isinstance(s, ir.Store)]
    places: dict[ir.Array, set[tuple[ir.Expr, ...]]] = {}
    for s in stores:
        if not depend(s.indices, varying):
            return False
        places.setdefault(s.array, set()).add(s.indices)
    reads = (e for e in walk.expressions(loop.body) if isinstance(e, ir.Element))
    return all(e.indices in places[e.array] for e in reads if e.array in places)


def share(writer: Owner, loop: ir.For) -> None:
    """Write a loop over lanes that the members of a team share, and the reduction of what they contribute to."""
    effects = any(isinstance(s, ir.EFFECTS) for s in walk.statements(loop.body))
    if effects:
        writer.line("team.sync();")
    idle = writer.size > WARP and writer.size % WARP
    with writer.compound("if (team.active())" if idle else ""):
        _own_lanes(writer, loop)
    if accumulators := reduced(loop):
        walked = ir.Pass(loop.var, accumulators, loop.body)
        writer.held_blocks.append((walked,))
        writer.reduce(walked)
    if effects:
        writer.line("team.sync();")


def _own_lanes(writer: Owner, loop: ir.For) -> None:
    """Write the loop over the lanes of one member, which performs their effects itself."""
    text = writer.text
    name, stop = text.var(loop.var), text.expr(ir.Cast(loop.stop, loop.var.type))
    writer.declared.add(loop.var)
    first, step = f"{ctype(loop.var.type)} {name} = team.rank()", f"{name} += team.size()"
    writer.in_pass = True
    with writer.compound(f"for ({first}; {name} < {stop}; {step})"):
        writer.inner(loop.body)
    writer.in_pass = False
