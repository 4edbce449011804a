"""The owned engine: a worker runs whole tiles, with all their passes."""

from __future__ import annotations

from evenly.language import ir
from evenly.language.phases import Owned
from evenly.language.schedule_code import ScheduleCode, whole_tile
from evenly.language.types import POS

from .grid import Grid
from .processors import answer, threads_each
from .statements import Ranks, Writer


def emit_owned(
    w: Writer,
    number: int,
    phase: Owned,
    code: ScheduleCode | None,
    owner: str,
    size: int,
) -> None:
    """Write the loop over one worker's tiles. code, owner, size: those of a schedule that divides the tiles itself."""
    grid = Grid(w, number, phase.grid)
    grid.start()
    w.block(phase.prelude)
    w.tile = phase.tile
    w.in_order = whole_tile(phase.layout, ir.Const(1, POS))
    if code is None:
        _consecutive(w, phase)
    elif owner == "group":
        _by_groups(w, phase, code, threads_each(code, size), size)
    else:
        _by_threads(w, phase, code, threads_each(code, 1))
    grid.keep()


def _consecutive(w: Writer, phase: Owned) -> None:
    """Write a loop over consecutive tiles. Each worker has about the same amount of work."""
    w.atoms = w.in_order
    first_tile, *_, end_whole = w.share()
    with w.compound(f"for {w.text.var(phase.tile)} in range({first_tile}, {end_whole})"):
        w.block(phase.body)


def _by_threads(w: Writer, phase: Owned, code: ScheduleCode, each: int) -> None:
    """Write a loop over the tiles that a schedule gives to each thread."""
    member = w.local("member")
    answer(w.text, each, member)
    w.atoms = code.atoms
    with w.compound(f"for {member} in range({each})"):
        w.block(code.setup)
        w.over(code.tiles, phase.tile, lambda: w.block(phase.body))


def _by_groups(w: Writer, phase: Owned, code: ScheduleCode, each: int, size: int) -> None:
    """Write a loop over the tiles that a schedule gives to each group. The group's members share the atoms."""
    leader, member = w.local("leader"), w.local("member")
    answer(w.text, each, member)
    w.atoms = code.atoms
    w.ranks = Ranks(f"for {member} in range({leader}, {leader} + {size})", code.setup)
    with w.compound(f"for {leader} in range(0, {each}, {size})"):
        w.line(f"{member} = {leader}")
        w.block(code.setup)

        def body() -> None:
            w.block(phase.body)
            if not code.tiles.results:  # the leader walks on, after the passes of all members
                w.line(f"{member} = {leader}")
                w.block(code.setup)

        w.over(code.tiles, phase.tile, body)
