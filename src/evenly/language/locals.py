"""Replace local variables in the indices of a pass's reads by what they are computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from . import ir, walk
from .accesses import follows_from_atom

# The most parts of an expression. If each local uses another one twice, the size doubles with each of them.
LARGEST = 32


def places_written_out(
    s: ir.Pass, written: Collection[ir.Path], kept: Collection[ir.Var]
) -> ir.Pass:
    """Return the pass with indices that depend on the atom written in terms of the atom. Unused locals are removed.

    This applies to locals that are set once, whatever the pass's conditions. written: arrays that the kernel stores to.
    kept: locals that are needed after the pass.
    """
    times = Counter(v for x in walk.statements(s.body) for v in walk.assigned(x))
    meant: dict[ir.Expr, ir.Expr] = {}

    def placed(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Element):
            return None
        made = replace(e, indices=tuple(walk.map_expr(i, meant.get) for i in e.indices))
        return made if _is_short(made) else None

    body: list[ir.Stmt] = []
    for x in s.body:
        x = walk.map_stmt(x, placed)
        body.append(x)
        if isinstance(x, ir.Assign) and times[x.var] == 1 and x.value.type == x.var.type:
            value = walk.map_expr(x.value, meant.get)
            if _is_short(value) and follows_from_atom(value, s, written):
                meant[x.var] = value
    return replace(s, body=_without_unread(body, meant, kept))


def _is_short(e: ir.Expr) -> bool:
    return sum(1 for _ in walk.subexpressions(e)) <= LARGEST


def _without_unread(
    body: list[ir.Stmt], locals_: Collection[ir.Expr], kept: Collection[ir.Var]
) -> ir.Block:
    """Return the statements without those that set locals which nothing reads."""
    read, left = set(kept), []
    for x in reversed(body):
        if not (isinstance(x, ir.Assign) and x.var in locals_ and x.var not in read):
            read |= walk.variables_read((x,))
            left.append(x)
    return tuple(reversed(left))
