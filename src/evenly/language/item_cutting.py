"""Cut the walk over an item's tiles (see `cutting`), for an inner schedule that splits tiles.

The block that owns an item keeps nothing from one pass to the next, so a tile has one loop over its atoms, or several
that do not need each other's results.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import ir, walk
from .cutting import cut
from .diagnostics import LanguageError, Location, refuse
from .phases import Owned, Split
from .scans import has_scans

HINT = "an inner schedule that owns whole tiles, such as ev.GroupMapped(8)"


@dataclass(frozen=True, slots=True)
class Part:
    """A pass over the atoms of an item's tiles, or code that runs once a tile.

    given: the variables of the item that it reads.
    """

    phase: Split | Owned
    given: tuple[ir.Var, ...]


def walks_atoms(tiles: ir.Pass) -> bool:
    """Whether the walk over an item's tiles walks their atoms, too."""
    return any(isinstance(s, ir.Pass) for s in walk.statements(tiles.body))


def check_split(program: ir.Program) -> None:
    """Raise LanguageError if no inner schedule that splits tiles can run the loops over items."""
    for loop in program.pieces:
        if isinstance(loop, ir.TileLoop) and loop.layout.items:
            for s in walk.statements(loop.body):
                if isinstance(s, ir.Pass) and s.of is not None and walks_atoms(s):
                    cut_tiles(s, loop.path)


def can_split(program: ir.Program) -> bool:
    """Whether an inner schedule that splits tiles can run the loops over items."""
    try:
        check_split(program)
    except LanguageError:
        return False
    return True


def cut_tiles(tiles: ir.Pass, path: ir.Path) -> tuple[Part, ...]:
    """Cut a walk over an item's tiles into parts, which run one after the other.

    Raises LanguageError for scans, for dense axes, for rows with several passes that need each other's results, and for
    local arrays of the item that its tiles add to.
    """
    assert tiles.of is not None
    _check(tiles)
    loop = ir.TileLoop(tiles.of, path, tiles.atom, tiles.accumulators, tiles.body, tiles.at)
    made = cut(ir.Program("item", (loop,)), whole=False)
    if any(w.extent != "one" for w in made.workspaces):
        _refuse(tiles.at, "tiles whose loops over atoms need each other's results")
    return tuple(_part(phase) for phase in made.phases if isinstance(phase, Split | Owned))


def _check(tiles: ir.Pass) -> None:
    if has_scans(tiles.body):
        _refuse(tiles.at, "ev.scan or ev.rank over the atoms of an item's tiles")
    if any(v.length for a in tiles.accumulators for v in a.fields):
        _refuse(tiles.at, "tiles that add to a local array of their item")
    for s in walk.statements(tiles.body):
        lanes = isinstance(s, ir.For) and s.kind == "lanes"
        if lanes and any(isinstance(x, ir.Pass) for x in walk.statements((s,))):
            _refuse(s.at or tiles.at, "ev.lanes around a loop over atoms of an item's tiles")


def _refuse(at: Location | None, what: str) -> None:
    refuse(at, f"{what}, under an inner schedule that splits tiles", HINT)


def _part(phase: Split | Owned) -> Part:
    if isinstance(phase, Owned):
        return Part(phase, ())  # code like that of the item itself
    given = _given(phase)
    return Part(replace(phase, state=tuple(v for v in phase.state if v not in given)), given)


def _given(phase: Split) -> tuple[ir.Var, ...]:
    """Return the variables of the item that a phase reads."""
    around, inside = (*phase.enter, *phase.leave), phase.pass_
    read = walk.variables_read((*around, *inside.body)) | walk.variables(walk.operands(inside))
    grid = {v for g in phase.grid for v in g.accumulator.fields}
    own = walk.variables_set((*around, inside)) | {phase.tile} | grid
    return tuple(sorted(read - own, key=lambda v: v.name))
