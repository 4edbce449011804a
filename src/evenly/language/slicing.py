"""Liveness: which statements a piece of code needs, so that pieces can be run again elsewhere."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from . import ir, walk


def reads(e: ir.Expr) -> set[ir.Var]:
    return {x for x in walk.subexpressions(e) if isinstance(x, ir.Var)}


def _reads_of(s: ir.Stmt) -> set[ir.Var]:
    return {v for e in walk.operands(s) for v in reads(e)}


def needed(
    block: ir.Block, live: set[ir.Var], effects: bool, leaving: Set[ir.Var] = frozenset()
) -> tuple[ir.Block, set[ir.Var]]:
    """The statements that compute `live` at the end of `block` (and its effects, if asked for).

    leaving: what a `break` or `continue` in it must bring along: they go past the block's end.
    Also returns the variables that must be given at its start. Passes are left out: what they
    compute is handed over through the workspace.
    """
    kept: list[ir.Stmt] = []
    live = set(live)
    for s in reversed(block):
        new = _keep(s, live, effects, leaving)
        if new is not None:
            kept.append(new)
    return tuple(reversed(kept)), live


def _keep(s: ir.Stmt, live: set[ir.Var], effects: bool, leaving: Set[ir.Var]) -> ir.Stmt | None:
    """`s` if it is needed, with `live` moved to before it."""
    match s:
        case ir.Assign(var=var):
            if var not in live:
                return None
            live.discard(var)
        case ir.Store() | ir.Print() | ir.Assert():
            if not effects:
                return None
        case ir.Atomic(result=result):
            if not effects:
                return None
            live.discard(result)
        case ir.Accumulate(accumulator=acc):
            if not effects and live.isdisjoint(acc.fields):
                return None
            live.update(acc.fields)
        case ir.If(then=then, otherwise=otherwise):
            return _keep_if(s, then, otherwise, live, effects, leaving)
        case ir.While() | ir.For():
            return _keep_loop(s, live, effects)
        case ir.Pass():
            return None
        case ir.Break() | ir.Continue():
            live.update(leaving)
    live.update(_reads_of(s))
    return s


def _keep_if(
    s: ir.If,
    then: ir.Block,
    otherwise: ir.Block,
    live: set[ir.Var],
    effects: bool,
    leaving: Set[ir.Var],
) -> ir.Stmt | None:
    a, live_a = needed(then, live, effects, leaving)
    b, live_b = needed(otherwise, live, effects, leaving)
    if not a and not b:
        return None
    live |= live_a | live_b | reads(s.condition)
    return replace(s, then=a, otherwise=b)


def _keep_loop(s: ir.While | ir.For, live: set[ir.Var], effects: bool) -> ir.Stmt | None:
    every = tuple(block for block in walk.blocks(s))
    touches = any(not live.isdisjoint(walk.variables_set(block)) for block in every)
    if not touches and not (effects and any(has_effects(block) for block in every)):
        return None
    inner = set(live)
    while True:  # what one round needs, the round before it must compute
        before = set(inner)
        blocks = []
        for block in every:
            kept, start = needed(block, inner, effects, inner)
            inner |= start | _reads_of(s)
            blocks.append(kept)
        if inner == before:
            break
    live |= inner
    if isinstance(s, ir.For):
        live.discard(s.var)
        return replace(s, body=blocks[0])
    return replace(s, before=blocks[0], body=blocks[1])


def has_effects(block: ir.Block) -> bool:
    """Whether a block has effects of its own or contributes to an accumulator that it does not start itself."""
    started = {v for s in walk.statements(block) if isinstance(s, ir.Assign) for v in (s.var,)}
    for s in walk.statements(block):
        if isinstance(s, ir.EFFECTS):
            return True
        if isinstance(s, ir.Accumulate) and s.accumulator.fields[0] not in started:
            return True
    return False


def tainted(block: ir.Block, written: set[ir.Array], given: set[ir.Var]) -> set[ir.Var]:
    """The variables whose computation must not be repeated.

    They depend on `given` (results of passes), on atomics, or on arrays that the program writes.
    """
    found = set(given)
    while True:
        before = len(found)
        _taint(block, written, found, False)
        if len(found) == before:
            return found


def _taint(block: ir.Block, written: set[ir.Array], found: set[ir.Var], under: bool) -> None:
    for s in block:
        bad = under or any(_impure(e, written, found) for e in walk.operands(s))
        if isinstance(s, ir.Atomic | ir.Pass):
            found.update(walk.assigned(s))
        elif isinstance(s, ir.Accumulate):
            if bad:
                found.update(s.accumulator.fields)
        elif bad:
            found.update(walk.assigned(s))
        nested_under = bad and isinstance(s, ir.If | ir.While | ir.For)
        for inner in walk.blocks(s):
            if not isinstance(s, ir.Pass):
                _taint(inner, written, found, nested_under)


def _impure(e: ir.Expr, written: set[ir.Array], found: set[ir.Var]) -> bool:
    return any(
        (isinstance(x, ir.Var) and x in found) or (isinstance(x, ir.Element) and x.array in written)
        for x in walk.subexpressions(e)
    )


def written_arrays(program: ir.Program) -> set[ir.Array]:
    """Every array that the program stores into, anywhere."""
    return {
        s.array
        for step in program.steps
        for s in walk.statements(step.body)
        if isinstance(s, ir.Store | ir.Atomic)
    }
