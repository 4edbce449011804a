"""Eliminate common subexpressions: compute once what a statement repeats.

LLVM would do that too, but Numba's compile time grows with the length of the text. A layout of
blocks uses the same two offsets ten times in one subscript.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evenly.language import ir, walk


def shared(expressions: tuple[ir.Expr, ...]) -> tuple[list[ir.Assign], tuple[ir.Expr, ...]]:
    """Return assignments of common subexpressions to new variables, and the expressions in terms of these."""
    assigned: list[ir.Assign] = []
    while True:
        counts = Counter(e for x in expressions for e in _certain(x))
        repeated = [e for e, n in counts.items() if n > 1 and _worth(e)]
        if not repeated:
            return _without_single_uses(assigned, expressions)
        # Take the smallest first. Larger ones are then written in terms of it, and assigned after it.
        smallest = min(repeated, key=_size)
        var = ir.Var("common", smallest.type)
        expressions = tuple(_replaced(x, smallest, var) for x in expressions)
        assigned.append(ir.Assign(var, smallest))


def _without_single_uses(
    assigned: list[ir.Assign], expressions: tuple[ir.Expr, ...]
) -> tuple[list[ir.Assign], tuple[ir.Expr, ...]]:
    """Return the same without the variables that are used only once, in a larger common subexpression."""
    for var in [a.var for a in assigned]:
        a = next(a for a in assigned if a.var is var)  # its current form
        uses = Counter(
            e for x in (*expressions, *(b.value for b in assigned)) for e in walk.subexpressions(x)
        )
        if uses[var] == 1:
            assigned = [
                ir.Assign(b.var, _replaced(b.value, a.var, a.value)) for b in assigned if b is not a
            ]
            expressions = tuple(_replaced(x, var, a.value) for x in expressions)
    return assigned, expressions


def _certain(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the parts of `e` that are always evaluated, without those that depend on a condition."""
    yield e
    if isinstance(e, ir.Logic):
        yield from _certain(e.left)
    elif isinstance(e, ir.Select):
        yield from _certain(e.condition)
    else:
        for part in walk.parts(e):
            yield from _certain(part)


def _worth(e: ir.Expr) -> bool:
    """Whether `e` needs a computation, and `==` distinguishes it from all others (0.0 and -0.0 are equal)."""
    computes = isinstance(e, ir.Element | ir.Binary | ir.Call) or (
        isinstance(e, ir.Cast) and _worth(e.operand)
    )
    return computes and not any(
        isinstance(x, ir.Const) and x.type.is_inexact and x.value == 0
        for x in walk.subexpressions(e)
    )


def _size(e: ir.Expr) -> int:
    return sum(1 for _ in walk.subexpressions(e))


def _replaced(e: ir.Expr, old: ir.Expr, new: ir.Expr) -> ir.Expr:
    return walk.map_expr(e, lambda x: new if x == old else None)
