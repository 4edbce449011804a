"""The owned engine: a worker runs whole tiles, with all their passes."""

from __future__ import annotations

from evenly.language import ir
from evenly.language.phases import Owned
from evenly.language.schedule_code import ScheduleCode, whole_tile
from evenly.language.types import POS

from .grid import Grid
from .processors import answer, threads_each
from .setup import Setup
from .staged import both_ways
from .statements import Ranks, Writer


def emit_owned(
    w: Writer,
    number: int,
    phase: Owned,
    code: ScheduleCode | None,
    owner: str,
    size: int,
    quick: bool = False,
) -> None:
    """Write the loop over one worker's tiles. code, owner, size: those of a schedule that divides the tiles itself.

    quick: whether gathers are quick on the processor.
    """
    grid = Grid(w, number, phase.grid)
    grid.start()
    w.block(phase.prelude)
    w.tile = phase.tile
    w.in_order = whole_tile(phase.layout, ir.Const(1, POS))
    if code is None:
        _consecutive(w, phase, quick)
    elif owner == "group":
        _by_groups(w, number, phase, code, size)
    else:
        _by_threads(w, number, phase, code)
    grid.keep()


def _consecutive(w: Writer, phase: Owned, quick: bool) -> None:
    """Write a loop over consecutive tiles. Each worker has about the same amount of work."""
    w.atoms = w.in_order
    first_tile, *_, end_whole = w.share()
    for first, end in both_ways(w, phase, first_tile, end_whole, quick):
        with w.compound(f"for {w.text.var(phase.tile)} in range({first}, {end})"):
            w.block(phase.body)


def _by_threads(w: Writer, number: int, phase: Owned, code: ScheduleCode) -> None:
    """Write a loop over the tiles that a schedule gives to each thread."""
    each, member = threads_each(code, 1), w.local("member")
    answer(w.text, each, member)
    w.atoms = code.atoms
    setup = Setup(w, number, code, each, member)
    setup.beforehand()
    with w.compound(f"for {member} in range({each})"):
        setup.of_member()
        w.over(code.tiles, phase.tile, lambda: w.block(phase.body))


def _by_groups(w: Writer, number: int, phase: Owned, code: ScheduleCode, size: int) -> None:
    """Write a loop over the tiles that a schedule gives to each group. The group's members share the atoms."""
    each, leader, member = threads_each(code, size), w.local("leader"), w.local("member")
    answer(w.text, each, member)
    w.atoms = code.atoms
    setup = Setup(w, number, code, each, member)
    w.ranks = Ranks(f"for {member} in range({leader}, {leader} + {size})", setup.of_member)
    setup.beforehand()
    with w.compound(f"for {leader} in range(0, {each}, {size})"):
        w.line(f"{member} = {leader}")
        setup.of_member()

        def body() -> None:
            w.block(phase.body)
            if not code.tiles.results:  # the leader walks on, after the passes of all members
                w.line(f"{member} = {leader}")
                setup.of_member()

        w.over(code.tiles, phase.tile, body)
