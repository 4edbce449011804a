"""Updates in which atoms, tiles or lanes may meet in one element, and lose a contribution.

An index is taken to differ from one atom (tile, lane) to the next if it is computed from
it. If it is fetched from an array, the user is believed for a store, but not for an
update. Checked when a loop's body is complete: only then is it known what an index is
made of. (What all tiles or all atoms store into is found later, by `verify`.)
"""

from __future__ import annotations

from collections.abc import Iterable

from .. import ir, walk
from ..diagnostics import Location, refuse
from .values import spoken


def check(block: ir.Block, over: str, roots: Iterable[ir.Expr]) -> None:
    """Refuse the updates in `block`, a loop `over` atoms, tiles or lanes, that may meet in one element.

    roots: what differs from one to the next by contract: ids and positions.
    """
    varying, fetched = _varying(block, {v for v in roots if isinstance(v, ir.Var)})
    inner = {
        id(x)
        for s in walk.statements(block)
        if isinstance(s, ir.Pass)
        for x in walk.statements(s.body)
    }
    held = {s.var: s.value for s in walk.statements(block) if isinstance(s, ir.Assign)}
    for s in walk.statements(block):
        if not isinstance(s, ir.Store) or id(s) in inner:
            continue
        array = spoken(s.array)
        constant = walk.is_constant(s.value)  # whoever stores it
        if over == "lanes" and not constant and not _reads(s.indices, varying):
            refuse(
                _at(s),
                f"every lane stores into the same element of {array}: "
                "the last one to write would win, and they have no order",
                "index it by the lane, accumulate into a variable, or use range()",
            )
        if _is_update(s, held) and (_fetches(s.indices, varying) or _reads(s.indices, fetched)):
            refuse(
                _at(s),
                f"an update of {array}[...] in a loop over {over}: two {over} may meet in one element",
                f"ev.atomic_add({array}, index, value)",
            )


def _at(s: ir.Store) -> Location:
    assert s.at is not None
    return s.at


def _reads(expressions: Iterable[ir.Expr], variables: set[ir.Var]) -> bool:
    return any(
        part in variables
        for e in expressions
        for part in walk.subexpressions(e)
        if isinstance(part, ir.Var)
    )


def _fetches(expressions: Iterable[ir.Expr], varying: set[ir.Var]) -> bool:
    """Whether the expressions read an array at an index that varies."""
    return any(
        isinstance(part, ir.Element) and _reads(part.indices, varying)
        for e in expressions
        for part in walk.subexpressions(e)
    )


def _is_update(s: ir.Store, held: dict[ir.Var, ir.Expr]) -> bool:
    """Whether the element is stored from what it was, read in the same statement or held in a variable."""
    parts = list(walk.subexpressions(s.value))
    parts += [
        x
        for e in parts
        if isinstance(e, ir.Var) and e in held
        for x in walk.subexpressions(held[e])
    ]
    return any(
        isinstance(e, ir.Element) and e.array is s.array and e.indices == s.indices for e in parts
    )


def _varying(block: ir.Block, roots: set[ir.Var]) -> tuple[set[ir.Var], set[ir.Var]]:
    """The variables that differ from one to the next, and those of them that came out of an array."""
    varying, fetched = set(roots), set[ir.Var]()
    while True:
        before = len(varying) + len(fetched)
        _spread(block, roots, varying, fetched, False)
        if len(varying) + len(fetched) == before:
            return varying, fetched


def _spread(
    block: ir.Block, roots: set[ir.Var], varying: set[ir.Var], fetched: set[ir.Var], under: bool
) -> None:
    for s in block:
        match s:
            case ir.Assign(var=var, value=value) if var not in roots:
                if under or _reads((value,), varying):
                    varying.add(var)
                if _fetches((value,), varying) or _reads((value,), fetched):
                    fetched.add(var)
            case ir.Atomic(result=result) if result is not None:
                varying.add(result)
            case ir.For(var=var, start=start) if _reads((start,), varying):
                varying.add(var)
            case ir.Pass(atom=atom, accumulators=accumulators):
                varying.update((atom, *(v for a in accumulators for v in a.fields)))
        inner_under = under or (isinstance(s, ir.If | ir.While) and _reads((s.condition,), varying))
        for inner in walk.blocks(s):
            _spread(inner, roots, varying, fetched, inner_under)
