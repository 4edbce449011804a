"""Phases of schedules that split tiles, along whose dense axis the teams of a block lie (device/split_dense.cuh)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evenly.language import ir, walk
from evenly.language.accesses import contiguous_reads, only_accumulates
from evenly.language.phases import Split
from evenly.schedules.contract import lanes_of

from .batches import whole_runs
from .dense import Dense
from .expressions import Text, ctype
from .owner import Owner
from .spread import Batch, Spread
from .statements import fields_of, members
from .unit import device_counts

AT_ONCE = 4  # atoms of a team whose loads are in flight together
# The threads that a multiprocessor should hold, if each has so many numbers of 32 bits at a time at most. With more of
# them, numbers on their way would spill, and be waited for.
FITS = ((28, 1024), (36, 768))


def dense_split(schedule: Any, phase: Split) -> Dense | None:
    """Return how teams of a block lie along the lanes of a phase that its blocks split.

    None: it is walked lane by lane, since it has no such axis, or atoms do more than to add to sums of their tile.
    """
    lanes, vector = lanes_of(schedule)
    plain = ir.Assign | ir.If | ir.Store
    if (
        lanes * vector == 1
        or phase.lane is None
        or phase.needs_tile
        or phase.scans
        or phase.grid
        or not phase.leave
        or device_counts(phase.layout)
        or not only_accumulates(phase.pass_)
        or not all(isinstance(s, plain) for s in walk.statements(phase.leave))
    ):
        return None
    return Dense(lanes, vector, phase.layout, False, False)


class SpreadSplit(Spread):
    """Writes the main kernel of such a phase, except for its first line, which says what `phase` is.

    kind: the phase, the size of a block, its items and the rule, as C++ text. carries: what joins the tiles of blocks.
    """

    def __init__(self, text: Text, phase: Split, dense: Dense, kind: str, carries: str) -> None:
        assert phase.lane is not None and phase.lanes is not None
        first, step = (ir.Const(n, phase.lane.type) for n in (0, 1))
        body = phase.pass_, *phase.leave
        loop = ir.For(phase.lane, first, phase.lanes, step, body, "lanes")
        atoms = ir.Inline((), (), ())  # the engine's own
        writer = Owner(text, dense.lanes, AT_ONCE, 1, atoms, {}, (loop,), False, dense=dense)
        super().__init__(writer, loop)
        self.phase, self.kind, self.carries = phase, kind, carries
        self.own, self.value = text.unique("own"), text.unique("value")
        self.members = members(fields_of(self.passes[0].accumulators))
        self.split, self.items = (text.unique(n) for n in ("split", "items"))
        self.in_runs = text.unique("in_runs")
        # The elements of consecutive atoms that lie side by side are loaded by one instruction.
        reads = contiguous_reads(self.passes[0], text.written)
        self.runs = [e for e in reads if text.machine(e.type) == ctype(e.array.dtype)]

    def min_blocks(self, block: int) -> int:
        """Return the number of blocks that a multiprocessor must be able to hold; 0: the compiler decides."""
        held = self.held_at_once(self.passes[0])
        return next((threads // block for most, threads in FITS if held <= most), 0)

    def lines(self, block: int) -> list[str]:
        """Return the lines. block: the threads of a block."""
        line = self.writer.line
        shape = f"{self.kind}, {self.dense.lanes}, {self.dense.vector}"
        line(f"const ev::group<{self.dense.lanes}, {block}> team;")
        line(f"const ev::dense_split<{shape}> {self.split}{{phase, team}};")
        line(f"{self.split}.locate(first_tile);")
        self.write()
        return list(self.writer.lines)

    def head(self) -> str:
        first, step = self.first, f"{self.axis}.columns"
        start, by = f"ev::block_y() * {step}", f"ev::block_y_count() * {step}"
        return f"for (pos {first} = {start}; {first} < {self.count}; {first} += {by})"

    def columns(self) -> None:
        writer, text, (s,) = self.writer, self.text, self.passes
        writer.line(f"constexpr int {self.items} = {self.at_once(AT_ONCE)};")
        if self.runs:
            runs = whole_runs(text, self.runs, self.items)
            writer.line(f"const pos {self.in_runs} = {runs};")
        with writer.compound(self.head()):
            writer.line(f"pos {self.column}[{self.dense.vector}];")
            writer.line(f"{self.axis}.place(width, {self.first}, {self.count}, {self.column});")
            text.on_lane(self.loop.var, f"{self.column}[{self.c}]")
            writer.declared.add(self.loop.var)
            batch, leave = text.unique("batch"), text.unique("leave")
            self.batch_function(s, batch)
            self.leave_function(leave)
            along = f"{self.first}, {self.count}, {self.column}"
            shape = f"{self.axis}, width, ev::constant<{self.items}>()"
            given = f"{shape}, {along}, {batch}, {leave}, {self.carries}"
            writer.line(f"{self.split}.columns({given});")
            writer.line("ev::barrier();")

    def sums(self, name: str) -> None:
        """Let the accumulators be members of an array with an element for each column."""
        self.text.names.update({v: f"{name}[{self.c}].{m}" for v, m in self.members.items()})
        self.writer.declared.update(self.members)

    @contextmanager
    def function(self, name: str, parameters: str) -> Iterator[None]:
        with self.writer.compound(f"const auto {name} = [&]({parameters})"):
            yield
        self.writer.lines[-1] += ";"

    def batch_function(self, s: ir.Pass, name: str) -> None:
        """Write the function that loads what some atoms are read for, and adds some of them."""
        writer, text, unique = self.writer, self.text, self.text.unique
        text.names.pop(s.atom, None)
        writer.declared.add(s.atom)
        k = text.var(s.atom)
        first, last, item = (unique(n) for n in (f"{k}_first", f"{k}_last", "item"))
        self.batch = Batch(first, last, name, item)
        own, each, add = f"(&{self.own})[{self.dense.vector}]", unique("each"), unique("add")
        start, stop, count = unique("from"), unique("to"), self.items
        self.sums(self.own)
        writer.in_pass = writer.ascends = True
        parameters = f"Phase::Value {own}, const pos {first}, const pos {last}"
        with self.function(name, f"{parameters}, const auto& {each}"):
            place = f"{first} + {item}"
            # Beyond the last atom it is loaded again, so that no load waits for a test.
            self.load_all(s, count, f"{place} < {last} ? {place} : {last}", f"{first} <= {last}")
            with self.function(add, f"const pos {start}, const pos {stop}"):
                inside = f"{start} <= {k} && {k} < {stop}"
                within, columns = writer.compound(f"if ({inside})"), self.each_column()
                with self.each_atom(s, count, place), within, columns:
                    writer.block(s.body)
            writer.line(f"{each}({add});")
        text.loaded = {}
        writer.in_pass = writer.ascends = False

    def load_stage(self, s: ir.Pass, to: dict[ir.Element, str], count: str, place: str) -> None:
        runs = {e: name for e, name in to.items() if e in self.runs}
        if not runs:
            super().load_stage(s, to, count, place)
            return
        line, first = self.writer.line, self.batch.first
        with self.writer.compound(f"if ({first} < {self.in_runs})"):
            for e, name in runs.items():
                line(f"ev::load_again<{count}>({self.text.array(e.array)}.data + {first}, {name});")
        with self.writer.otherwise():
            super().load_stage(s, runs, count, place)
        if others := {e: name for e, name in to.items() if e not in runs}:
            super().load_stage(s, others, count, place)

    def leave_function(self, name: str) -> None:
        """Write the function that leaves a tile in the columns of a thread."""
        tile = self.phase.tile
        self.writer.declared.add(tile)
        value = f"const Phase::Value (&{self.value})[{self.dense.vector}]"
        self.sums(self.value)
        with self.function(name, f"const pos {self.text.var(tile)}, {value}"):
            self.leave(self.parts[-1])
