"""Find code that members of a group may run only if all have what the leader has.

By default the leader alone has a pass's whole result where a tile has one pass, and what an atomic has returned: it
alone stores. The others compute on with what they have, a part of the result. As an index that would be anywhere, as a
divisor zero, and a loop might never end. Nor may a pass use what only the leader has, or what each member has read
while others were changing it.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from evenly.language import ir, walk
from evenly.language.accesses import has_to_fit
from evenly.language.dependence import Dependence, depend

from .contended import around_passes


def needs_leaders(body: ir.Block, contended: Set[ir.Path]) -> bool:
    """Whether all members need what the leader has.

    Results decide, outside of passes, where all members read, how often they loop, or by what they divide; or a pass
    uses what atomics around it have returned, or what was read around it in arrays that others change.
    """
    known, around = Dependence(body, ()), around_passes(body)
    if depend(_deciding(around), known.varying()):
        return True
    asked = {
        v for s in walk.statements(around) if isinstance(s, ir.Atomic) for v in walk.assigned(s)
    }
    differing = Dependence(around, ()).following(asked, lambda e: e.array.path in contended)
    passes = tuple(s for s in walk.statements(body) if isinstance(s, ir.Pass))
    return not differing.isdisjoint(walk.variables_read(passes))


def _deciding(block: ir.Block) -> Iterator[ir.Expr]:
    for s in walk.statements(block):
        if isinstance(s, ir.While):
            yield from walk.variables_read((s,))  # among it the conditions of its breaks
        elif isinstance(s, ir.For):
            yield from walk.operands(s)
        if not isinstance(s, ir.EFFECTS | ir.Push):  # which the leader has
            for e in walk.operands(s):
                yield from (y for x in walk.subexpressions(e) for y in has_to_fit(x))
