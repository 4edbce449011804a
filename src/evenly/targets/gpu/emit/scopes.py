"""Find where to declare each local variable: in the innermost block that contains all its uses."""

from __future__ import annotations

from evenly.language import ir, walk
from evenly.language.scans import running


def declarations(
    block: ir.Block, given: set[ir.Var], after: tuple[ir.Var, ...] = ()
) -> dict[int, list[ir.Var]]:
    """Return, for each statement (by id), the variables to declare just before it.

    A variable is not listed if its first use in its block is an assignment, which then declares it.
    given: the variables that already exist. after: the variables that are read after the block.
    """
    out: dict[int, list[ir.Var]] = {}
    _place(block, set(given), out, Mentions(), after)
    return out


def _place(
    block: ir.Block,
    known: set[ir.Var],
    out: dict[int, list[ir.Var]],
    mentions: Mentions,
    after: tuple[ir.Var, ...] = (),
) -> None:
    uses = [mentions.of(s) for s in block]
    counts = dict.fromkeys(after, 1)
    for mentioned in uses:
        for v in mentioned:
            counts[v] = counts.get(v, 0) + 1
    for s, mentioned in zip(block, uses, strict=True):
        here = [
            v for v in mentioned if v not in known and (counts[v] > 1 or _is_own(s, v, mentions))
        ]
        bound = set(_bound(s))
        before = [
            v for v in here if v not in bound and not (isinstance(s, ir.Assign) and s.var is v)
        ]
        if before:
            out[id(s)] = before
        known |= set(here)
        for inner in walk.blocks(s):
            _place(inner, known | bound, out, mentions)


def _is_own(s: ir.Stmt, v: ir.Var, mentions: Mentions) -> bool:
    """Whether no inner block can declare `v`: the statement itself mentions it, or several of its blocks do."""
    if isinstance(s, ir.Pass):
        return True
    if v in walk.assigned(s) or any(
        v is e for x in walk.operands(s) for e in walk.subexpressions(x)
    ):
        return True
    if isinstance(s, ir.While):
        return v in walk.variables_read(s.before) or v in walk.variables_set(s.before)
    if isinstance(s, ir.Accumulate):
        return v in s.accumulator.fields
    return sum(v in mentions.of_block(b) for b in walk.blocks(s)) > 1


def _bound(s: ir.Stmt) -> tuple[ir.Var, ...]:
    """Return the variables that the statement's own text declares."""
    if isinstance(s, ir.For):
        return (s.var,)
    if isinstance(s, ir.Pass):
        # The emitter declares the results and the running values as it starts them.
        return (*walk.assigned(s), *(v for a in running(s) for v in a.fields))
    return ()


class Mentions:
    """The variables that statements mention, those of inner blocks too. Each statement is looked at once."""

    def __init__(self) -> None:
        self.known: dict[int, dict[ir.Var, None]] = {}

    def of(self, s: ir.Stmt) -> dict[ir.Var, None]:
        if id(s) in self.known:
            return self.known[id(s)]
        found: dict[ir.Var, None] = {}
        for v in walk.assigned(s):
            found[v] = None
        for x in walk.operands(s):
            for e in walk.subexpressions(x):
                if isinstance(e, ir.Var):
                    found[e] = None
        if isinstance(s, ir.Accumulate):
            found.update(dict.fromkeys(s.accumulator.fields))
        for b in walk.blocks(s):
            found.update(self.of_block(b))
        self.known[id(s)] = found
        return found

    def of_block(self, block: ir.Block) -> dict[ir.Var, None]:
        found: dict[ir.Var, None] = {}
        for s in block:
            found.update(self.of(s))
        return found
