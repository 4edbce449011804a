"""Emit code that all members of a team run, whose effects are the leader's."""

from __future__ import annotations

from contextlib import nullcontext

from evenly.language import ir, walk
from evenly.language.scratch import scratch_in
from evenly.language.types import POS

from .agreed import Agreed
from .contended import reread, stored_twice
from .expressions import Text
from .partial import needs_leaders
from .statements import Writer

RANK = ir.Var("rank", POS)  # of a thread in its team


class Led(Writer):
    """Writes statements for a thread, or for all members of a group.

    All members compute the same values. Only the leader stores, uses atomics and contributes to accumulators of the
    grid.

    size: members. grid: the names of the accumulators of the grid. shared: the arrays whose stores members wait for.
    whole: whether what members do outside of passes depends on whole results (partial.py).
    one_pass: whether nobody but the leader needs what members' atoms contribute.
    in_pass: whether code for an atom is being written, which one member runs. spreads: the same for a column of a dense
    axis. stored: where values of stores wait to be stored together, by the ids of the stores.
    converged: whether all groups of a warp go on together, those without a tile (`live`) too.
    """

    def __init__(self, text: Text, size: int, body: ir.Block, grid: dict[ir.Var, str]) -> None:
        text.names[RANK] = "team.rank()"
        super().__init__(text)
        self.size, self.body, self.grid_names = size, body, grid
        self.shared = awaited(body) if size > 1 else set()
        passes = any(isinstance(s, ir.Pass) for s in walk.statements(body))
        self.whole = size > 1 and passes and needs_leaders(body, text.contended)
        self.one_pass = has_one_pass(body, self.shared) and not self.whole
        self.in_pass = self.spreads = self.converged = False
        self.stored: dict[int, str] = {}
        self.agreed = Agreed(self)

    def leads(self) -> bool:
        return self.size > 1 and not (self.in_pass or self.spreads)

    @property
    def leader(self) -> str:
        """The condition under which a thread performs the effects of its tile."""
        return "team.leader() && live" if self.converged else "team.leader()"

    def statement(self, s: ir.Stmt) -> None:
        super().statement(self.agreed.told(s))
        if isinstance(s, ir.Assign) and not s.var.length and self.agreed.unsteady(s.value):
            self.agreed.tell(s.var)

    def store(self, s: ir.Store) -> None:
        if id(s) in self.stored:
            self.simple(f"{self.stored[id(s)]} = {self.text.expr(s.value)}")
        elif not self.leads():
            super().store(s)
        else:
            self.wait_for(s.array)
            self.line(f"if ({self.leader}) {self.store_text(s)}")
            self.wait_for(s.array)

    def wait_for(self, array: ir.Array) -> None:
        if array in self.shared:
            self.line("team.sync();")

    def effect(self, text: str) -> None:
        super().effect(f"if ({self.leader}) {text}" if self.leads() else text)

    def atomic(self, s: ir.Atomic) -> None:
        if not self.leads():
            super().atomic(s)
            return
        call = self.atomic_call(s)
        self.wait_for(s.array)
        if s.result is None:
            self.line(f"if ({self.leader}) {call};")
        else:
            self.assign(s.result, f"({self.leader}) ? {call} : 0")
            if not self.one_pass:
                self.agreed.tell(s.result)
        self.wait_for(s.array)

    def push(self, s: ir.Push) -> None:
        self.effect(f"tasks.push({{{', '.join(map(self.text.expr, s.values))}}})")

    def accumulate(self, acc: ir.Accumulator, values: tuple[ir.Expr, ...]) -> None:
        with self.compound(f"if ({self.leader})") if self._of_grid(acc) else nullcontext():
            super().accumulate(acc, values)

    def accumulate_item(
        self, acc: ir.Accumulator, values: tuple[ir.Expr, ...], index: ir.Expr
    ) -> None:
        with self.compound(f"if ({self.leader})") if self._of_grid(acc) else nullcontext():
            super().accumulate_item(acc, values, index)

    def _of_grid(self, acc: ir.Accumulator) -> bool:
        return self.leads() and acc.fields[0] in self.grid_names


def awaited(body: ir.Block) -> set[ir.Array]:
    """Return the arrays for whose stores members wait, before and after: those that others read, or store into.

    Members that read what their leader stores wait for it. So do those whose loops over an item's tiles, or whose
    leader, store into one array: another may have the element in each.
    """
    passes = [s for s in walk.statements(body) if isinstance(s, ir.Pass)]
    found = reread(body) if passes else set()
    if any(s.of is not None for s in passes):
        found |= stored_twice(body)
    return found | {s.array for s in scratch_in(body)}


def has_one_pass(body: ir.Block, shared: set[ir.Array]) -> bool:
    """Whether a tile has one pass whose result the leader alone needs.

    All members need it if it depends on it whether there is a store for which they wait.
    """
    passes = sum(isinstance(s, ir.Pass) for s in walk.statements(body))
    on_top = sum(isinstance(s, ir.Pass) for s in body)
    inside = [b for s in body if not isinstance(s, ir.Pass) for b in walk.blocks(s)]
    meets = any(shared & walk.arrays_written(b) for b in inside)
    return passes == on_top == 1 and not (has_arrays(body) or meets)


def has_arrays(body: ir.Block) -> bool:
    """Whether a tile has arrays of its own. Code computes their indices, so all members need whole results."""
    return any(v.length for v in walk.variables_set(body)) or bool(scratch_in(body))
