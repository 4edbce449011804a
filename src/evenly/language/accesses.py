"""How passes read memory: contiguously, by gathers, and at places that follow from the atom alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeGuard

from . import ir, walk
from .dependence import Dependence, depend
from .diagnostics import Location


def only_accumulates(s: ir.Pass) -> bool:
    """Whether all that a pass does is to accumulate, without loops: its atoms may be walked in any way."""
    return bool(s.accumulators) and all(
        isinstance(x, ir.Assign | ir.If)
        or (isinstance(x, ir.Accumulate) and x.accumulator in s.accumulators)
        for x in walk.statements(s.body)
    )


def gathers(s: ir.Pass) -> bool:
    """Whether a pass reads where an index leads, and waits for it, not where its atoms lie."""
    varying = Dependence(s.body, {s.atom}).varying()
    return any(
        _bare(index) != s.atom and depend((index,), varying)
        for e in walk.expressions(s.body)
        if isinstance(e, ir.Element)
        for index in e.indices
    )


def _bare(e: ir.Expr) -> ir.Expr:
    return e.operand if isinstance(e, ir.Cast) else e


def contiguous_reads(s: ir.Pass, written: Collection[ir.Path]) -> list[ir.Element]:
    """What a pass reads at each atom, whatever its conditions, in the element beside that of the atom before."""
    read = (e for x in s.body for operand in walk.operands(x) for e in always(operand))
    return list(dict.fromkeys(e for e in read if _at_atom(e, s) and e.array.path not in written))


def read_at_atom(s: ir.Pass, written: Collection[ir.Path]) -> dict[ir.Element, Location | None]:
    """What a pass reads at each atom, whatever its conditions, at places that follow from the atom alone.

    Of elements whose place is an element too, the outer one only. With the line that first says so.
    """
    found: dict[ir.Element, Location | None] = {}
    for x in s.body:
        for operand in walk.operands(x):
            for e in _outermost(operand, s, written):
                found.setdefault(e, x.at or s.at)
    return found


def reads_contiguously(s: ir.Pass, written: Collection[ir.Path]) -> bool:
    """Whether all that a pass reads at its atoms are contiguous reads, and there are any."""
    at_atoms = {e for e in walk.expressions(s.body) if _at_atom(e, s)}
    return bool(at_atoms) and at_atoms == set(contiguous_reads(s, written))


def _at_atom(e: ir.Expr, s: ir.Pass) -> TypeGuard[ir.Element]:
    return isinstance(e, ir.Element) and e.indices == (s.atom,)


def _outermost(e: ir.Expr, s: ir.Pass, written: Collection[ir.Path]) -> Iterator[ir.Element]:
    if isinstance(e, ir.Element) and follows_from_atom(e, s, written):
        yield e
    else:
        for part in _evaluated(e):
            yield from _outermost(part, s, written)


def follows_from_atom(e: ir.Expr, s: ir.Pass, written: Collection[ir.Path]) -> bool:
    """Whether its value does, and that of arrays that nobody writes."""
    inside = list(walk.subexpressions(e))
    atoms = all(x is s.atom for x in inside if isinstance(x, ir.Var))
    return atoms and all(x.array.path not in written for x in inside if isinstance(x, ir.Element))


def _evaluated(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """The parts of `e` that are evaluated wherever it is."""
    inner = walk.parts(e)
    return inner[:1] if isinstance(e, ir.Select | ir.Logic) else inner


def always(e: ir.Expr) -> Iterator[ir.Expr]:
    """What is evaluated wherever `e` is."""
    yield e
    for part in _evaluated(e):
        yield from always(part)
