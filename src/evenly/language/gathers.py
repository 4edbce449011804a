"""Which passes gather: they read where an index leads, and wait for it, not where their atoms lie."""

from __future__ import annotations

from . import ir, walk


def gathers(pass_: ir.Pass) -> bool:
    """Whether a pass reads elsewhere than at its atoms' own places, one after the other."""
    moving = {pass_.atom, *walk.variables_set(pass_.body)}
    return any(
        _bare(index) != pass_.atom and not moving.isdisjoint(walk.subexpressions(index))
        for e in walk.expressions(pass_.body)
        if isinstance(e, ir.Element)
        for index in e.indices
    )


def _bare(e: ir.Expr) -> ir.Expr:
    return e.operand if isinstance(e, ir.Cast) else e
