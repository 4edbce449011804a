"""Which pass may follow the one before it at once, wherever a tile is complete, instead of in a launch of its own.

A softmax finds the greatest element and a sum, and then stores a share for each element. A schedule that splits tiles
has to launch that second pass later, since it needs all of a tile. But most tiles lie within one block, which can go
on with what it has in registers. Only tiles that blocks share are left to the second launch.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from . import ir, walk
from .accesses import has_to_fit
from .dependence import Dependence, depend
from .phases import Once, Phases, Split


@dataclass(frozen=True, slots=True)
class Following:
    """A phase, and the next one, `then`, which stores an element for each atom, and reads nothing else of the tile.

    store: the only effect of `then`, at the atom, after all else.
    after: the statements that make the state of `then` of the accumulators of `first`, as the workspace does.
    """

    first: Split
    then: Split
    store: ir.Store
    after: ir.Block


def following(made: Phases, number: int) -> Following | None:
    """Return the pair in which the phase of this number is the first or the second; None if there is none."""
    for first in (number - 1, number):
        found = _pair(made, first) if 0 <= first < len(made.phases) - 1 else None
        if found is not None:
            return found
    return None


def _pair(made: Phases, number: int) -> Following | None:
    first, then = made.phases[number : number + 2]
    if not (isinstance(first, Split) and isinstance(then, Split)) or made.repeats:
        return None
    if first.path != then.path or first.grid or first.lanes is not None:
        return None
    kept, store = _kept_alone(first), _only_store(then)
    others = [p for p in made.phases if p is not first and p is not then]
    if kept is None or store is None or any(kept.keys() & _read(p) for p in others):
        return None
    if store.array in _read(first) | _read(then):
        return None

    def known(e: ir.Expr) -> ir.Expr | None:
        return kept.get(e.array) if isinstance(e, ir.Element) else None

    entered = walk.map_block(then.enter, known)
    made_of = tuple(s for s in first.leave if not isinstance(s, ir.Store))
    again = {s.var for s in made_of if isinstance(s, ir.Assign)}
    # What the workspace would give back is there, under the same name.
    rest = tuple(
        s for s in entered if not (isinstance(s, ir.Assign) and s.var == s.value and s.var in again)
    )
    after = (*made_of, *rest)
    if first.tile in walk.variables_read(after):
        return None  # blocks know where a tile ends, and not which one it is
    return Following(first, then, store, after)


def _only_store(phase: Split) -> ir.Store | None:
    """Return what a pass stores, if it computes one element at each atom, of the atom and the state alone."""
    if phase.lanes is not None or phase.pass_.accumulators or phase.scans or phase.leave:
        return None
    match phase.pass_.body:
        case (*before, ir.Store(indices=indices) as store) if indices == (phase.pass_.atom,):
            plain = all(isinstance(s, ir.Assign) and not s.var.length for s in before)
            alone = phase.tile not in walk.variables_read(phase.pass_.body)
            return store if plain and alone and _for_any_state(phase) else None
    return None


def _for_any_state(phase: Split) -> bool:
    """Whether a pass may be computed with any numbers for its state.

    Blocks do so at atoms of tiles that they share, where they store nothing, rather than branch at each atom.
    """
    body = phase.pass_.body
    varying = Dependence(body, set(phase.state)).varying()
    return not any(depend(has_to_fit(e), varying) for e in walk.expressions(body))


def _kept_alone(phase: Split) -> dict[ir.Array, ir.Expr] | None:
    """Return what a phase keeps of each tile for later ones; None if it has other effects, too."""
    kept: dict[ir.Array, ir.Expr] = {}
    for s in phase.leave:
        if isinstance(s, ir.Store) and s.array.path[0] == "$" and s.indices == (phase.tile,):
            kept[s.array] = s.value
        elif not isinstance(s, ir.Assign) or s.var.length:
            return None
    return kept or None


def _read(phase: object) -> Set[ir.Array]:
    """Return the arrays that a phase reads."""
    match phase:
        case Split(enter=enter, pass_=pass_, leave=leave):
            return walk.arrays_read((*enter, pass_, *leave))
        case Once(body=body):
            return walk.arrays_read(body)
    return walk.arrays_read((*phase.prelude, *phase.body))  # type: ignore[attr-defined]
