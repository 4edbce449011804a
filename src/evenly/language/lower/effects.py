"""Refuse updates in which several atoms, tiles or lanes may change one element, so that a contribution is lost.

An index is assumed to differ between atoms (tiles, lanes) if it depends on them. If it is read from an
array, it is trusted for a store, but for an update only if the kernel says so (`ev.distinct`). The check runs when a
loop's body is complete, because only then is it known what an index depends on. (`verify` later finds elements into
which all tiles or all atoms store.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn

from .. import ir, walk
from ..dependence import Dependence, depend
from ..diagnostics import Location, refuse
from .context import Context
from .values import spoken


def check(
    cx: Context, block: ir.Block, over: str, roots: Iterable[ir.Expr], has_scratch: bool = False
) -> None:
    """Refuse updates in `block`, a loop `over` atoms, tiles or lanes, in which two of them may change one element.

    roots: ids and positions, which differ between iterations by contract, as do those that the kernel says are distinct
    in this loop; they may be equal in different iterations of one around it. has_scratch: whether scratch arrays belong
    to an iteration, so that no other changes them.
    """
    promised = cx.promised & walk.variables_set(block)
    cx.promised -= promised
    dependence = Dependence(block, {v for v in roots if isinstance(v, ir.Var)} | promised)
    varying = dependence.varying()

    def elsewhere(e: ir.Element) -> bool:
        return depend(e.indices, varying)

    fetched = dependence.following(set(), elsewhere, conditions=False)
    inner = {id(s) for s in _of_passes(block)}
    if over == "lanes":
        _check_passes(block, roots)
    for s in walk.statements(block):
        if not isinstance(s, ir.Store) or id(s) in inner or (s.array.own and has_scratch):
            continue
        array = spoken(s.array)
        constant = walk.is_constant(s.value)  # the same for all
        if over == "lanes" and not constant and not depend(s.indices, varying):
            _refuse_shared(s, block)
        if depend(s.indices, fetched, elsewhere) and _is_update(s, dependence):
            refuse(
                _at(s),
                f"an update of {array}[...] in a loop over {over}: two {over} may meet in one element",
                f"ev.atomic_add({array}, index, value)",
            )


def _check_passes(block: ir.Block, lane: Iterable[ir.Expr]) -> None:
    """Refuse what passes in a loop over lanes store at elements that all lanes share, unless all store the same."""
    atomics = (s for s in walk.statements(block) if isinstance(s, ir.Atomic))
    given = {v for v in lane if isinstance(v, ir.Var)} | {
        v for s in atomics for v in walk.assigned(s)
    }
    dependence = Dependence(block, given, results=False)
    varying = dependence.varying()
    own = [s.array for s in walk.statements(block) if isinstance(s, ir.Scratch)]  # a lane's
    for s in _of_passes(block):
        if not isinstance(s, ir.Store) or s.array in own or depend(s.indices, varying):
            continue
        if depend((s.value,), varying) or _is_update(s, dependence):
            _refuse_shared(s, block)


def _of_passes(block: ir.Block) -> Iterator[ir.Stmt]:
    for s in walk.statements(block):
        if isinstance(s, ir.Pass):
            yield from walk.statements(s.body)


def _refuse_shared(s: ir.Store, lanes: ir.Block) -> NoReturn:
    hint = "index it by the lane, accumulate into a variable, or use range()"
    if any(isinstance(x, ir.Atomic) for x in walk.statements(lanes)):
        hint += "; that an atomic lets one lane alone store is not known here"
    refuse(
        _at(s),
        f"every lane stores into the same element of {spoken(s.array)}: "
        "the last one to write would win, and they have no order",
        hint,
    )


def _at(s: ir.Store) -> Location:
    assert s.at is not None
    return s.at


def _is_update(s: ir.Store, dependence: Dependence) -> bool:
    """Whether the stored value depends on the element's old one, read in this statement or held in variables."""

    def itself(e: ir.Element) -> bool:
        return e.array is s.array and e.indices == s.indices

    return depend((s.value,), dependence.following(set(), itself, conditions=False), itself)
