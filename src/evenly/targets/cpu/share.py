"""The share engine, for user-defined schedules that share tiles. A worker runs its threads in sequence.

A thread leaves a tile if its range reaches the tile's end, or if the tile is empty. Otherwise its
piece of the tile is carried to the next thread and, at the worker's end, to the next worker.
"""

from __future__ import annotations

from evenly.language import ir
from evenly.language.phases import Split
from evenly.language.schedule_code import ScheduleCode

from .grid import Grid
from .processors import answer, threads_each
from .setup import Setup
from .split import Pieces, lanes
from .statements import Writer, engine_var, like


def emit_share(w: Writer, number: int, phase: Split, code: ScheduleCode) -> None:
    """Write the loops over the tiles and atoms that the schedule gives to a worker's threads."""
    pieces, grid = Pieces(w, number, phase), Grid(w, number, phase.grid)
    carry = w.local("carry")
    carried = [like(v, "carried") for v in pieces.fields]
    each, member = threads_each(code, 1), w.local("member")
    answer(w.text, each, member)
    setup = Setup(w, number, code, each, member)
    pieces.none()
    grid.start()
    setup.beforehand()
    with lanes(w, phase):
        w.line(f"{carry} = -1  # the tile of which an earlier thread has a piece")
        w.line(
            f"{w.local('from_start')} = False  # whether this worker has that tile from its start"
        )
        pieces.copy(carried, [ir.Const(0, v.type) for v in carried])
        with w.compound(f"for {member} in range({each})"):
            setup.of_member()
            w.over(code.tiles, phase.tile, lambda: _piece(w, phase, code, pieces, carried))
        if phase.leave:
            with w.compound(f"if {carry} >= 0"):
                pieces.keep("1", carry, carried)
    grid.keep()


def _piece(
    w: Writer,
    phase: Split,
    code: ScheduleCode,
    pieces: Pieces,
    carried: list[ir.Var],
) -> None:
    """Write the code for one thread's piece of a tile."""
    t = w.text
    start, stop = engine_var("start"), engine_var("stop")
    first, last, step = w.inline(code.atoms, phase.tile)
    w.line(f"{t.var(start)} = {t.expr(first)}")
    w.line(f"{t.var(stop)} = {t.expr(last)}")
    begin, end = (
        w.held("begin", phase.layout.begin, phase.tile),
        w.held("end", phase.layout.end, phase.tile),
    )
    w.block(phase.enter)
    w.identities(phase.pass_.accumulators)
    w.atom_loop(phase.pass_, (start, stop, step))
    if phase.leave:
        _hand_over(w, phase, pieces, carried, *(t.var(v) for v in (start, stop, begin, end)))


def _hand_over(
    w: Writer,
    phase: Split,
    pieces: Pieces,
    carried: list[ir.Var],
    start: str,
    stop: str,
    begin: str,
    end: str,
) -> None:
    tile, carry, from_start = w.text.var(phase.tile), w.local("carry"), w.local("from_start")
    with w.compound(f"if {carry} == {tile}"):
        pieces.combine(carried)
    with w.compound("else"):
        w.line(f"{from_start} = {start} <= {begin}")
    with w.compound(f"if {begin} == {end} or ({start} < {stop} and {stop} >= {end})"):
        with w.compound(f"if {from_start} or {begin} == {end}"):
            w.block(phase.leave)
        with w.compound("else"):
            pieces.keep("0", tile)
        w.line(f"{carry} = -1")
    with w.compound(f"elif {start} < {stop}"):
        pieces.copy(carried, pieces.fields)
        w.line(f"{carry} = {tile}")
