"""Find code that members of a group may run only if all have a pass's whole result, or what an atomic has returned.

By default only the leader has those where a tile has one pass: it alone stores. The others compute on with what they
have, a part of the result. As an index that would be anywhere, as a divisor zero, and a loop might never end.
"""

from __future__ import annotations

from collections.abc import Iterator

from evenly.language import ir, walk
from evenly.language.accesses import has_to_fit
from evenly.language.dependence import Dependence, depend

from .contended import around_passes


def needs_results(body: ir.Block) -> bool:
    """Whether results decide, outside of passes, where all members read, how often they loop, by what they divide."""
    varying = Dependence(body, ()).varying()
    return depend(_deciding(around_passes(body)), varying)


def _deciding(block: ir.Block) -> Iterator[ir.Expr]:
    for s in walk.statements(block):
        if isinstance(s, ir.While):
            yield from walk.variables_read((s,))  # among it the conditions of its breaks
        elif isinstance(s, ir.For):
            yield from walk.operands(s)
        if not isinstance(s, ir.EFFECTS | ir.Push):  # which the leader has
            for e in walk.operands(s):
                yield from (y for x in walk.subexpressions(e) for y in has_to_fit(x))
