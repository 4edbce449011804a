"""Dense axes around passes: loops over lanes in which a thread may walk the atoms once for several lanes."""

from __future__ import annotations

from collections.abc import Iterator, Set

from . import ir, walk
from .accesses import only_accumulates


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


def side_by_side(
    e: ir.Element | ir.Store, lane: ir.Var, varying: Set[ir.Var] = frozenset()
) -> bool:
    """Whether adjacent lanes have adjacent elements: the last index is the lane, and no other depends on it.

    varying: other variables that differ from lane to lane.
    """
    *others, last = e.indices
    bare = last.operand if isinstance(last, ir.Cast) else last
    return bare is lane and walk.variables(others).isdisjoint({lane, *varying})
