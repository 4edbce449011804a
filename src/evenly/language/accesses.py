"""How passes read memory: contiguously, by gathers, and at places that depend on the atom alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeGuard

from . import ir, walk
from .dependence import Dependence, depend
from .diagnostics import Location
from .scans import has_scans
from .types import BOOL


def only_accumulates(s: ir.Pass) -> bool:
    """Whether a pass only accumulates numbers, without loops. Its atoms may then be walked in any order."""
    return (
        bool(s.accumulators)
        and not _has_arrays(s)
        and all(
            isinstance(x, ir.Assign | ir.If)
            or (isinstance(x, ir.Accumulate) and x.accumulator in s.accumulators)
            for x in walk.statements(s.body)
        )
    )


def _has_arrays(s: ir.Pass) -> bool:
    return any(v.length for a in s.accumulators for v in a.fields)


def gathers(s: ir.Pass) -> bool:
    """Whether a pass reads at an index other than the atom, so that the read waits for the index."""
    varying = Dependence(s.body, {s.atom}).varying()
    read = (e for e in walk.expressions(s.body) if isinstance(e, ir.Element))
    return any(_elsewhere(e.indices, s, varying) for e in read)


def scatters(s: ir.Pass, effect: ir.Store | ir.Atomic) -> bool:
    """Whether an effect of a pass is at an index other than the atom that differs from one atom to the next."""
    return _elsewhere(effect.indices, s, Dependence(s.body, {s.atom}).varying())


def _elsewhere(indices: tuple[ir.Expr, ...], s: ir.Pass, varying: set[ir.Var]) -> bool:
    return any(_bare(index) != s.atom and depend((index,), varying) for index in indices)


def _bare(e: ir.Expr) -> ir.Expr:
    return e.operand if isinstance(e, ir.Cast) else e


def contiguous_reads(s: ir.Pass, written: Collection[ir.Path]) -> list[ir.Element]:
    """Return the reads of a pass at the atom's own index that happen for each atom, whatever the conditions.

    Consecutive atoms read adjacent elements.
    """
    read = (e for x in s.body for operand in walk.operands(x) for e in always(operand))
    return list(dict.fromkeys(e for e in read if _at_atom(e, s) and e.array.path not in written))


def read_at_atom(s: ir.Pass, written: Collection[ir.Path]) -> dict[ir.Element, Location | None]:
    """Return the reads of a pass at places that depend on the atom alone, and that happen whatever the conditions.

    Of nested reads, only the outermost is returned. Each comes with the location where it is first read.
    """
    found: dict[ir.Element, Location | None] = {}
    for x in s.body:
        for operand in walk.operands(x):
            for e in _outermost(operand, s, written):
                found.setdefault(e, x.at or s.at)
    return found


def reads_contiguously(s: ir.Pass, written: Collection[ir.Path]) -> bool:
    """Whether a pass has contiguous reads, and they are all that it reads at places computed from the atom.

    It may also read what many adjacent atoms share, at atom >> n.
    """
    at_atoms = {e for e in walk.expressions(s.body) if _near_atom(e, s)}
    return bool(at_atoms) and at_atoms == set(contiguous_reads(s, written))


def read_again(body: ir.Block, written: Collection[ir.Path]) -> dict[ir.Array, ir.Pass]:
    """Return the arrays that several passes of a tile read at their atoms, with the first pass that reads each.

    That pass reads an element of it for every atom.
    """
    passes = [s for s in body if isinstance(s, ir.Pass) and s.of is None and not has_scans(s.body)]
    first: dict[ir.Array, ir.Pass] = {}
    again: set[ir.Array] = set()
    for s in passes:
        again |= {e.array for e in at_atoms(s)} & first.keys()
        for e in contiguous_reads(s, written):
            first.setdefault(e.array, s)
    return {array: s for array, s in first.items() if array in again}


def at_atoms(s: ir.Pass) -> Iterator[ir.Element]:
    """Yield the reads of a pass at the atom's own index."""
    return (e for e in walk.expressions(s.body) if _at_atom(e, s))


def _near_atom(e: ir.Expr, s: ir.Pass) -> bool:
    """Whether it is a read at the atom's own index, or at one that is computed from that and from no element."""
    if not isinstance(e, ir.Element):
        return False
    inside = [x for i in e.indices for x in walk.subexpressions(i)]
    return (
        s.atom in inside
        and not any(isinstance(x, ir.Element) for x in inside)
        and not sharing(e, s)
    )


def sharing(e: ir.Expr, s: ir.Pass) -> int:
    """Return how many adjacent atoms share an element: 2**n at the index atom >> n. 0: it has another index."""
    match e:
        case ir.Element(indices=(ir.Binary(op=">>", left=left, right=ir.Const(value=n)),)):
            return 1 << int(n) if left == s.atom and 0 <= n < 31 else 0
    return 0


def _at_atom(e: ir.Expr, s: ir.Pass) -> TypeGuard[ir.Element]:
    return isinstance(e, ir.Element) and e.indices == (s.atom,)


def _outermost(e: ir.Expr, s: ir.Pass, written: Collection[ir.Path]) -> Iterator[ir.Element]:
    if isinstance(e, ir.Element) and follows_from_atom(e, s, written):
        yield e
    else:
        for part in _evaluated(e):
            yield from _outermost(part, s, written)


def follows_from_atom(e: ir.Expr, s: ir.Pass, written: Collection[ir.Path]) -> bool:
    """Whether the value of `e` depends only on the atom, and on arrays that the kernel does not write."""
    inside = list(walk.subexpressions(e))
    atoms = all(x is s.atom for x in inside if isinstance(x, ir.Var))
    return atoms and all(x.array.path not in written for x in inside if isinstance(x, ir.Element))


def _evaluated(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the parts of `e` that are evaluated whenever `e` is."""
    inner = walk.parts(e)
    return inner[:1] if isinstance(e, ir.Select | ir.Logic) else inner


def always(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield `e`, and all that is evaluated whenever `e` is."""
    yield e
    for part in _evaluated(e):
        yield from always(part)


def has_to_fit(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the operands that have to be valid: indices, divisors of integers, counts of shifts, exponents."""
    match e:
        case ir.Element(indices=indices):
            return indices
        case ir.Binary(op="//" | "%" | "<<" | ">>" | "**", right=right) if not e.type.is_float:
            return (right,)
    return ()


def guarded_reads(
    block: ir.Block, guard: ir.Expr | None = None
) -> Iterator[tuple[ir.Element, ir.Expr | None]]:
    """Yield the elements that a block reads outside of loops in it, each with the condition under which it does.

    guard: the condition under which the block runs. None: always.
    """
    for s in block:
        for e, condition in (x for o in walk.operands(s) for x in _guarded(o, guard)):
            if isinstance(e, ir.Element):
                yield e, condition
        if isinstance(s, ir.If):
            yield from guarded_reads(s.then, _both(guard, s.condition))
            yield from guarded_reads(s.otherwise, _both(guard, _negated(s.condition)))


def _guarded(e: ir.Expr, guard: ir.Expr | None) -> Iterator[tuple[ir.Expr, ir.Expr | None]]:
    """Yield `e` and all of its parts, each with the condition under which it is evaluated; `e` is under `guard`."""
    yield e, guard
    for part in _evaluated(e):
        yield from _guarded(part, guard)
    match e:
        case ir.Select(condition=c, then=a, otherwise=b):
            yield from _guarded(a, _both(guard, c))
            yield from _guarded(b, _both(guard, _negated(c)))
        case ir.Logic(op=op, left=c, right=a):
            yield from _guarded(a, _both(guard, c if op == "and" else _negated(c)))


def _both(guard: ir.Expr | None, condition: ir.Expr) -> ir.Expr:
    return condition if guard is None else ir.Logic("and", guard, condition)


def _negated(e: ir.Expr) -> ir.Expr:
    return ir.Unary("not", e, BOOL)
