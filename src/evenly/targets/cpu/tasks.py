"""Emit a loop over tasks that a crew of workers runs (see `crew`)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace

from evenly.language import ir, walk
from evenly.language.phases import Owned
from evenly.language.schedule_code import whole_tile
from evenly.language.types import POS

from .crew_words import (
    BOTTOM,
    FULL,
    HANDED,
    HELD,
    LOOKS,
    MOST_BETWEEN,
    OWN,
    PAUSED,
    RESUMED,
    ROOM,
    START,
)
from .grid import Grid
from .statements import Writer


class Crew:
    """The code of one worker, in the function of phase `number`. Its stack is a ring, in scratch memory by fields."""

    def __init__(self, writer: Writer, number: int, phase: Owned, grid: Grid) -> None:
        assert phase.tasks is not None
        self.w, self.phase, self.tasks, self.grid = writer, phase, phase.tasks, grid
        pushes = (s for s in walk.statements(phase.body) if isinstance(s, ir.Push))
        self.keep = next(pushes)  # how any task is kept for the next round
        self.fields = [ir.Var(f"field_{i}", t) for i, t in enumerate(phase.tasks.types)]
        self.stacks = [
            writer.scratch(number, f"stack_{i}", v, size=ROOM) for i, v in enumerate(self.fields)
        ]
        self.own = [writer.local(f"own_{i}") for i in range(len(self.fields))]
        self.crew = writer.shared("crew")
        names = (
            "held bottom ran most attention first waiting at other until looked now between left"
        )
        self.names = {n: writer.local(n) for n in names.split()}
        writer.pushing = self.push

    def line(self, text: str) -> None:
        self.w.line(text.format(crew=self.crew, **self.names))

    def compound(self, head: str) -> AbstractContextManager[None]:
        return self.w.compound(head.format(crew=self.crew, **self.names))

    def emit(self) -> None:
        w, phase = self.w, self.phase
        self.grid.start()
        self.grid.resume(f"{self.crew}[{RESUMED}] != 0")
        w.block(phase.prelude)
        w.tile = phase.tile
        w.in_order = w.atoms = whole_tile(_of_task(phase), ir.Const(1, POS))
        self.line(f"{{waiting}} = {w.text.expr(ir.Cast(self.waiting(), POS))}")
        for own, stack in zip(self.own, self.stacks, strict=True):
            w.line(f"{own} = shifted({stack}, worker * {ROOM})")
        self.line(f"{{held}} = {{crew}}[{START + HELD} + {OWN} * worker]")
        self.line(f"{{bottom}} = {{crew}}[{START + BOTTOM} + {OWN} * worker]")
        self.line("{ran} = 0")
        self.line("{most} = {held}")
        self.line("{until} = crew_until({crew})")
        self.line("{looked} = 0")
        self.line("{between} = 1")
        self.line("{left} = 1")
        self.line("crew_begins({crew}, worker)")
        with w.compound("while True"):
            self.look()
            self.take()
            self.run()
        self.line("crew_leaves({crew}, worker, {held}, {bottom}, {ran}, {most})")
        self.grid.keep()

    def waiting(self) -> ir.Expr:
        """Return how many tasks wait in the list."""
        return self.w.held("listed", self.phase.layout.num_tiles)

    # ---- between two tasks -------------------------------------------------------------------------
    def look(self) -> None:
        """Write what a worker does for others, or instead of a task."""
        self.line("{attention} = crew_attention({crew})")
        with self.compound("if {attention} != 0"):
            with self.compound(f"if {{attention}} & {FULL}"):
                self.keep_all()
                self.w.line("break")
            with self.compound(f"if {{attention}} & {PAUSED}"):
                self.w.line("break")
            with self.compound("if {held} > 1"):
                self.give()
        with self.compound("if {left} == 0"):
            self.line("{now} = crew_now()")
            with self.compound("if {now} >= {until}"):
                self.line("crew_pauses({crew})")
                self.w.line("break")
            with self.compound(f"if {{now}} - {{looked}} < {LOOKS}"):
                self.line(f"{{between}} = min(2 * {{between}}, {MOST_BETWEEN})")
            with self.compound("else"):
                self.line("{between} = max({between} // 2, 1)")
            self.line("{looked} = {now}")
            self.line("{left} = {between}")

    def give(self) -> None:
        """Write how the oldest tasks go to a worker that waits."""
        self.line("{other} = crew_claims({crew}, worker, workers)")
        with self.compound("if {other} >= 0"):
            self.line(f"{{first}} = min({{held}} // 2, {HANDED})")
            with self.compound("for {at} in range({first})"):
                for own, stack in zip(self.own, self.stacks, strict=True):
                    place = f"({{bottom}} + {{at}}) & {ROOM - 1}"
                    self.line(f"{stack}[{ROOM} * {{other}} + {{at}}] = {own}[{place}]")
            self.line("crew_sends({crew}, {other}, {first})")
            self.line(f"{{bottom}} = ({{bottom}} + {{first}}) & {ROOM - 1}")
            self.line("{held} -= {first}")

    def keep_all(self) -> None:
        """Write how a worker keeps its tasks, and those that nobody has taken from the list, for the next call."""
        with self.compound("while {held} > 0"):
            self.pop()
            self.keep_one()
        with self.compound("while True"):
            self.line("{first} = crew_first({crew}, {waiting})")
            with self.compound("if {first} >= {waiting}"):
                self.w.line("break")
            with self.of_chunk():
                self.listed()
                self.keep_one()

    def keep_one(self) -> None:
        for v, field in zip(self.keep.values, self.fields, strict=True):
            assert isinstance(v, ir.Var)
            self.w.statement(ir.Assign(v, field))
        self.w.block(self.keep.body)

    # ---- tasks -------------------------------------------------------------------------------------
    def take(self) -> None:
        """Write how a worker without tasks gets some: of the list, or else of another worker."""
        with self.compound("if {held} == 0"):
            self.line("{bottom} = 0")
            self.line("{first} = crew_first({crew}, {waiting})")
            with self.compound("if {first} < {waiting}"), self.of_chunk():
                self.listed()
                for own, field in zip(self.own, self.fields, strict=True):
                    self.w.to_scratch(own, self.names["held"], field)
                self.line("{held} += 1")
            with self.compound("else"):
                self.line("{held} = crew_waits({crew}, worker)")
                with self.compound("if {held} == 0"):
                    self.w.line("break")
                self.w.line("continue")  # there may be something to do

    def of_chunk(self) -> AbstractContextManager[None]:
        tile = self.w.text.var(self.phase.tile)
        chunk = "{first} + crew_chunk({crew})"
        return self.compound(f"for {tile} in range({{first}}, min({chunk}, {{waiting}}))")

    def listed(self) -> None:
        """Write that the fields get the values of a task of the list."""
        for field, load in zip(self.fields, self.tasks.loads, strict=True):
            found = (e for e in walk.expressions((load,)) if isinstance(e, ir.Element))
            column = next(e for e in found if e.array.path[-1].startswith("column_"))
            self.w.statement(ir.Assign(field, column))

    def pop(self) -> None:
        self.line("{held} -= 1")
        for own, field in zip(self.own, self.fields, strict=True):
            self.w.from_scratch(own, self.place("{bottom} + {held}"), field)

    def run(self) -> None:
        self.line("{most} = max({most}, {held})")
        self.pop()
        self.line("{left} -= 1")
        self.line("{ran} += 1")
        for field, load in zip(self.fields, self.tasks.loads, strict=True):

            def given(e: ir.Expr, field: ir.Var = field) -> ir.Expr | None:
                return field if isinstance(e, ir.Element) else None

            self.w.statement(replace(load, value=walk.map_expr(load.value, given)))
        self.w.block(self.phase.body[len(self.tasks.loads) :])

    def push(self, s: ir.Push) -> None:
        """Write that a task is made. If the stack is full, it is for the next round."""
        with self.compound(f"if {{held}} < {ROOM}"):
            for own, v in zip(self.own, s.values, strict=True):
                assert isinstance(v, ir.Var)
                self.w.to_scratch(own, self.place("{bottom} + {held}"), v)
            self.line("{held} += 1")
        with self.compound("else"):
            self.w.block(s.body)
            counter = next(a for a in s.body if isinstance(a, ir.Atomic))
            names = (e for e in walk.expressions(s.body) if isinstance(e, ir.Param))
            capacity = next(e for e in names if e.path[-1] == "capacity")
            pushed = ir.Element(counter.array, counter.indices, counter.array.dtype)
            with self.w.when(ir.Compare(">", pushed, capacity)):
                self.line("crew_is_full({crew})")

    def place(self, text: str) -> str:
        return f"({text.format(**self.names)}) & {ROOM - 1}"

    def count(self) -> None:
        """Write that what the workers have counted is added to the set's counters, at the end."""
        counter = next(a for a in self.keep.body if isinstance(a, ir.Atomic)).array
        pool = replace(counter, name="pool", path=(*self.phase.path, "pool"))
        self.line(f"crew_counts({{crew}}, workers, {self.w.text.array(pool)})")


def _of_task(phase: Owned) -> ir.LayoutCode:
    """Return the layout, with the range of a task's atoms as its fields say."""
    assert phase.tasks is not None
    if not phase.tasks.ranged:
        return phase.layout
    tile = ir.Var("t", POS)
    loads = phase.tasks.loads[:2]
    begin, end = (ir.Inline((tile,), (), (ir.Cast(load.var, POS),)) for load in loads)
    return replace(phase.layout, begin=begin, end=end)
