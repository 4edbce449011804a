"""Find the loops to unroll so that local arrays lie in registers: those whose counters say which element is meant.

An array with an index that the compiler does not know lies in memory of the thread's own. In a loop over a known range
it does know, once the loop is written out; by itself it does that for short bodies only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evenly.language import ir, walk

MOST = 4096  # statements that a loop may become

Loops = dict[ir.Var, ir.For]
PURE = ir.Unary | ir.Binary | ir.Cast | ir.Within | ir.Compare | ir.Logic | ir.Select


def unrolled(block: ir.Block) -> set[int]:
    """Return the loops to unroll, by id: of each local array all, if its elements are known then."""
    loops = {s.var: s for s in walk.statements(block) if isinstance(s, ir.For) and _trips(s)}
    if not loops:
        return set()
    set_once = _set_once(block)
    known: dict[ir.Var, Loops | None] = {v: {v: s} for v, s in loops.items()}
    needed: dict[ir.Var, Loops | None] = {}
    for array, index in _indices(block):
        found, before = _counters(index, known, set_once), needed.get(array, {})
        needed[array] = None if found is None or before is None else before | found
    chosen: set[int] = set()
    for wanted in needed.values():
        more = {id(s) for s in (wanted or {}).values()}
        if wanted and all(_size(s, chosen | more) <= MOST for s in wanted.values()):
            chosen |= more
    return chosen


def _trips(s: ir.For) -> int:
    """Return how many rounds a loop has; 0 if that is not known."""
    values = [e.value for e in (s.start, s.stop, s.step) if isinstance(e, ir.Const)]
    return len(range(*values)) if len(values) == 3 and values[2] else 0


def _size(s: ir.Stmt, chosen: set[int]) -> int:
    """Return the statements that one becomes."""
    times = _trips(s) if isinstance(s, ir.For) and id(s) in chosen else 1
    return times * (1 + sum(_size(x, chosen) for inner in walk.blocks(s) for x in inner))


def _set_once(block: ir.Block) -> dict[ir.Var, ir.Expr]:
    """Return the variables that one assignment sets, with its value."""
    times = Counter(v for s in walk.statements(block) for v in walk.assigned(s))
    assigns = (s for s in walk.statements(block) if isinstance(s, ir.Assign))
    return {s.var: s.value for s in assigns if times[s.var] == 1}


def _indices(block: ir.Block) -> Iterator[tuple[ir.Var, ir.Expr]]:
    """Yield each use of an element of a local array: the array and the index."""
    for s in walk.statements(block):
        if isinstance(s, ir.SetItem):
            yield s.array, s.index
        elif isinstance(s, ir.Accumulate) and s.index is not None:
            yield s.accumulator.fields[0], s.index
    for e in walk.expressions(block):
        if isinstance(e, ir.Item):
            yield e.array, e.index


def _counters(
    e: ir.Expr, known: dict[ir.Var, Loops | None], set_once: dict[ir.Var, ir.Expr]
) -> Loops | None:
    """Return the loops on whose counters alone a value depends; None if it depends on more.

    known: those of variables, to which it adds what it finds.
    """
    if isinstance(e, ir.Const):
        return {}
    if isinstance(e, ir.Var):
        if e not in known:
            known[e] = None
            known[e] = _counters(set_once[e], known, set_once) if e in set_once else None
        return known[e]
    if not isinstance(e, PURE):
        return None
    found: Loops = {}
    for part in walk.parts(e):
        more = _counters(part, known, set_once)
        if more is None:
            return None
        found |= more
    return found
