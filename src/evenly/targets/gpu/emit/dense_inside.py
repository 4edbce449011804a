"""Loops over lanes inside passes, along which the threads of a team lie (device/dense.cuh).

So an atom has several threads. They reduce what the loop accumulates, so that each of them has the result, and compute
the same from there on. The first of them has the effects of their atom.
"""

from __future__ import annotations

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


class Inside:
    """Writes the walk over the atoms of such a pass."""

    def __init__(self, writer: Owner, s: ir.Pass) -> None:
        self.writer, self.pass_ = writer, s
        self.axis = writer.text.unique("axis")
        self.along = {
            id(x): Along(writer, x, self.axis)
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
        writer, text, s = self.writer, self.writer.text, self.pass_
        assert writer.tile is not None and writer.dense is not None
        code = whole_tile(writer.dense.layout, STEP)
        body, (begin, end, _) = walk.substitute(code, (writer.tile,))
        writer.block(body)
        text.names.pop(s.atom, None)
        writer.declared.add(s.atom)
        k = text.var(s.atom)
        last = text.unique(f"{k}_end")
        writer.line(f"const pos {last} = {text.expr(end)};")
        start = f"{text.operand(begin, 70)} + {self.axis}.rank()"
        head = f"for (pos {k} = {start}; {k} < {last}; {k} += {self.axis}.ranks)"
        writer.in_pass, writer.inside = True, self
        with writer.compound(head):
            writer.block(s.body)
        writer.in_pass, writer.inside = False, None

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
            with writer.compound(self.head()):
                text.on_lane(loop.var, f"{self.axis}.at(width, {self.first}, {self.c})")
                writer.declared.add(loop.var)
                held = {e: text.unique(f"own_{text.array(e.array)}") for e in self.elements()}
                for e, name in held.items():
                    writer.line(f"{ctype(e.type)} {name}[{self.dense.vector}];")
                with self.each_column("width.value"), writer.compound(f"if ({self.has(self.c)})"):
                    for e, name in held.items():
                        self.load_word(e, name)
                text.loaded = {e: f"{name}[{self.c}]" for e, name in held.items()}
                with self.each_column(), writer.compound(f"if ({self.has(self.c)})"):
                    writer.block(loop.body)
                text.loaded = {}
        writer.inside = outer
        accumulators = reduced(loop)
        if accumulators and self.dense.lanes > 1:
            whole = ir.Pass(loop.var, accumulators, loop.body)
            writer.held_blocks.append((whole,))
            named, struct = members(fields_of(accumulators)), writer.struct_of(whole)
            values = ", ".join(text.var(v) for v in named)
            result = text.unique("whole")
            call = f"{self.axis}.fold_lanes({struct}{{{values}}})"
            writer.line(f"const {struct} {result} = {call};")
            for v, m in named.items():
                writer.line(f"{text.var(v)} = {result}.{m};")
