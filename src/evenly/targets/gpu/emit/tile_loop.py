"""Emit the loop over the tiles that a schedule gives to each thread or group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evenly.language import ir, walk
from evenly.language.phases import Owned
from evenly.language.schedule_code import ScheduleCode
from evenly.targets.printing.statements import Over

from .owner import Owner
from .statements import given_loop, range_head


def tile_loop(writer: Owner, phase: Owned, code: ScheduleCode, size: int, alone: bool) -> None:
    """Write the loop over tiles, with its prelude. alone: a thread or group has at most one tile."""
    text = writer.text
    writer.at = phase.at
    if size > 1:
        writer.line("if (team.present()) {")
        writer.depth += 1
    writer.block(phase.prelude)
    writer.block(code.setup)
    writer.tile = phase.tile
    name = text.var(phase.tile)
    writer.declared.add(phase.tile)

    def given(over: Over) -> None:
        with given_loop(writer, name, over):
            writer.block(phase.body)

    if code.tiles.results:
        writer.block(code.tiles.body)
        with _tiles(writer, name, code.tiles.results, alone, reads_at_tile(phase.body)):
            writer.block(phase.body)
    else:
        writer.generate(code.tiles.body, given)
    if size > 1:
        writer.depth -= 1
        writer.line("}")
    writer.at = None


@contextmanager
def _tiles(
    writer: Owner, name: str, over: tuple[ir.Expr, ...], alone: bool, reads: bool
) -> Iterator[None]:
    """Open the loop over tiles.

    If the writer is converged, all groups of a warp make the same number of iterations, and in the last one some may
    have no tile. If the body `reads` memory at tile level, such a group computes on the last tile, but stores nothing.
    If `alone`, there is no loop: around the loops over atoms, it made ptxas unroll those in a slower way.
    """
    start, stop, step = (writer.text.expr(e) for e in over)
    if not writer.converged:
        loop = range_head("pos", name, start, stop, step, over[2])
        one = f"if (const pos {name} = {start}; {name} < {stop})"
        with writer.compound(one if alone and (writer.size == 1 or writer.dense) else loop):
            yield
        return
    first = writer.text.unique("first")
    own = start if alone else f"{first} + team.in_warp_rank()"
    with writer.compound(
        ""
        if alone
        else f"for (pos {first} = {start} - team.in_warp_rank(); {first} < {stop}; {first} += {step})"
    ):
        writer.line(f"const bool live = {own} < {stop};")
        writer.line(f"const pos {name} = {f'live ? {own} : {stop} - 1' if reads else own};")
        yield


def walks_all_groups(code: ScheduleCode) -> bool:
    """Whether groups walk the tiles in turn: range(group.index, n, group.count), with the same n for all groups."""
    if not code.tiles.results:
        return False
    start, stop, step = code.tiles.results
    behind = [*walk.subexpressions(stop), *walk.expressions(code.tiles.body)]
    return (
        not any(isinstance(e, ir.Processor | ir.Peer) or e in code.state for e in behind)
        and isinstance(start, ir.Processor)
        and start.what == "group_index"
        and isinstance(step, ir.Processor)
        and step.what == "group_count"
    )


def reads_at_tile(body: ir.Block) -> bool:
    """Whether the body reads memory at tile level, outside its passes over atoms."""
    outside = tuple(s for s in body if not isinstance(s, ir.Pass))
    return any(isinstance(e, ir.Element) for e in walk.expressions(outside))
