"""Loops over lanes around passes, along which the threads of a team lie (device/dense.cuh).

A thread has several columns of the dense axis at a time. It walks its share of a tile's atoms once for all of them:
what an atom is read for is loaded once, and columns that lie side by side are loaded and stored 16 bytes at a time. So
what the loop computes for each lane becomes an array of the thread, with an element for each of its columns.

Source: row-splitting with coalesced access along the dense axis, and several atoms in flight: Yang, Buluc, Owens,
"Design Principles for Sparse Matrix Multiplication on the GPU" (Euro-Par 2018), section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenly.language import ir, walk
from evenly.language.accesses import always
from evenly.language.dense import around_passes, by_columns, side_by_side
from evenly.language.locals import places_written_out
from evenly.language.phases import Owned
from evenly.language.schedule_code import whole_tile
from evenly.language.types import POS, Scalar
from evenly.schedules.contract import lanes_of

from .expressions import ctype
from .shared_lanes import stores_apart
from .statements import fields_of, members

if TYPE_CHECKING:
    from .owner import Owner

WORD = 16  # the bytes that one instruction loads at most
# The threads that a multiprocessor should hold if a thread has so many numbers of 32 bits at a time at most. The first
# leaves 32 registers a thread, too few for a reduction over several threads.
FITS = ((20, 2048), (36, 1536), (56, 1024))
STEP = ir.Var("step", POS)  # from one atom of a thread to its next


@dataclass(frozen=True, slots=True)
class Dense:
    """How a team lies along a dense axis: `lanes` of its threads, each with `vector` columns at a time.

    layout: that of the tiles. folds: whether several threads of a team may share the atoms of a column. owned: whether
    the kernel has the code of a tile once, in a loop of its own.
    """

    lanes: int
    vector: int
    layout: ir.LayoutCode
    folds: bool
    owned: bool

    @property
    def along(self) -> str:
        """The team along the axis, as C++ text."""
        return f"ev::along<{self.lanes}, {self.vector}>(team)"


def dense_of(schedule: Any, phase: Owned, size: int, owned: bool = False) -> Dense | None:
    """Return how teams of up to `size` threads lie along the lanes of a phase; None: not at all."""
    axis = any(isinstance(x, ir.For) and x.kind == "lanes" for x in walk.statements(phase.body))
    lanes, vector = lanes_of(schedule) if axis and phase.has_pass else (1, 1)
    if lanes * vector == 1:
        return None
    return Dense(lanes, vector, phase.layout, size > lanes, owned)


def may_spread(writer: Owner, loop: ir.For, outside: Set[ir.Var]) -> bool:
    """Whether the threads of a team may lie along this loop. outside: the variables from outside it."""
    return (
        writer.dense is not None
        and any(s is loop for s in around_passes((loop,)))
        and by_columns(loop)
        and outside.isdisjoint(walk.variables_set(loop.body))
        and stores_apart(loop)
        and _arrays_apart(writer, loop)
    )


def _arrays_apart(writer: Owner, loop: ir.For) -> bool:
    """Whether no thread reads what another one stores in the loop, which the code after its last pass does."""
    last = _parts(loop)[-1]
    rest = walk.rewritten(
        writer.body,
        lambda s: loop.body[: len(loop.body) - len(last)] if s is loop else None,
    )
    stored = walk.arrays_written(loop.body)
    private = not any(a.own or a.staged for a in walk.arrays_touched(loop.body))
    alone = all(a.path not in writer.text.contended for a in stored)
    return private and alone and stored.isdisjoint(walk.arrays_touched(rest))


def _parts(loop: ir.For) -> list[ir.Block]:
    """Return the code before the first pass of a loop, between passes, and after the last one."""
    parts: list[ir.Block] = [()]
    for s in loop.body:
        if isinstance(s, ir.Pass):
            parts.append(())
        else:
            parts[-1] = (*parts[-1], s)
    return parts


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


class Spread:
    """Writes one such loop."""

    def __init__(self, writer: Owner, loop: ir.For) -> None:
        assert writer.dense is not None
        self.writer, self.text, self.loop, self.dense = writer, writer.text, loop, writer.dense
        self.passes = [
            places_written_out(s, writer.text.written, walk.variables_read(loop.body))
            for s in loop.body
            if isinstance(s, ir.Pass)
        ]
        self.parts = _parts(loop)
        writer.held_blocks += [(s,) for s in self.passes]
        name, unique = self.text.var(loop.var), self.text.unique
        self.axis, self.count = unique("axis"), unique(f"{name}_count")
        self.first, self.column, self.c = unique(f"{name}_first"), unique(name), unique("c")

    # ---- the loop ----------------------------------------------------------------------------------
    def write(self) -> None:
        line, body = self.writer.line, self.text.unique("spread")
        with self.writer.compound(""):
            line(f"const auto {self.axis} = {self.dense.along};")
            line(f"const pos {self.count} = {self.stop()};")
            with self.writer.compound(f"const auto {body} = [&](auto width)"):
                self.rows(self.words_in())
                self.columns()
                self.text.rows.clear()
            self.writer.lines[-1] += ";"
            self.choose(body, self.width(), self.words_in())

    def stop(self) -> str:
        return self.text.expr(ir.Cast(self.loop.stop, POS))

    def choose(self, body: str, width: int, arrays: Iterable[ir.Array]) -> None:
        """Write the call of the code for words of so many columns, if all rows consist of them, and for single ones."""
        line = self.writer.line
        if width == 1:
            line(f"{body}(ev::constant<1>());")
            return
        fits = " && ".join(self.whole(array, width) for array in arrays)
        line(f"if ({fits}) {body}(ev::constant<{width}>());")
        line(f"else {body}(ev::constant<1>());")

    def rows(self, arrays: Iterable[ir.Array]) -> None:
        """Name the lengths of rows, of 32 bits where they consist of words: indices take fewer instructions."""
        for array in arrays:
            axis, name = array.ndim - 1, self.text.unique(f"row_{self.text.array(array)}")
            self.writer.line(
                f"const auto {name} = ev::row(width, {self.text.extent(array, axis)});"
            )
            self.text.rows[array.path, axis] = name

    def head(self) -> str:
        """Return the head of the loop over the columns that the team has at a time."""
        first = self.first
        return f"for (pos {first} = 0; {first} < {self.count}; {first} += {self.axis}.columns)"

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
        shared = {v for v in own if sum(v in block for block in found) > 1} | results
        return sorted(shared, key=lambda v: v.name)

    def array(self, v: ir.Var) -> None:
        name = self.text.var(v)
        self.writer.line(f"{ctype(v.type)} {name}[{self.dense.vector}];")
        self.text.names[v] = f"{name}[{self.c}]"
        self.writer.declared.add(v)

    @contextmanager
    def each_column(self, step: str = "") -> Iterator[None]:
        """Open an unrolled loop over a thread's columns. step: the columns that it takes at a time."""
        c = self.c
        self.writer.line("#pragma unroll")
        change = f"{c} += {step}" if step else f"++{c}"
        with self.writer.compound(f"for (int {c} = 0; {c} < {self.dense.vector}; {change})"):
            yield

    def has(self, column: str) -> str:
        """Return the condition under which a thread has a column: the team's columns may reach beyond the axis."""
        return f"{self.axis}.has(width, {self.first}, {self.count}, {column})"

    # ---- parts -------------------------------------------------------------------------------------
    def plain(self, block: ir.Block) -> None:
        """Write code that every thread runs for each of its columns."""
        if block:
            with self.each_column(), self.writer.compound(f"if ({self.has(self.c)})"):
                self.writer.block(block)

    def leave(self, block: ir.Block) -> None:
        """Write the code after the last pass, which the first of the threads that share a column runs."""
        if not block:
            return
        writer, text = self.writer, self.text
        read = walk.arrays_read(block)
        words = {
            id(s): text.unique("stored")
            for s in block
            if isinstance(s, ir.Store) and self.is_word(s) and s.array not in read
        }
        stored = {s: f"{name}[{self.c}]" for s, name in words.items()}
        has = self.has(self.c)
        with writer.compound(f"if ({self.axis}.leads())" if self.dense.folds else ""):
            for s in block:
                if isinstance(s, ir.Store) and id(s) in words:
                    kind = ctype(s.array.dtype)
                    writer.line(f"{kind} {words[id(s)]}[{self.dense.vector}];")
            with self.each_column(), writer.compound(f"if ({has})"):
                writer.spreads, writer.stored = True, stored
                writer.block(block)
                writer.spreads, writer.stored = False, {}
            for s in block:
                if isinstance(s, ir.Store) and id(s) in words:
                    with self.each_column("width.value"):
                        to = f"{text.array(s.array)}.data + {text.index(s)}"
                        word = f"{words[id(s)]} + {self.c}"
                        writer.line(f"if ({has}) ev::store_word(width, {to}, {word});")

    # ---- passes ------------------------------------------------------------------------------------
    def walk(self, s: ir.Pass) -> None:
        writer = self.writer
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
        half = (
            self.width() > 1 and writer.items > 1
        )  # singles take more loads, and registers for their places
        items = (
            f"width.value == 1 ? {writer.items // 2} : {writer.items}"
            if half
            else f"{writer.items}"
        )
        over = f"{self.batch.first}, {self.batch.end}, {self.axis}.ranks"
        writer.line(f"ev::in_batches<{items}>({over}, {self.batch.run});")

    def bound(self, s: ir.Pass) -> None:
        """Bound the registers of a thread, if it needs few: so many that what a batch loads has a place."""
        vector, items = self.dense.vector, self.writer.items
        loaded = [e for stage in self.loads(s) for e in stage]
        # A word has one place, a single number one of its own.
        place = 2 if self.width() == 1 else 1
        each = sum(self.words(e.type) * (place * vector if self.varies(e) else 1) for e in loaded)
        results = sum(self.words(v.type) for v in fields_of(s.accumulators)) * vector
        for most, threads in FITS[self.dense.folds :]:
            if items * each + results <= most and self.dense.owned:
                self.writer.resident = min(self.writer.resident or threads, threads)
                return
        self.writer.heavy = True

    def words(self, t: Scalar) -> int:
        """Return the registers of a number."""
        return 1 + self.text.wide if t is POS else -(-t.dtype.itemsize // 4)

    def atoms_at_once(self, s: ir.Pass) -> None:
        """Write the loads for a batch of atoms, and then the code of each."""
        writer, text, item = self.writer, self.text, self.batch.item

        @contextmanager
        def each() -> Iterator[None]:
            writer.line("#pragma unroll")
            with writer.compound(f"for (int {item} = 0; {item} < items.value; ++{item})"):
                own = f"{self.batch.first} + {item} * {self.axis}.ranks"
                writer.line(f"const pos {text.var(s.atom)} = {own};")
                yield

        for stage in self.loads(s):
            held = {e: text.unique(f"own_{text.array(e.array)}") for e in stage}
            columns = {e: f"[{self.c}]" if self.varies(e) else "" for e in stage}
            for e, name in held.items():
                each_column = f"[{self.dense.vector}]" if columns[e] else ""
                writer.line(f"{text.machine(e.type)} {name}[items.value]{each_column};")
            with each():
                for e, name in held.items():
                    self.load(e, f"{name}[{item}]")
            text.loaded = text.loaded | {e: f"{held[e]}[{item}]{columns[e]}" for e in stage}
        with each(), self.each_column():
            writer.block(s.body)
        text.loaded = {}

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

    def load_word(self, e: ir.Element, to: str) -> None:
        place = f"{self.text.array(e.array)}.data + {self.text.index(e)}"
        self.writer.line(f"ev::load_word(width, {place}, {to} + {self.c});")

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
        with self.each_column():
            values = ", ".join(text.var(v) for v in named)
            writer.line(f"const {struct} {whole} = {self.axis}.{method}({struct}{{{values}}});")
            for v, m in named.items():
                writer.line(f"{text.var(v)} = {whole}.{m};")

    # ---- words -------------------------------------------------------------------------------------
    def varies(self, e: ir.Element) -> bool:
        return self.loop.var in walk.variables((e,))

    def is_word(self, e: ir.Element | ir.Store) -> bool:
        return side_by_side(e, self.loop.var)

    def words_in(self) -> list[ir.Array]:
        """Return the arrays whose columns lie side by side."""
        found = [
            e
            for s in self.passes
            for stage in self.loads(s)
            for e in stage
            if self.varies(e) and self.is_word(e)
        ]
        stores = [s for s in self.parts[-1] if isinstance(s, ir.Store) and self.is_word(s)]
        return list(dict.fromkeys([*(e.array for e in found), *(s.array for s in stores)]))

    def width(self) -> int:
        """Return how many columns may be one word: a power of two that divides `vector`."""
        widest = max((a.dtype.dtype.itemsize for a in self.words_in()), default=WORD)
        vector = self.dense.vector
        return min(vector & -vector, max(WORD // widest, 1))

    def whole(self, array: ir.Array, width: int) -> str:
        row = self.text.extent(array, array.ndim - 1)
        return f"ev::whole_words<{width}>({self.text.array(array)}.data, {row})"


def _reads(e: ir.Element) -> list[ir.Element]:
    """Return the elements in the indices of one."""
    return [x for i in e.indices for x in walk.subexpressions(i) if isinstance(x, ir.Element)]
