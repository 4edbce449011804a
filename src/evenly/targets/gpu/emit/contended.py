"""Find arrays whose elements are contended: several processors may access one, so accesses have to be atomic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from evenly.language import ir, walk
from evenly.language.phases import Once, Owned, Phase, Split


def contended(phase: Phase) -> frozenset[ir.Path]:
    """Return the contended arrays of a phase.

    These are the arrays that atomics change, which other processors may read at the same time, and the arrays in which
    several atoms, tiles or lanes may store the same value to one element. Plain loads and stores would be data races.
    """
    body = _body(phase)
    found = {s.array.path for s in walk.statements(body) if isinstance(s, ir.Atomic)}
    found |= {s.array.path for s, around in _stores(body, ()) if _meets(s, around, phase)}
    return frozenset(found)


def _stores(
    block: ir.Block, around: tuple[ir.Pass, ...]
) -> Iterator[tuple[ir.Store, tuple[ir.Pass, ...]]]:
    """Yield the stores of a block, each with the passes that it is in, from the outermost on."""
    for s in block:
        if isinstance(s, ir.Store):
            yield s, around
        for inner in walk.blocks(s):
            yield from _stores(inner, (*around, s) if isinstance(s, ir.Pass) else around)


def _meets(s: ir.Store, around: tuple[ir.Pass, ...], phase: Phase) -> bool:
    """Whether another store may have the same element."""
    if _placed(s):
        return False
    # Each lane around has threads of its own, which store what lanes have in common.
    if isinstance(phase, Split) and phase.lane is not None and not _own(s, phase.lane):
        return True
    if around and not _apart(s, around):
        return True
    # No tile or atom belongs to two items.
    of_items = isinstance(phase, Owned) and phase.layout.items
    return _constant(s, phase) and not (of_items and around)


def rereads(phase: Phase) -> bool:
    """Whether tiles read what tiles store. Then no block may leave a tile while another still walks it."""
    return bool(reread(_body(phase)))


def reread(body: ir.Block) -> set[ir.Array]:
    """Return the arrays that a block of code both changes, by stores or atomics, and reads."""
    touched = {a for a in walk.arrays_written(body) if not a.grows}
    return touched & walk.arrays_read(body)


def stored_twice(body: ir.Block) -> set[ir.Array]:
    """Return the arrays that two loops over an item's tiles change, or such a loop and the code around it."""
    loops = [s for s in walk.statements(body) if isinstance(s, ir.Pass) and s.of is not None]
    times = Counter(
        a
        for block in (around_passes(body), *(s.body for s in loops))
        for a in walk.arrays_written(block)
    )
    return {a for a, n in times.items() if n > 1 and not a.grows}


def overtakes(s: ir.Pass, body: ir.Block) -> bool:
    """Whether a pass of a block changes what the code around its passes may have read when it begins."""
    effects = (x for x in walk.statements(s.body) if isinstance(x, ir.Store | ir.Atomic))
    changed = {x.array for x in effects if not (isinstance(x, ir.Store) and _placed(x))}
    return not changed.isdisjoint(_read_before(s, body))


def _read_before(s: ir.Pass, body: ir.Block) -> set[ir.Array]:
    found: set[ir.Array] = set()
    for x in body:
        if x is s:
            break
        here = any(y is s for y in walk.statements((x,)))
        if here and isinstance(x, ir.If):
            found |= walk.arrays_read((replace(x, then=(), otherwise=()),))
            (inner,) = (b for b in walk.blocks(x) if any(y is s for y in walk.statements(b)))
            return found | _read_before(s, inner)
        found |= walk.arrays_read(around_passes((x,)))
        if here:
            break
    return found


def around_passes(body: ir.Block) -> ir.Block:
    """Return a block without its passes."""
    return walk.rewritten(body, lambda s: () if isinstance(s, ir.Pass) else None)


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
    """Whether no two atoms, tiles or lanes store to the same element, because an index is the atom."""
    return any(i is atom or (isinstance(i, ir.Cast) and i.operand is atom) for i in s.indices)


def _apart(s: ir.Store, around: tuple[ir.Pass, ...]) -> bool:
    """Whether no two atoms store to the same element: an index is the atom, or in a scratch array near it.

    around: the passes around the store. The distance from the atom must be the same in all of the outermost one: if the
    tiles of an item count their atoms from 0, they meet.
    """
    p = around[-1]
    if _own(s, p.atom) or not s.array.own:
        return _own(s, p.atom)
    changing = walk.variables_set(around[:1])
    assigned = [x for x in walk.statements(p.body) if isinstance(x, ir.Assign)]
    meaning = {x.var: x.value for x in assigned if sum(y.var is x.var for y in assigned) == 1}
    return any(_moved(i, p.atom, meaning, changing) for i in s.indices)


def _moved(
    e: ir.Expr, atom: ir.Var, meaning: Mapping[ir.Var, ir.Expr], changing: Set[ir.Var]
) -> bool:
    """Whether `e` is the atom, plus or minus what is the same for all atoms."""
    match e:
        case ir.Var():
            return e is atom or (e in meaning and _moved(meaning[e], atom, meaning, changing))
        case ir.Cast(type=kind) if kind.dtype.itemsize < 4:
            return False  # it may wrap around
        case ir.Cast(operand=inner) | ir.Within(index=inner):
            return _moved(inner, atom, meaning, changing)
        case ir.Binary(op="+" | "-", left=left, right=right):
            fixed = walk.variables((right,)).isdisjoint(changing)
            plain = not any(isinstance(x, ir.Element) for x in walk.subexpressions(right))
            return fixed and plain and _moved(left, atom, meaning, changing)
    return False
