"""Find arrays whose elements are contended: several processors may access one, so accesses have to be atomic."""

from __future__ import annotations

from evenly.language import ir, walk
from evenly.language.phases import Once, Owned, Phase, Split


def contended(phase: Phase) -> frozenset[ir.Path]:
    """Return the contended arrays of a phase.

    These are the arrays that atomics change, which other processors may read at the same time, and the arrays in which
    several atoms or tiles may store the same value to one element. Plain loads and stores would be data races.
    """
    body = _body(phase)
    found = {s.array.path for s in walk.statements(body) if isinstance(s, ir.Atomic)}
    stores = (s for s in walk.statements(body) if isinstance(s, ir.Store) and not _placed(s))
    found |= {s.array.path for s in stores if _constant(s, phase)}
    for p in walk.statements(body):
        if isinstance(p, ir.Pass):
            inside = (s for s in walk.statements(p.body) if isinstance(s, ir.Store))
            found |= {s.array.path for s in inside if not _placed(s) and not _own(s, p.atom)}
    return frozenset(found)


def rereads(phase: Phase) -> bool:
    """Whether tiles read what tiles store. Then no block may leave a tile while another still walks it."""
    return bool(reread(_body(phase)))


def reread(body: ir.Block) -> set[ir.Array]:
    """Return the arrays that a block of code both changes, by stores or atomics, and reads."""
    touched = {a for a in walk.arrays_written(body) if not a.grows}
    return touched & {e.array for e in walk.expressions(body) if isinstance(e, ir.Element)}


def _body(phase: Phase) -> ir.Block:
    match phase:
        case Once():
            return phase.body
        case Owned():
            return (*phase.prelude, *phase.body)
    return (*phase.enter, phase.pass_, *phase.leave)


def _constant(s: ir.Store, phase: Phase) -> bool:
    """Whether several tiles may store the same value to one element."""
    of_tiles = isinstance(phase, Owned | Split) and not (s.array.own or _own(s, phase.tile))
    return of_tiles and walk.is_constant(s.value)


def _placed(s: ir.Store) -> bool:
    """Whether no other store has the element: a frontier's atomic has given it, or the counts of what is emitted."""
    return s.array.grows or s.alone


def _own(s: ir.Store, atom: ir.Var) -> bool:
    """Whether no two atoms store to the same element, because the index is the atom."""
    return any(i is atom or (isinstance(i, ir.Cast) and i.operand is atom) for i in s.indices)
