"""Loops over lanes inside passes, along which the threads of a team lie (device/dense.cuh).

So an atom has several threads. They reduce what the loop accumulates, so that each of them has the result, and compute
the same from there on. The first of them has the effects of their atom.

They take several atoms at once, statement by statement, so that loads for one do not wait for what is done with
another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.accesses import always
from evenly.language.dense import inside_passes
from evenly.language.schedule_code import whole_tile

from .columns import Columns
from .expressions import ctype
from .shared_lanes import reduced, stores_apart
from .spread import STEP
from .statements import fields_of, members

if TYPE_CHECKING:
    from .owner import Owner


def may_lie_inside(writer: Owner, s: ir.Pass) -> bool:
    """Whether the threads of a team may lie along the loops over lanes of a pass."""
    loops = list(inside_passes((s,)))
    fields = set(fields_of(s.accumulators))
    touched = walk.arrays_touched(s.body)
    return (
        writer.dense is not None
        and bool(loops)
        and all(stores_apart(x) for x in loops)
        and not any(v in fields for x in loops for a in reduced(x) for v in a.fields)
        and not any(a.own or a.staged or a.path in writer.text.contended for a in touched)
        and walk.arrays_written(s.body).isdisjoint(walk.arrays_read(s.body))
    )


MOST_AT_ONCE = 32  # columns of a thread, of all its atoms
# The threads that a multiprocessor should hold, if what each has loaded takes so many registers at most.
FITS, RESIDENT = 36, 1024


def at_once(writer: Owner, s: ir.Pass) -> int:
    """Return how many atoms the threads may take at once: 1 if the order of an atom's statements counts."""
    assert writer.dense is not None
    local = walk.variables_set(s.body) | {s.atom}
    loops = [x for x in s.body if isinstance(x, ir.For)]
    added = [
        a
        for x in s.body
        for a in {y.accumulator for y in walk.statements((x,)) if isinstance(y, ir.Accumulate)}
    ]
    alike = all(walk.variables((x.stop,)).isdisjoint(local) for x in loops)
    once = all(sum(a is b for b in added) == 1 for a in added)
    return min(writer.items, max(MOST_AT_ONCE // writer.dense.vector, 1)) if alike and once else 1


class Inside:
    """Writes the walk over the atoms of such a pass."""

    def __init__(self, writer: Owner, s: ir.Pass) -> None:
        self.writer, self.text, self.pass_ = writer, writer.text, s
        self.axis, self.item = self.text.unique("axis"), self.text.unique("item")
        self.first, self.at_once = self.text.unique("first"), at_once(writer, s)
        self.one_atom = False  # whether the code of one atom is being written
        self.along = {
            id(x): Along(self, x) for x in s.body if isinstance(x, ir.For) and x.kind == "lanes"
        }

    def begin(self) -> None:
        assert self.writer.dense is not None
        self.writer.line(f"const auto {self.axis} = {self.writer.dense.along};")

    def write(self) -> None:
        writer, text = self.writer, self.text
        assert writer.dense is not None
        loops, run = list(self.along.values()), text.unique("spread")
        width = min(x.width() for x in loops)
        arrays = dict.fromkeys(a for x in loops for a in x.words_in())
        with writer.compound(f"const auto {run} = [&](auto width)"):
            loops[0].rows(arrays)
            self.atoms()
            text.rows.clear()
        writer.lines[-1] += ";"
        loops[0].choose(run, width, arrays)
        held = max(x.held(self.at_once) for x in loops)
        if writer.dense.owned and held <= FITS:
            writer.resident = min(writer.resident or RESIDENT, RESIDENT)

    def atoms(self) -> None:
        writer, text, s = self.writer, self.text, self.pass_
        assert writer.tile is not None and writer.dense is not None
        code = whole_tile(writer.dense.layout, STEP)
        body, (begin, end, _) = walk.substitute(code, (writer.tile,))
        writer.block(body)
        text.names.pop(s.atom, None)
        writer.declared.add(s.atom)
        last, batch = text.unique(f"{text.var(s.atom)}_end"), text.unique("batch")
        writer.line(f"const pos {last} = {text.expr(end)};")
        writer.line(f"pos {self.first} = {text.operand(begin, 70)} + {self.axis}.rank();")
        writer.in_pass, writer.inside = True, self
        alone = self.at_once == 1
        with (
            writer.compound(f"const auto {batch} = [&](auto items)"),
            self.each_atom() if alone else nullcontext(),
        ):
            self.batch()
        writer.lines[-1] += ";"
        writer.in_pass, writer.inside = False, None
        over = f"{self.first}, {last}, {self.axis}.ranks, {batch}"
        writer.line(f"ev::in_batches<{self.at_once}>({over});")

    def batch(self) -> None:
        """Write the code of some atoms, each of its statements for all of them."""
        writer, text, s = self.writer, self.text, self.pass_
        own = walk.variables_set(s.body) - set(fields_of(s.accumulators)) - self.of_loops()
        for v in sorted(own & self.between(), key=lambda v: v.name):
            name = text.unique(text.var(v))
            writer.line(f"{ctype(v.type)} {name}[items.value];")
            text.names[v] = f"{name}[{self.item}]"
            writer.declared.add(v)
        plain = [o for x in s.body if id(x) not in self.along for o in walk.operands(x)]
        text.loaded = self.loads(plain)
        for x in s.body:
            if id(x) in self.along:
                self.along[id(x)].write()
            else:
                with self.each_atom():
                    writer.block((x,))
        text.loaded = {}

    def of_loops(self) -> set[ir.Var]:
        """Return the variables that only the code of single lanes has."""
        found = {v for x in self.along.values() for v in walk.variables_set(x.loop.body)}
        return found - {v for x in self.along.values() for a in reduced(x.loop) for v in a.fields}

    def between(self) -> set[ir.Var]:
        """Return the variables that two statements of an atom have in common."""
        seen = [walk.variables_set((x,)) | walk.variables_read((x,)) for x in self.pass_.body]
        return {v for vs in seen for v in vs if sum(v in others for others in seen) > 1}

    def loads(self, operands: Iterable[ir.Expr]) -> dict[ir.Element, str]:
        """Write loads of what these expressions always read at an atom's own place. Returns what holds them."""
        writer, text, s = self.writer, self.text, self.pass_
        read = (e for o in operands for e in always(o))
        found = {
            e: text.unique(f"own_{text.array(e.array)}")
            for e in dict.fromkeys(read)
            if isinstance(e, ir.Element)
            and e.indices == (s.atom,)
            and e not in text.loaded
            and e.array.path not in text.written
            and e.array.path not in text.contended
        }
        for e, name in found.items():
            writer.line(f"{text.machine(e.type)} {name}[items.value];")
        if found:
            with self.each_atom():
                for e, name in found.items():
                    writer.line(f"{name}[{self.item}] = {text.expr(e)};")
        return {e: f"{name}[{self.item}]" for e, name in found.items()}

    @contextmanager
    def each_atom(self) -> Iterator[None]:
        """Open an unrolled loop over the atoms of a batch, outside of such a loop."""
        if self.one_atom:
            yield
            return
        line, k = self.writer.line, self.text.var(self.pass_.atom)
        line("#pragma unroll")
        with self.writer.compound(
            f"for (int {self.item} = 0; {self.item} < items.value; ++{self.item})"
        ):
            line(f"const pos {k} = {self.first} + {self.item} * {self.axis}.ranks;")
            self.one_atom = True
            yield
            self.one_atom = False

    def reduce(self, s: ir.Pass) -> None:
        """Write the reduction of the pass's accumulators, of which all threads of an atom have the same."""
        writer, text = self.writer, self.writer.text
        if not s.accumulators:
            return
        named, struct = members(fields_of(s.accumulators)), writer.struct_of(s)
        whole = text.unique("whole")
        values = ", ".join(text.var(v) for v in named)
        method = "fold" if writer.one_pass else "fold_for_all"
        writer.line(f"const {struct} {whole} = {self.axis}.{method}({struct}{{{values}}});")
        for v, m in named.items():
            writer.line(f"{text.var(v)} = {whole}.{m};")


class Along(Columns):
    """Writes one loop over lanes inside a pass."""

    def __init__(self, inside: Inside, loop: ir.For) -> None:
        super().__init__(inside.writer, loop, inside.axis)
        self.inside = inside

    def elements(self) -> list[ir.Element]:
        """Return the elements that are loaded as words, before the code of their columns."""
        inside = walk.variables_set(self.loop.body) - {self.loop.var}
        read = [e for x in self.loop.body for o in walk.operands(x) for e in always(o)]
        found = [
            e
            for e in read
            if isinstance(e, ir.Element)
            and e.array.path not in self.text.written
            and self.is_word(e)
            and walk.variables((e,)).isdisjoint(inside)
        ]
        return list(dict.fromkeys(found))

    def words_in(self) -> list[ir.Array]:
        return list(dict.fromkeys(e.array for e in self.elements()))

    def write(self) -> None:
        writer, loop = self.writer, self.loop
        outer, writer.inside = writer.inside, None
        with writer.compound(""):
            writer.line(f"const pos {self.count} = {self.stop()};")
            writer.line("#pragma unroll 1")  # most often there is one round
            with writer.compound(self.head()):
                self.columns()
        writer.inside = outer
        accumulators = reduced(loop)
        if accumulators and self.dense.lanes > 1:
            with self.inside.each_atom():
                self.fold(ir.Pass(loop.var, accumulators, loop.body))

    def columns(self) -> None:
        """Write the loads and then the code of a thread's columns, for all atoms of a batch."""
        writer, text, loop = self.writer, self.text, self.loop
        text.on_lane(loop.var, f"{self.axis}.at(width, {self.first}, {self.c})")
        writer.declared.add(loop.var)
        outer = text.loaded
        text.loaded = outer | self.inside.loads(o for x in loop.body for o in walk.operands(x))
        held = {e: text.unique(f"own_{text.array(e.array)}") for e in self.elements()}
        apart = {e: f"[{self.inside.item}]" if self.differs(e) else "" for e in held}
        for e, name in held.items():
            atoms = "[items.value]" if apart[e] else ""
            writer.line(f"{ctype(e.type)} {name}{atoms}[{self.dense.vector}];")
        self.load_words({e: n for e, n in held.items() if not apart[e]})
        with self.inside.each_atom():
            self.load_words({e: f"{n}{apart[e]}" for e, n in held.items() if apart[e]})
        text.loaded = text.loaded | {e: f"{n}{apart[e]}[{self.c}]" for e, n in held.items()}
        has = writer.compound(f"if ({self.has(self.c)})")
        with self.inside.each_atom(), self.each_column(), has:
            writer.block(loop.body)
        text.loaded = outer

    def held(self, atoms: int) -> int:
        """Return the registers of what is loaded for so many atoms."""
        each = ((e, atoms if self.differs(e) else 1) for e in self.elements())
        words = sum(-(-e.type.dtype.itemsize // 4) * n for e, n in each)
        return words * self.dense.vector + 2 * atoms

    def load_words(self, to: dict[ir.Element, str]) -> None:
        if to:
            with self.each_column("width.value"), self.writer.compound(f"if ({self.has(self.c)})"):
                for e, name in to.items():
                    self.load_word(e, name)

    def differs(self, e: ir.Element) -> bool:
        """Whether an element differs from atom to atom."""
        s = self.inside.pass_
        return not walk.variables((e,)).isdisjoint(
            walk.variables_set(s.body) - {self.loop.var} | {s.atom}
        )

    def passed_on(self) -> bool:
        """Whether threads beside the first of an atom use what the loop reduces: it alone has the atom's effects."""
        s = self.inside.pass_
        *_, last = (x for x in s.body if id(x) in self.inside.along)
        return bool(s.accumulators) or last is not self.loop

    def fold(self, whole: ir.Pass) -> None:
        """Write the reduction over the threads of an atom."""
        writer, text = self.writer, self.text
        writer.held_blocks.append((whole,))
        named, struct = members(fields_of(whole.accumulators)), writer.struct_of(whole)
        values = ", ".join(text.var(v) for v in named)
        result = text.unique("whole")
        method = "fold_lanes" if self.passed_on() else "template fold_lanes<false>"
        call = f"{self.axis}.{method}({struct}{{{values}}})"
        writer.line(f"const {struct} {result} = {call};")
        for v, m in named.items():
            writer.line(f"{text.var(v)} = {result}.{m};")
