"""Liveness: which statements a piece of code needs, so that pieces can be run again elsewhere."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from . import ir, walk
from .dependence import Dependence


def needed(
    block: ir.Block,
    live: set[ir.Var],
    effects: bool,
    leaving: Set[ir.Var] = frozenset(),
    passes: bool = False,
) -> tuple[ir.Block, set[ir.Var]]:
    """Return the statements that compute `live` at the end of `block` (and its effects, if `effects`).

    leaving: variables that are needed at a `break` or `continue` in it, which leave the block early.
    Also returns the variables that must be given at its start. Passes are left out, since the workspace holds their
    results, unless `passes`.
    """
    kept: list[ir.Stmt] = []
    live = set(live)
    for s in reversed(block):
        new = _keep(s, live, effects, leaving, passes)
        if new is not None:
            kept.append(new)
    return tuple(reversed(kept)), live


def _keep(
    s: ir.Stmt, live: set[ir.Var], effects: bool, leaving: Set[ir.Var], passes: bool
) -> ir.Stmt | None:
    """Return `s` if it is needed, and change `live` to what is live before it."""
    match s:
        case ir.Assign(var=var):
            if var not in live:
                return None
            live.discard(var)
        case ir.Store() | ir.Push() | ir.Print() | ir.Assert():
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
        case ir.Scan(results=results):
            if live.isdisjoint(results):
                return None
            live.difference_update(results)
        case ir.If(then=then, otherwise=otherwise):
            return _keep_if(s, then, otherwise, live, effects, leaving, passes)
        case ir.While() | ir.For():
            return _keep_loop(s, live, effects, passes)
        case ir.Pass():
            return _keep_pass(s, live) if passes else None
        case ir.SetItem(array=array):
            if array not in live:
                return None
        case ir.Scratch():
            if not effects:
                return None
        case ir.Break() | ir.Continue():
            live.update(leaving)
    live.update(walk.variables(walk.operands(s)))
    return s


def _keep_if(
    s: ir.If,
    then: ir.Block,
    otherwise: ir.Block,
    live: set[ir.Var],
    effects: bool,
    leaving: Set[ir.Var],
    passes: bool,
) -> ir.Stmt | None:
    a, live_a = needed(then, live, effects, leaving, passes)
    b, live_b = needed(otherwise, live, effects, leaving, passes)
    if not a and not b:
        return None
    before = live_a | live_b | walk.variables((s.condition,))
    live.clear()  # what both branches set is not among it
    live.update(before)
    return replace(s, then=a, otherwise=b)


def _keep_pass(s: ir.Pass, live: set[ir.Var]) -> ir.Stmt | None:
    """Return the pass with the accumulators that are needed, and what they need."""
    kept = tuple(a for a in s.accumulators if not live.isdisjoint(a.fields))
    if not kept:
        return None
    fields = {v for a in kept for v in a.fields}
    body, start = needed(s.body, set(fields), effects=False)
    live.difference_update(fields)
    live |= start - fields - {s.atom}
    return replace(s, accumulators=kept, body=body)


def _keep_loop(
    s: ir.While | ir.For, live: set[ir.Var], effects: bool, passes: bool
) -> ir.Stmt | None:
    every = tuple(block for block in walk.blocks(s))
    touches = any(not live.isdisjoint(changed(block)) for block in every)
    if not touches and not (effects and any(has_effects(block) for block in every)):
        return None
    inner = set(live)
    while True:  # what one iteration needs, the one before it must compute
        before = set(inner)
        blocks = []
        for block in every:
            kept, start = needed(block, inner, effects, inner, passes)
            inner |= start | walk.variables(walk.operands(s))
            blocks.append(kept)
        if inner == before:
            break
    live |= inner
    if isinstance(s, ir.For):
        live.discard(s.var)
        return replace(s, body=blocks[0])
    return replace(s, before=blocks[0], body=blocks[1])


def changed(block: ir.Block) -> set[ir.Var]:
    """Return the variables that a block sets or accumulates."""
    accumulates = (s for s in walk.statements(block) if isinstance(s, ir.Accumulate))
    return walk.variables_set(block).union(*(s.accumulator.fields for s in accumulates))


def read_first(block: ir.Block) -> set[ir.Var]:
    """Return the variables that a block reads before it sets them, passes included."""

    def as_loop(s: ir.Stmt) -> ir.Block | None:
        if not isinstance(s, ir.Pass):
            return None
        starts = ((v, e) for a in s.accumulators for v, e in zip(a.fields, a.identity, strict=True))
        zero, one = ir.Const(0, s.atom.type), ir.Const(1, s.atom.type)
        body = walk.rewritten(s.body, as_loop)
        return (*(ir.Assign(v, e) for v, e in starts), ir.For(s.atom, zero, one, one, body))

    _, given = needed(walk.rewritten(block, as_loop), set(), effects=True)
    return given


def has_effects(block: ir.Block) -> bool:
    """Whether a block has effects of its own or contributes to an accumulator that it does not start itself."""
    started = {v for s in walk.statements(block) if isinstance(s, ir.Assign) for v in (s.var,)}
    for s in walk.statements(block):
        if isinstance(s, ir.EFFECTS):
            return True
        if isinstance(s, ir.Accumulate) and s.accumulator.fields[0] not in started:
            return True
    return False


def tainted(block: ir.Block, written: Set[ir.Array], given: Set[ir.Var]) -> set[ir.Var]:
    """Return the variables whose computation must not be repeated.

    They depend on `given` (results of passes), on atomics, or on arrays that the program writes.
    """
    dependence = Dependence(block, given)
    return dependence.following(dependence.sources, lambda e: e.array in written)


def written_arrays(program: ir.Program) -> set[ir.Array]:
    """Return every array that the program stores into, anywhere."""
    return {a for step in program.pieces for a in walk.arrays_written(step.body)}
