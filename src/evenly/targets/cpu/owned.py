"""The owned engine: whole tiles belong to a worker, passes and all."""
from __future__ import annotations

from evenly.language import ir, walk
from evenly.language.phases import Owned
from evenly.language.schedule_code import ScheduleCode
from evenly.language.types import POS

from .grid import Grid
from .processors import answer, is_plain, threads_each
from .search import Layout, bounds
from .statements import Ranks, Writer, engine_var


def emit_owned(w: Writer, number: int, phase: Owned, layout: Layout, code: ScheduleCode | None, owner: str, size: int) -> None:
    """One worker's tiles; code, owner, size: the schedule's, where it has an opinion of its own."""
    grid = Grid(w, number, phase.grid)
    grid.start()
    w.block(phase.prelude)
    w.tile = phase.tile
    if code is None or is_plain(code, layout, owner, size):
        _consecutive(w, phase, layout)
    elif owner == "group":
        _by_groups(w, phase, code, threads_each(code, size), size)
    else:
        _by_threads(w, phase, code, threads_each(code, 1))
    grid.keep()


def _consecutive(w: Writer, phase: Owned, layout: Layout) -> None:
    """Consecutive tiles, about as much work for each worker."""
    t = w.text
    w.atoms = _whole(layout)
    if phase.has_pass:
        first, _, last, _ = bounds(layout, "merge")
        low, high = t.var(first), t.var(last)
    else:
        tiles = t.var(layout.tiles)
        low, high = f"{tiles} * worker // workers", f"{tiles} * (worker + 1) // workers"
    with w.under(f"for {t.var(phase.tile)} in range({low}, {high})"):
        w.block(phase.body)


def _whole(layout: Layout) -> ir.Inline:
    """The range of all atoms of a tile."""
    tile = engine_var("tile")
    begin = _applied(layout.code.begin, tile)
    end = _applied(layout.code.end, tile)
    return ir.Inline((tile,), (*begin.body, *end.body), (begin.results[0], end.results[0], ir.Const(1, POS)))


def _applied(code: ir.Inline, tile: ir.Var) -> ir.Inline:
    return ir.Inline((tile,), *walk.substitute(code, (tile,)))


def _by_threads(w: Writer, phase: Owned, code: ScheduleCode, each: int) -> None:
    """The tiles that a schedule gives to each thread."""
    member = w.local("member")
    answer(w.text, each, member)
    w.atoms = code.atoms
    with w.under(f"for {member} in range({each})"):
        w.block(code.setup)
        with w.under(f"for {w.text.var(phase.tile)} in {w.range(*w.inline(code.tiles))}"):
            w.block(phase.body)


def _by_groups(w: Writer, phase: Owned, code: ScheduleCode, each: int, size: int) -> None:
    """The tiles that a schedule gives to each group: its members agree on them, and share the atoms."""
    leader, member = w.local("leader"), w.local("member")
    answer(w.text, each, member)
    w.atoms = code.atoms
    w.ranks = Ranks(f"for {member} in range({leader}, {leader} + {size})", code.setup)
    with w.under(f"for {leader} in range(0, {each}, {size})"):
        w.line(f"{member} = {leader}")
        w.block(code.setup)
        with w.under(f"for {w.text.var(phase.tile)} in {w.range(*w.inline(code.tiles))}"):
            w.block(phase.body)
