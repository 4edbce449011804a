"""Dense axes around passes: loops over lanes in which a thread may walk the atoms once for several lanes."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from . import ir, walk
from .accesses import only_accumulates
from .combine import combined


def around_passes(block: ir.Block) -> Iterator[ir.For]:
    """Yield the loops over lanes that have passes at the top level of their bodies."""
    loops = (s for s in walk.statements(block) if isinstance(s, ir.For) and s.kind == "lanes")
    yield from (s for s in loops if any(isinstance(x, ir.Pass) for x in s.body))


def by_columns(loop: ir.For) -> bool:
    """Whether a thread may walk the atoms once for several lanes: passes only accumulate, other code stores at most."""
    passes = [s for s in loop.body if isinstance(s, ir.Pass)]
    others = tuple(s for s in loop.body if not isinstance(s, ir.Pass))
    given = [x.value if isinstance(x, ir.Const) else None for x in (loop.start, loop.step)]
    return (
        given == [0, 1]
        and all(only_accumulates(p) and p.of is None for p in passes)
        and all(isinstance(s, ir.Assign | ir.If | ir.Store) for s in walk.statements(others))
        and not any(v.length for v in walk.variables_set(loop.body))
    )


PARTS = ("alike", "before", "each", "after")  # in the order in which they run


@dataclass(frozen=True, slots=True)
class LaneParts:
    """The body of a pass inside a loop over lanes, in the parts that a thread with several lanes runs.

    alike: what is the same for all lanes, among it loops over further lanes, and stores. before, each, after: a
    contribution to the accumulators, without conditions: what comes before what differs from lane to lane, that, and
    what comes after it.
    uniform: the fields that all lanes have in common.
    """

    alike: ir.Block
    before: ir.Block
    each: ir.Block
    after: ir.Block
    uniform: frozenset[ir.Var]


def lane_parts(s: ir.Pass, lane: ir.Var) -> LaneParts | None:
    """Part the body of a pass around which `lane` is a lane; None if lanes inside depend on it, or order matters.

    That is for passes with loops over lanes inside: what these compute is the same for all lanes around the pass.
    """
    fields = [v for a in s.accumulators for v in a.fields]
    code: list[tuple[ir.Stmt, bool]] = []  # with whether it is part of a contribution
    for x in s.body:
        adds = isinstance(x, ir.Accumulate)
        code += [(y, adds) for y in (_added(x) if isinstance(x, ir.Accumulate) else (x,))]
    varying, before_round = {lane}, 0
    while len(varying) > before_round:
        before_round = len(varying)
        for x, _ in code:
            made = walk.variables_set((x,))
            varying |= set() if varying.isdisjoint(walk.variables_read((x,)) | made) else made
    placed: list[tuple[str, ir.Stmt]] = []
    for x, adds in code:
        if isinstance(x, ir.Store) and not varying.isdisjoint(walk.variables_read((x,))):
            return None
        if not varying.isdisjoint(walk.variables_set((x,))):
            if isinstance(x, ir.For):
                return None
            placed.append(("each", x))
        elif isinstance(x, ir.Assign) and x.var in fields:
            placed.append(("after", x))
        else:
            placed.append(("before" if adds else "alike", x))
    if not _may_part(placed):
        return None
    parts = {name: tuple(x for part, x in placed if part == name) for name in PARTS}
    uniform = frozenset(v for v in fields if v not in varying)
    return LaneParts(**parts, uniform=uniform)


def _may_part(placed: list[tuple[str, ir.Stmt]]) -> bool:
    """Whether no statement that its part moves before another sets what this reads or sets, or reads what it sets.

    For example, a variable may get another value after its first one was used with a lane.
    """
    earlier: list[tuple[int, Set[ir.Var], Set[ir.Var]]] = []
    for name, x in placed:
        part, made, read = PARTS.index(name), walk.variables_set((x,)), walk.variables_read((x,))
        for later, their_made, their_read in earlier:
            if part < later and not (
                made.isdisjoint(their_made | their_read) and read.isdisjoint(their_made)
            ):
                return False
        earlier.append((part, made, read))
    return True


def _added(s: ir.Accumulate) -> ir.Block:
    """Write a contribution as assignments, to fields last."""
    acc = s.accumulator
    parts = tuple(ir.Var("part", v.type) for v in acc.fields)
    given = tuple(ir.Assign(p, e) for p, e in zip(parts, s.values, strict=True))
    body, results = combined(acc, acc.fields, parts, later=True)
    new = tuple(ir.Var("new", r.type) for r in results)
    made = tuple(ir.Assign(n, r) for n, r in zip(new, results, strict=True))
    return (*given, *body, *made, *(ir.Assign(v, n) for v, n in zip(acc.fields, new, strict=True)))


def has_lanes_inside(loop: ir.For) -> bool:
    """Whether threads may lie along a loop over lanes with one pass, and along loops over lanes inside of this.

    What those compute for an atom is the same for all lanes around it, so it is computed once. So is what the pass
    stores, in arrays that nothing else in the loop touches.
    """
    passes = [s for s in loop.body if isinstance(s, ir.Pass)]
    others = tuple(s for s in loop.body if not isinstance(s, ir.Pass))
    given = [x.value if isinstance(x, ir.Const) else None for x in (loop.start, loop.step)]
    if given != [0, 1] or len(passes) != 1:
        return False
    (s,) = passes
    inside = list(inside_passes((s,)))
    own = walk.variables_set(s.body) | {s.atom}
    return (
        bool(inside)
        and all(walk.variables((x.stop,)).isdisjoint(own) for x in inside)
        and not any(isinstance(x, ir.Store) for y in inside for x in walk.statements(y.body))
        and all(isinstance(x, ir.Assign | ir.For | ir.Accumulate | ir.Store) for x in s.body)
        and _alone([x.array for x in s.body if isinstance(x, ir.Store)], loop)
        and all(isinstance(x, ir.Assign | ir.If | ir.Store) for x in walk.statements(others))
        and not any(v.length for v in walk.variables_set(loop.body))
        and lane_parts(s, loop.var) is not None
    )


def _alone(stored: list[ir.Array], loop: ir.For) -> bool:
    """Whether a pass stores in each of these arrays once, and nothing else in the loop touches them."""
    others = walk.arrays_touched(without_stores(loop).body)
    return len(set(stored)) == len(stored) and others.isdisjoint(stored)


def without_stores(loop: ir.For) -> ir.For:
    """Return a loop without what its passes store."""
    passes = {id(s) for s in loop.body if isinstance(s, ir.Pass)}

    def kept(s: ir.Stmt) -> ir.Stmt:
        if not isinstance(s, ir.Pass) or id(s) not in passes:
            return s
        return replace(s, body=tuple(x for x in s.body if not isinstance(x, ir.Store)))

    return replace(loop, body=tuple(map(kept, loop.body)))


def one_sum(step: ir.TileLoop) -> bool:
    """Whether a loop over tiles is one pass with lanes around it, whose atoms add to sums whichever their tile is.

    Schedules that split tiles then may walk the atoms once for several lanes.
    """
    loops = list(around_passes(step.body))
    passes = [s for s in walk.statements(step.body) if isinstance(s, ir.Pass)]
    if len(loops) != 1 or len(passes) != 1 or step.accumulators or not by_columns(loops[0]):
        return False
    (loop,), (s,) = loops, passes
    own = walk.variables_set(s.body) | {v for a in s.accumulators for v in a.fields}
    return walk.variables_read(s.body) <= own | {s.atom, loop.var}


def inside_passes(block: ir.Block) -> Iterator[ir.For]:
    """Yield the loops over lanes that threads of an atom may share: at the top level of passes without atomics."""
    plain = ir.Assign | ir.If | ir.Store | ir.Accumulate
    for s in walk.statements(block):
        if isinstance(s, ir.Pass) and s.of is None:
            loops = [x for x in s.body if isinstance(x, ir.For) and x.kind == "lanes"]
            fields = {v for a in s.accumulators for v in a.fields}
            numbers = not any(v.length for v in (*walk.variables_set(s.body), *fields))
            rest = (x for x in walk.statements(s.body) if x not in loops)
            alone = all(_passes_nothing_on(x, s.body) for x in loops)
            if numbers and alone and all(isinstance(x, plain) for x in rest):
                yield from loops


def _passes_nothing_on(loop: ir.For, body: ir.Block) -> bool:
    """Whether a loop in this body sets no variable of the code around it, other than by what it reduces."""
    around = tuple(x for x in body if x is not loop)
    seen = walk.variables_set(around) | walk.variables_read(around)
    return seen.isdisjoint(walk.variables_set(loop.body))


def along_lanes(loop: ir.For) -> list[ir.Element | ir.Store]:
    """Return what a loop over lanes reads and stores at indices that the lane is part of."""
    found: list[ir.Element | ir.Store] = []
    found += (e for e in walk.expressions(loop.body) if isinstance(e, ir.Element))
    found += (x for x in walk.statements(loop.body) if isinstance(x, ir.Store))
    return [e for e in found if loop.var in walk.variables(e.indices)]


def side_by_side(
    e: ir.Element | ir.Store, lane: ir.Var, varying: Set[ir.Var] = frozenset()
) -> bool:
    """Whether adjacent lanes have adjacent elements: the last index is the lane, and no other depends on it.

    varying: other variables that differ from lane to lane.
    """
    *others, last = e.indices
    bare = last.operand if isinstance(last, ir.Cast) else last
    return bare is lane and walk.variables(others).isdisjoint({lane, *varying})
