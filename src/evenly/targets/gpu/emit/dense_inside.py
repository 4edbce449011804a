"""Loops over lanes inside passes, along which the threads of a team lie (device/dense.cuh).

So an atom has several threads. They reduce what the loop accumulates, so that each of them has the result, and compute
the same from there on. The first of them has the effects of their atom.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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

HELD = 32  # registers for the words of a batch of atoms
PLACE = 6  # times as many, if columns are loaded one by one: each has an address


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


class Inside:
    """Writes the walk over the atoms of such a pass."""

    def __init__(self, writer: Owner, s: ir.Pass) -> None:
        self.writer, self.pass_ = writer, s
        self.axis = writer.text.unique("axis")
        self.along = {
            id(x): Along(writer, x, self)
            for x in s.body
            if isinstance(x, ir.For) and x.kind == "lanes"
        }

    def begin(self) -> None:
        assert self.writer.dense is not None
        self.writer.line(f"const auto {self.axis} = {self.writer.dense.along};")

    def write(self) -> None:
        writer, text = self.writer, self.writer.text
        loops, run = list(self.along.values()), text.unique("spread")
        width = min(x.width() for x in loops)
        arrays = dict.fromkeys(a for x in loops for a in x.words_in())
        with writer.compound(f"const auto {run} = [&](auto width)"):
            loops[0].rows(arrays)
            self.atoms()
            text.rows.clear()
        writer.lines[-1] += ";"
        loops[0].choose(run, width, arrays)

    def atoms(self) -> None:
        """Write the walk over the atoms, in batches: the loads of a batch do not wait for each other."""
        writer, text, s = self.writer, self.writer.text, self.pass_
        assert writer.tile is not None and writer.dense is not None
        code = whole_tile(writer.dense.layout, STEP)
        body, (begin, end, _) = walk.substitute(code, (writer.tile,))
        writer.block(body)
        text.names.pop(s.atom, None)
        writer.declared.add(s.atom)
        k = text.var(s.atom)
        last, run = text.unique(f"{k}_end"), text.unique(f"{k}_batch")
        self.first, self.item = text.unique(f"{k}_first"), text.unique("item")
        writer.line(f"const pos {last} = {text.expr(end)};")
        writer.line(f"pos {self.first} = {text.operand(begin, 70)} + {self.axis}.rank();")
        writer.in_pass, writer.inside = True, self
        with writer.compound(f"const auto {run} = [&](auto items)"):
            self.batch()
        writer.lines[-1] += ";"
        writer.in_pass, writer.inside = False, None
        over = f"{self.first}, {last}, {self.axis}.ranks"
        words, singles = self.items(1), self.items(PLACE)
        writer.line(f"ev::in_batches<width.value == 1 ? {singles} : {words}>({over}, {run});")

    def items(self, place: int) -> int:
        """Return how many atoms are a batch: the schedule's items, or as many as have room for what they load.

        place: the registers of a number with where it lies, for each of its own.
        """
        assert self.writer.dense is not None
        loads = [e for x in self.along.values() for e in x.elements() if x.differs(e)]
        each = sum(-(-e.type.dtype.itemsize // 4) for e in loads) * self.writer.dense.vector
        return max(1, min(self.writer.items, HELD // max(place * each, 1)))

    def batch(self) -> None:
        """Write the code of a batch, statement by statement. Variables have an element for each atom."""
        writer, text = self.writer, self.writer.text
        names = {v: text.var(v) for v in self.held()}
        for v, own in names.items():
            name = text.unique(own)
            writer.line(f"{ctype(v.type)} {name}[items.value];")
            text.names[v] = f"{name}[{self.item}]"
            writer.declared.add(v)
        for x in self.pass_.body:
            if id(x) in self.along:
                self.along[id(x)].write()
            else:
                with self.each_atom():
                    writer.block((x,))
        text.names.update(names)

    def held(self) -> list[ir.Var]:
        """Return the variables of an atom that pass from one statement to another."""
        s = self.pass_
        found = [walk.variables_set((x,)) | walk.variables_read((x,)) for x in s.body]
        own = walk.variables_set(s.body) - set(fields_of(s.accumulators)) - {s.atom}
        return sorted((v for v in own if sum(v in f for f in found) > 1), key=lambda v: v.name)

    @contextmanager
    def each_atom(self) -> Iterator[None]:
        """Open an unrolled loop over the atoms of a batch."""
        writer = self.writer
        writer.line("#pragma unroll")
        with writer.compound(
            f"for (int {self.item} = 0; {self.item} < items.value; ++{self.item})"
        ):
            own = f"{self.first} + {self.item} * {self.axis}.ranks"
            writer.line(f"const pos {writer.text.var(self.pass_.atom)} = {own};")
            yield

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
    """Writes one loop over lanes inside a pass, for the atoms of a batch."""

    def __init__(self, writer: Owner, loop: ir.For, atoms: Inside) -> None:
        super().__init__(writer, loop, atoms.axis)
        self.atoms = atoms

    def differs(self, e: ir.Element) -> bool:
        """Whether an element differs from atom to atom."""
        s = self.atoms.pass_
        own = (walk.variables_set(s.body) | {s.atom}) - {self.loop.var}
        return not own.isdisjoint(walk.variables((e,)))

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
        writer, text, loop = self.writer, self.text, self.loop
        outer, writer.inside = writer.inside, None
        with writer.compound(""):
            writer.line(f"const pos {self.count} = {self.stop()};")
            known = self.load_places()
            writer.line("#pragma unroll 1")  # the words of a batch are enough loads in flight
            with writer.compound(self.head()):
                text.on_lane(loop.var, f"{self.axis}.at(width, {self.first}, {self.c})")
                writer.declared.add(loop.var)
                words = self.load_words()
                text.loaded = {**known, **words}
                has = f"if ({self.has(self.c)})"
                with self.atoms.each_atom(), self.each_column(), writer.compound(has):
                    writer.block(loop.body)
                text.loaded = {}
        writer.inside = outer
        accumulators = reduced(loop)
        if accumulators and self.dense.lanes > 1:
            with self.atoms.each_atom():
                self.fold(accumulators)

    def load_places(self) -> dict[ir.Element, str]:
        """Write the loads of what is read for the indices of words, once for each atom. Returns their names."""
        text, writer = self.text, self.writer
        read = [x for e in self.elements() for i in e.indices for x in walk.subexpressions(i)]
        places = dict.fromkeys(
            x for x in read if isinstance(x, ir.Element) and self.may_come_first(x)
        )
        held = {e: text.unique(f"own_{text.array(e.array)}") for e in places}
        for e, name in held.items():
            writer.line(f"{text.machine(e.type)} {name}[items.value];")
        if held:
            with self.atoms.each_atom():
                for e, name in held.items():
                    writer.line(f"{name}[{self.atoms.item}] = {text.expr(e)};")
        names = {e: f"{name}[{self.atoms.item}]" for e, name in held.items()}
        text.loaded = {**names}
        return names

    def may_come_first(self, e: ir.Element) -> bool:
        """Whether an element depends on no lane, and on nothing that may change."""
        return (
            e.array.path not in self.text.written
            and not any(
                isinstance(x, ir.Element) for i in e.indices for x in walk.subexpressions(i)
            )
            and walk.variables((e,)).isdisjoint(self.varying)
        )

    def load_words(self) -> dict[ir.Element, str]:
        """Write the loads of words: those that all atoms share once, the others for each. Returns their names."""
        writer, text, item, vector = self.writer, self.text, self.atoms.item, self.dense.vector
        names = {e: text.unique(f"own_{text.array(e.array)}") for e in self.elements()}
        each = [e for e in names if self.differs(e)]
        for e, name in names.items():
            atoms = "[items.value]" if e in each else ""
            writer.line(f"{ctype(e.type)} {name}{atoms}[{vector}];")
        with self.each_column("width.value"), writer.compound(f"if ({self.has(self.c)})"):
            for e, name in names.items():
                if e not in each:
                    self.load_word(e, name)
            if each:
                with self.atoms.each_atom():
                    for e in each:
                        self.load_word(e, f"{names[e]}[{item}]")
        of_atoms = {e: f"[{item}]" if e in each else "" for e in names}
        return {e: f"{name}{of_atoms[e]}[{self.c}]" for e, name in names.items()}

    def fold(self, accumulators: tuple[ir.Accumulator, ...]) -> None:
        """Write the reduction over the lanes of an atom."""
        writer, text, loop = self.writer, self.text, self.loop
        whole = ir.Pass(loop.var, accumulators, loop.body)
        writer.held_blocks.append((whole,))
        named, struct = members(fields_of(accumulators)), writer.struct_of(whole)
        values = ", ".join(text.var(v) for v in named)
        result = text.unique("whole")
        call = f"{self.axis}.fold_lanes({struct}{{{values}}})"
        writer.line(f"const {struct} {result} = {call};")
        for v, m in named.items():
            writer.line(f"{text.var(v)} = {result}.{m};")
