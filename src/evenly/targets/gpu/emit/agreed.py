"""See to it that the members of a group do the same, also where others change meanwhile what a condition reads.

Each member reads for itself. If one finds another value than the next, they meet different barriers. So all of them go
on with what the leader has read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.scratch import scratch_in

if TYPE_CHECKING:
    from .led import Led


class Agreed:
    """Changes the statements of a group's common code so that what decides them is the leader's."""

    def __init__(self, writer: Led) -> None:
        self.writer = writer
        # A team's own, which synchronizes before it reads them: nobody else changes these.
        self.own = {s.array for s in scratch_in(writer.body)}

    def told(self, s: ir.Stmt) -> ir.Stmt:
        """Return a statement by which all members do the same."""
        match s:
            case ir.If(condition=c):
                made: ir.Stmt = replace(s, condition=self._leaders(c))
            case ir.While(before=before, condition=c) if self.unsteady(c):
                v = ir.Var("goes_on", c.type)
                made = replace(s, before=(*before, ir.Assign(v, c)), condition=v)
            case ir.For(start=a, stop=b, step=c):
                made = replace(
                    s, start=self._leaders(a), stop=self._leaders(b), step=self._leaders(c)
                )
            case ir.SetItem(index=index, value=value):
                made = replace(s, index=self._leaders(index), value=self._leaders(value))
            case ir.Accumulate(accumulator=acc, values=values, index=index):
                if acc.fields[0] in self.writer.grid_names:  # the leader's
                    return s
                values = tuple(map(self._leaders, values))
                index = index and self._leaders(index)
                made = replace(s, values=values, index=index)
            case _:
                return s
        if made == s:
            return s
        self.writer.held_blocks.append((made,))
        return made

    def unsteady(self, e: ir.Expr) -> bool:
        """Whether members may find different values.

        Converged groups come to every barrier whatever they find.
        """
        writer = self.writer
        read = {x.array for x in walk.subexpressions(e) if isinstance(x, ir.Element)}
        apart = writer.leads() and not (writer.one_pass or writer.converged)
        return apart and any(array.path in writer.text.contended for array in read - self.own)

    def tell(self, v: ir.Var) -> None:
        """Write that all members take the leader's value of a variable."""
        name = self.writer.text.var(v)
        self.writer.line(f"{name} = ev::from_leader(team, {name});")

    def _leaders(self, e: ir.Expr) -> ir.Expr:
        """Return the leader's value of an expression, in a variable if it is unsteady."""
        if not self.unsteady(e):
            return e
        v = ir.Var("found", e.type)
        self.writer.statement(ir.Assign(v, e))
        return v
