"""What passes read that lies side by side in memory, as their atoms do."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeGuard

from . import ir, walk


def only_accumulates(s: ir.Pass) -> bool:
    """Whether all that a pass does is to accumulate, without loops: its atoms may be walked in any way."""
    return bool(s.accumulators) and all(
        isinstance(x, ir.Assign | ir.If)
        or (isinstance(x, ir.Accumulate) and x.accumulator in s.accumulators)
        for x in walk.statements(s.body)
    )


def read_side_by_side(s: ir.Pass, written: Collection[ir.Path]) -> list[ir.Element]:
    """What a pass reads at each atom, whatever its conditions, that lies beside what it reads at the next."""
    read = (e for x in s.body for operand in walk.operands(x) for e in _always(operand))
    return list(dict.fromkeys(e for e in read if _at_atom(e, s) and e.array.path not in written))


def lies_side_by_side(s: ir.Pass, written: Collection[ir.Path]) -> bool:
    """Whether that is so of all that a pass reads at its atoms, and it reads something there."""
    at_atoms = {e for e in walk.expressions(s.body) if _at_atom(e, s)}
    return bool(at_atoms) and at_atoms == set(read_side_by_side(s, written))


def _at_atom(e: ir.Expr, s: ir.Pass) -> TypeGuard[ir.Element]:
    return isinstance(e, ir.Element) and e.indices == (s.atom,)


def _always(e: ir.Expr) -> Iterator[ir.Expr]:
    """What is evaluated wherever `e` is."""
    yield e
    inner = walk.parts(e)
    for part in inner[:1] if isinstance(e, ir.Select | ir.Logic) else inner:
        yield from _always(part)
