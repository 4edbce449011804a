"""Locals of a pass that name what an atom reads, or what follows from it: written out where they are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from . import ir, walk


def written_out(s: ir.Pass, written: Collection[ir.Path], kept: Collection[ir.Var]) -> ir.Pass:
    """The pass without those locals that are set once, whatever its conditions, and follow from the atom alone.

    written: arrays that the kernel stores to. kept: locals that are needed after the pass.
    """
    times = Counter(v for x in walk.statements(s.body) for v in walk.assigned(x))
    meant: dict[ir.Expr, ir.Expr] = {}
    body: list[ir.Stmt] = []
    for x in s.body:
        x = walk.map_stmt(x, meant.get)
        if (
            isinstance(x, ir.Assign)
            and times[x.var] == 1
            and x.var not in kept
            and _follows(x, s, written)
        ):
            meant[x.var] = x.value
        else:
            body.append(x)
    return replace(s, body=tuple(body))


def _follows(x: ir.Assign, s: ir.Pass, written: Collection[ir.Path]) -> bool:
    inside = list(walk.subexpressions(x.value))
    read = all(e.array.path not in written for e in inside if isinstance(e, ir.Element))
    return (
        read
        and x.value.type == x.var.type
        and all(e == s.atom for e in inside if isinstance(e, ir.Var))
    )
