"""Read what a layout says about a tile once, before the walk over its atoms, and not again for each of them.

The id of an atom of a frontier follows from which tile was pushed, where that begins in the base and where in the list.
A compiler would have to read all of it for every atom, since it cannot know that the walk's own stores and atomics
leave it as it is: they go to other arrays, or to the list that is not walked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from . import ir, walk
from .phases import Once, Phase, Split


def read_once(phase: Phase, written: set[ir.Array], fresh: Callable[[str], str]) -> Phase:
    """Return a phase that walks a frontier with these reads before its passes; others as they are.

    written: the arrays that the program changes. fresh: makes a name that is not in use.
    """
    if isinstance(phase, Once) or not _is_frontier(phase.layout):
        return phase
    if isinstance(phase, Split):
        reads = _Reads.of(phase.pass_, written, fresh)
        more = tuple(reads.found.values())
        state = (*phase.state, *(s.var for s in more))
        return replace(phase, enter=(*phase.enter, *more), state=state, pass_=reads.left)

    def before(s: ir.Stmt) -> ir.Block | None:
        if not isinstance(s, ir.Pass):
            return None
        reads = _Reads.of(s, written, fresh)
        return (*reads.found.values(), reads.left) if reads.found else None

    return phase if phase.tasks else replace(phase, body=walk.rewritten(phase.body, before))


def _is_frontier(layout: ir.LayoutCode) -> bool:
    """Whether the number of its tiles is that of a list which kernels append to."""
    read = walk.inline_expressions(layout.num_tiles)
    return any(isinstance(e, ir.Element) and e.array.grows for e in read)


@dataclass
class _Reads:
    """The reads of one pass. changing: the variables that differ from atom to atom. left: the pass without them."""

    written: set[ir.Array]
    fresh: Callable[[str], str]
    changing: set[ir.Var]
    left: ir.Pass
    found: dict[ir.Expr, ir.Assign] = field(default_factory=dict)

    @staticmethod
    def of(s: ir.Pass, written: set[ir.Array], fresh: Callable[[str], str]) -> _Reads:
        made = _Reads(written, fresh, set(walk.assigned(s)) | walk.variables_set(s.body), s)
        made.left = replace(s, body=made.taken_from(s.body))
        return made

    def taken_from(self, body: ir.Block) -> ir.Block:
        """Return the pass without its reads. Only what every atom evaluates is taken: the rest may be guarded."""
        if not body or not isinstance(body[0], ir.Assign):
            return body
        first, rest = replace(body[0], value=self.without_reads(body[0].value)), body[1:]
        known = isinstance(first.value, ir.Var) and first.value not in self.changing
        if known and first.var not in walk.variables_set(rest):
            given, value = first.var, first.value
            return self.taken_from(walk.map_block(rest, lambda e: value if e is given else None))
        return (first, *self.taken_from(rest))

    def without_reads(self, e: ir.Expr) -> ir.Expr:
        """Return an expression with variables in the place of reads that are the same for all atoms."""
        if self.is_read(e):
            if e not in self.found:
                self.found[e] = ir.Assign(ir.Var(self.fresh("of_tile"), e.type), e)
            return self.found[e].var
        match e:
            case ir.Element(indices=indices):
                return replace(e, indices=tuple(map(self.without_reads, indices)))
            case ir.Cast(operand=x):
                return replace(e, operand=self.without_reads(x))
            case ir.Binary(left=a, right=b):
                return replace(e, left=self.without_reads(a), right=self.without_reads(b))
        return e

    def is_read(self, e: ir.Expr) -> bool:
        """Whether it is an integer of a layout, at a place that depends on the tile alone.

        It is read for tiles without atoms, too. So the place follows from the list: one that an array of the base says,
        such as where the tile begins there, may lie behind the end.
        """
        while isinstance(e, ir.Cast):
            e = e.operand
        if not isinstance(e, ir.Element):
            return False
        inside = [x for i in e.indices for x in walk.subexpressions(i)]
        of_list = all(x.array.grows for x in inside if isinstance(x, ir.Element))
        return of_list and all(map(self.stays, walk.subexpressions(e)))

    def stays(self, e: ir.Expr) -> bool:
        match e:
            case ir.Element(array=a):
                of_layout = len(a.path) > 1 and not a.own and a.dtype.is_integer
                return of_layout and (a.grows or a not in self.written)
            case ir.Var():
                return e not in self.changing
            case ir.Cast() | ir.Binary() | ir.Const() | ir.Param() | ir.Extent():
                return True
        return False
