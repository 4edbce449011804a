"""Loops over lanes around passes, along which the threads of a team lie (device/dense.cuh).

A thread has several columns of the dense axis at a time. It walks its share of a tile's atoms once for all of them:
what an atom is read for is loaded once, and columns that lie side by side are loaded and stored 16 bytes at a time. So
what the loop computes for each lane becomes an array of the thread, with an element for each of its columns.

Source: row-splitting with coalesced access along the dense axis, and several atoms in flight: Yang, Buluc, Owens,
"Design Principles for Sparse Matrix Multiplication on the GPU" (Euro-Par 2018), section 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.accesses import always
from evenly.language.dense import has_lanes_inside
from evenly.language.locals import places_written_out
from evenly.language.schedule_code import whole_tile
from evenly.language.types import POS, Scalar

from .columns import STEP, Columns
from .dense import parts_of
from .dense_both import Both
from .expressions import ctype
from .statements import fields_of, members

if TYPE_CHECKING:
    from .owner import Owner

# The threads that a multiprocessor should hold if a thread has so many numbers of 32 bits at a time at most. The first
# leaves 32 registers a thread, too few for a reduction over several threads.
FITS = ((20, 2048), (36, 1536), (56, 1024))


def spread(writer: Owner, loop: ir.For) -> None:
    """Write a loop over lanes along which the threads of a team lie."""
    Spread(writer, loop).write()


@dataclass(frozen=True, slots=True)
class Batch:
    """The names of a batch's first atom, of the end of the tile, of a batch's code, and of an atom's number in it."""

    first: str
    end: str
    run: str
    item: str


class Spread(Columns):
    """Writes one such loop."""

    def __init__(self, writer: Owner, loop: ir.For) -> None:
        super().__init__(writer, loop)
        self.passes = [
            places_written_out(s, writer.text.written, walk.variables_read(loop.body))
            for s in loop.body
            if isinstance(s, ir.Pass)
        ]
        self.parts = parts_of(loop)
        self.both = Both(self, self.passes[0]) if has_lanes_inside(loop) else None
        writer.held_blocks += [(s,) for s in self.passes]

    @property
    def uniform(self) -> frozenset[ir.Var]:
        """The results of passes that all columns have in common."""
        return self.both.parted.uniform if self.both else frozenset()

    def lengths(self) -> tuple[ir.Expr, ...]:
        return (self.loop.stop, *(self.both.lengths() if self.both else ()))

    # ---- the loop ----------------------------------------------------------------------------------
    def write(self) -> None:
        line, body = self.writer.line, self.text.unique("spread")
        with self.writer.compound(""):
            line(f"const auto {self.axis} = {self.dense.along};")
            line(f"const pos {self.count} = {self.stop()};")
            counts = [self.count, *(self.both.counts() if self.both else ())]
            with self.writer.compound(f"const auto {body} = [&](auto width)"):
                self.rows(self.words_in())
                self.columns()
                self.text.rows.clear()
            self.writer.lines[-1] += ";"
            self.choose(body, self.width(), self.words_in(), *counts)

    def columns(self) -> None:
        """Write the loop over the columns that the team has at a time."""
        writer, text = self.writer, self.text
        with writer.compound(self.head()):
            writer.line(f"pos {self.column}[{self.dense.vector}];")
            writer.line(f"{self.axis}.place(width, {self.first}, {self.count}, {self.column});")
            text.on_lane(self.loop.var, f"{self.column}[{self.c}]")
            writer.declared.add(self.loop.var)
            for v in self.held():
                self.array(v)
            for part, s in zip(self.parts, self.passes, strict=False):
                self.plain(part)
                self.walk(s)
            self.leave(self.parts[-1])

    def held(self) -> list[ir.Var]:
        """Return the variables that hold a value for each column from one part of the loop to another."""
        blocks = [*self.parts, *((s,) for s in self.passes)]
        found = [walk.variables_set(b) | walk.variables_read(b) for b in blocks]
        own = {v for b in blocks for v in walk.variables_set(b)} - {s.atom for s in self.passes}
        results = {v for s in self.passes for v in fields_of(s.accumulators)}
        if self.both:
            results -= self.uniform
            own -= walk.variables_set(self.passes[0].body) | self.uniform
        shared = {v for v in own if sum(v in block for block in found) > 1} | results
        return sorted(shared, key=lambda v: v.name)

    def array(self, v: ir.Var) -> None:
        name = self.text.var(v)
        self.writer.line(f"{ctype(v.type)} {name}[{self.dense.vector}];")
        self.text.names[v] = f"{name}[{self.c}]"
        self.writer.declared.add(v)

    # ---- parts -------------------------------------------------------------------------------------
    def plain(self, block: ir.Block) -> None:
        """Write code without effects that every thread runs for each of its columns, all of which are on the axis."""
        if block:
            self.writer.spreads = True
            with self.each_column():
                self.writer.block(block)
            self.writer.spreads = False

    def leave(self, block: ir.Block) -> None:
        """Write the code after the last pass, which the first of the threads that share a column runs."""
        if not block:
            return
        writer, text = self.writer, self.text
        conditions = [f"{self.axis}.leads()"] if self.dense.folds else []
        conditions += ["live"] if writer.converged else []
        leads = f"if ({' && '.join(conditions)})" if conditions else ""
        with writer.compound(leads), self.each_word() as word:
            text.loaded, writer.spreads = self.load_old(block, word), True
            self.store_words(block, word)
            text.loaded, writer.spreads = {}, False

    def load_old(self, block: ir.Block, word: str) -> dict[ir.Element, str]:
        """Write loads of what is where a word will be stored, if it is read. Return what holds it."""
        places = {(s.array, s.indices) for s in self.word_stores(block)}
        read = (e for e in walk.expressions(block) if isinstance(e, ir.Element))
        old = dict.fromkeys(e for e in read if (e.array, e.indices) in places)
        held = {e: self.text.unique(f"own_{self.text.array(e.array)}") for e in old}
        for e, name in held.items():
            self.writer.line(f"{self.text.machine(e.type)} {name}[{self.dense.vector}];")
            with self.writer.compound(""):
                self.writer.line(f"const int {self.c} = {word};")
                self.load_word(e, name)
        return {e: f"{name}[{self.c}]" for e, name in held.items()}

    # ---- passes ------------------------------------------------------------------------------------
    def walk(self, s: ir.Pass) -> None:
        writer = self.writer
        if self.both:
            self.both.write()
            self.fold(s)
            return
        with self.each_column():
            writer.identities(s.accumulators)
        walks = f"{writer.walks} && " if writer.walks else ""
        with writer.compound(f"if ({walks}{self.has('0')})"):
            self.atoms(s)
        if self.dense.folds:
            self.fold(s)

    def atoms(self, s: ir.Pass) -> None:
        """Write the walk over a thread's share of the atoms: whole batches first, which need no test of each atom."""
        writer, text = self.writer, self.text
        assert writer.tile is not None
        code = whole_tile(self.dense.layout, STEP)
        body, (begin, end, _) = walk.substitute(code, (writer.tile,))
        writer.block(body)
        text.names.pop(s.atom, None)
        writer.declared.add(s.atom)
        k = text.var(s.atom)
        first, last, items = f"{k}_first", f"{k}_end", f"{k}_batch"
        self.batch = Batch(*(text.unique(n) for n in (first, last, items, "item")))
        writer.line(f"const pos {self.batch.end} = {text.expr(end)};")
        start = f"{text.operand(begin, 70)} + {self.axis}.rank()"
        writer.line(f"pos {self.batch.first} = {start};")
        writer.in_pass = writer.ascends = True
        with writer.compound(f"const auto {self.batch.run} = [&](auto items)"):
            self.atoms_at_once(s)
        writer.lines[-1] += ";"
        writer.in_pass = writer.ascends = False
        self.bound(s)
        items = self.at_once(writer.items)
        over = f"{self.batch.first}, {self.batch.end}, {self.axis}.ranks"
        writer.line(f"ev::in_batches<{items}>({over}, {self.batch.run});")

    def bound(self, s: ir.Pass) -> None:
        """Bound the registers of a thread, if it needs few: so many that what a batch loads has a place."""
        held = self.held_at_once(s)
        threads = next((n for most, n in FITS[self.dense.folds :] if held <= most), 0)
        if not threads and self.held_at_once(s, 1) <= FITS[-1][0]:
            threads = FITS[-1][1]  # single columns at constant distances
        # Tiles of very different lengths lie all over memory: more threads would take L2 from each other.
        self.writer.hold(threads if self.dense.owned else min(threads, FITS[-1][1]))
        if not (threads and self.dense.owned):
            self.writer.heavy = True

    def held_at_once(self, s: ir.Pass, place: int = 0) -> int:
        """Return the registers for the numbers that a thread holds for a batch, and for its sums.

        place: those of a number, and of its place; 0: a word has one, a single number one of its own.
        """
        vector, items = self.dense.vector, self.writer.items
        loaded = [e for stage in self.loads(s) for e in stage]
        place = place or (2 if self.width() == 1 else 1)
        each = sum(self.words(e.type) * (place * vector if self.varies(e) else 1) for e in loaded)
        results = sum(self.words(v.type) for v in fields_of(s.accumulators)) * vector
        return items * each + results

    def words(self, t: Scalar) -> int:
        """Return the registers of a number."""
        return 1 + self.text.wide if t is POS else -(-t.dtype.itemsize // 4)

    def atoms_at_once(self, s: ir.Pass) -> None:
        """Write the loads for a batch of atoms, and then the code of each."""
        place = f"{self.batch.first} + {self.batch.item} * {self.axis}.ranks"
        self.load_all(s, "items.value", place)
        with self.each_atom(s, "items.value", place), self.each_column():
            self.writer.block(s.body)
        self.text.loaded = {}

    @contextmanager
    def each_atom(self, s: ir.Pass, count: str, place: str) -> Iterator[None]:
        """Open an unrolled loop over the atoms of a batch. place: where one lies, by its number in the batch."""
        line, item = self.writer.line, self.batch.item
        line("#pragma unroll")
        with self.writer.compound(f"for (int {item} = 0; {item} < {count}; ++{item})"):
            line(f"const pos {self.text.var(s.atom)} = {place};")
            yield

    def load_all(self, s: ir.Pass, count: str, place: str, some: str = "") -> None:
        """Write the loads for a batch of atoms into variables. some: the condition under which there is one."""
        text, line = self.text, self.writer.line
        stages = self.loads(s)
        held = {e: text.unique(f"own_{text.array(e.array)}") for stage in stages for e in stage}
        columns = {e: f"[{self.c}]" if self.varies(e) else "" for e in held}
        for e, name in held.items():
            each_column = f"[{self.dense.vector}]" if columns[e] else ""
            line(f"{text.machine(e.type)} {name}[{count}]{each_column};")
        with self.writer.compound(f"if ({some})") if some else nullcontext():
            for stage in stages:
                self.load_stage(s, {e: held[e] for e in stage}, count, place)
                text.loaded = text.loaded | {
                    e: f"{held[e]}[{self.batch.item}]{columns[e]}" for e in stage
                }

    def load_stage(self, s: ir.Pass, to: dict[ir.Element, str], count: str, place: str) -> None:
        """Write loads that do not wait for each other."""
        with self.each_atom(s, count, place):
            for e, name in to.items():
                self.load(e, f"{name}[{self.batch.item}]")

    def load(self, e: ir.Element, to: str) -> None:
        writer, text = self.writer, self.text
        if not self.varies(e):
            writer.line(f"{to} = {text.expr(e)};")
        elif self.is_word(e):
            with self.each_column("width.value"):
                self.load_word(e, to)
        else:
            with self.each_column():
                writer.line(f"{to}[{self.c}] = {text.expr(e)};")

    def loads(self, s: ir.Pass) -> list[list[ir.Element]]:
        """Return the elements that a pass reads for every atom, in two stages: those of the second have the first's as
        indices."""
        first: dict[ir.Element, None] = {}
        second: dict[ir.Element, None] = {}
        read = [e for x in s.body for operand in walk.operands(x) for e in always(operand)]
        for e in read:
            if isinstance(e, ir.Element) and self.may_load(e, s) and not _reads(e):
                first[e] = None
        for e in read:
            if isinstance(e, ir.Element) and self.may_load(e, s) and (inside := _reads(e)):
                second |= dict.fromkeys([e] if all(x in first for x in inside) else [])
        return [list(stage) for stage in (first, second) if stage]

    def may_load(self, e: ir.Element, s: ir.Pass) -> bool:
        """Whether an element can be loaded before its atom's code, since it depends on nothing that this computes."""
        inside = walk.variables_set(s.body) | set(fields_of(s.accumulators))
        arrays = [e.array, *(x.array for x in _reads(e))]
        readable = all(
            a.path not in self.text.written and a.path not in self.text.contended for a in arrays
        )
        return readable and walk.variables((e,)).isdisjoint(inside)

    def fold(self, s: ir.Pass) -> None:
        """Write the reduction over the threads that share a column."""
        writer, text = self.writer, self.text
        named, struct = members(fields_of(s.accumulators)), writer.struct_of(s)
        method = "fold" if s is self.passes[-1] else "fold_for_all"
        whole = text.unique("whole")
        own = {v: text.unique(f"own_{text.var(v)}") for v in named if v in self.uniform}
        for v, name in own.items():  # which the first column would overwrite
            writer.line(f"const {ctype(v.type)} {name} = {text.var(v)};")
        with self.each_column():
            values = ", ".join(own.get(v) or text.var(v) for v in named)
            writer.line(f"const {struct} {whole} = {self.axis}.{method}({struct}{{{values}}});")
            for v, m in named.items():
                writer.line(f"{text.var(v)} = {whole}.{m};")

    def words_in(self) -> list[ir.Array]:
        """Return the arrays whose columns lie side by side."""
        if self.both:
            arrays = [*self.both.words_in(), *(s.array for s in self.word_stores(self.parts[-1]))]
            return list(dict.fromkeys(arrays))
        found = [
            e
            for s in self.passes
            for stage in self.loads(s)
            for e in stage
            if self.varies(e) and self.is_word(e)
        ]
        arrays = [*(e.array for e in found), *(s.array for s in self.word_stores(self.parts[-1]))]
        return list(dict.fromkeys(arrays))


def _reads(e: ir.Element) -> list[ir.Element]:
    """Return the elements in the indices of one."""
    return [x for i in e.indices for x in walk.subexpressions(i) if isinstance(x, ir.Element)]
