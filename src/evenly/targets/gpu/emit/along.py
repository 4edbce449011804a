"""One loop over lanes inside a pass, along which the threads of an atom lie (dense_inside.py)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import nullcontext
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.accesses import guarded_reads

from .columns import Columns
from .expressions import ctype
from .shared_lanes import reduced
from .statements import fields_of, members

if TYPE_CHECKING:
    from .dense_inside import Inside


class Along(Columns):
    """Writes one loop over lanes inside a pass."""

    def __init__(self, inside: Inside, loop: ir.For) -> None:
        super().__init__(inside.writer, loop, inside.axis)
        self.inside = inside
        # What the thread has of an element for its columns around the pass, if the team takes the axis in one round.
        self.made: dict[ir.Element, str] = {}

    def elements(self) -> dict[ir.Element, ir.Expr | None]:
        """Return the elements that are loaded as words, before the code of their columns.

        Each comes with the condition under which it is read, which all lanes have in common; None: always.
        """
        body = self.loop.body
        own, loops = walk.variables_set(body), ir.For | ir.While
        nested = (b for s in walk.statements(body) if isinstance(s, loops) for b in walk.blocks(s))
        unlike = {e for b in nested for e in walk.expressions(b) if isinstance(e, ir.Element)}
        found: dict[ir.Element, ir.Expr | None] = {}
        for e, guard in guarded_reads(body):
            before = found.get(e, guard)
            if (
                e.array.path in self.text.written
                or not self.is_word(e)
                or not walk.variables((e,)).isdisjoint(own - {self.loop.var})
            ):
                continue
            if guard is None or before is None:
                found[e] = None
            elif self.alike(guard, own):
                found[e] = guard if before == guard else ir.Logic("or", before, guard)
            else:
                unlike.add(e)
        return {e: guard for e, guard in found.items() if guard is None or e not in unlike}

    def alike(self, guard: ir.Expr, own: Set[ir.Var]) -> bool:
        """Whether all lanes have a condition in common, and it can be tested before their code."""
        read = (e.array.path for e in walk.subexpressions(guard) if isinstance(e, ir.Element))
        varying = own | {self.loop.var}
        return walk.variables((guard,)).isdisjoint(varying) and self.text.written.isdisjoint(read)

    def stores_words(self) -> list[ir.Store]:
        """Return the stores of a thread's columns that are words."""
        return self.word_stores(self.loop.body) if self.known else []

    def words_in(self) -> list[ir.Array]:
        arrays = [*(e.array for e in self.elements()), *(s.array for s in self.stores_words())]
        return list(dict.fromkeys(arrays))

    @property
    def known(self) -> bool:
        """Whether the axis is as long for all atoms of the tile."""
        inside = walk.variables_set(self.inside.pass_.body) | {self.inside.pass_.atom}
        return walk.variables((self.loop.stop,)).isdisjoint(inside)

    def count_beforehand(self) -> None:
        if self.known:
            self.writer.line(f"const pos {self.count} = {self.stop()};")

    def load_beforehand(self) -> None:
        """Write loads of the words that all atoms of a tile have in common, if the team takes the axis in one round."""
        writer, text, loop = self.writer, self.text, self.loop
        self.common = {}
        guards = self.elements()
        common = {e: g for e, g in guards.items() if not self.differs(e, g)} if self.known else {}
        if not common:
            return
        self.on_lane()
        for e in common:
            self.common[e] = text.unique(f"own_{text.array(e.array)}")
            writer.line(f"{ctype(e.type)} {self.common[e]}[{self.dense.vector}];")
        with writer.compound(f"if (rounds.value == 1 && {self.inside.first} < {self.inside.end})"):
            writer.line(f"const pos {self.first} = 0;")
            self.place()
            self.load_words(self.common, common)
        writer.declared.discard(loop.var)

    def on_lane(self) -> None:
        self.text.on_lane(self.loop.var, f"{self.column}[{self.c}]")
        self.writer.declared.add(self.loop.var)

    def place(self) -> None:
        """Write which columns a thread loads: beyond the end of the axis the last ones, if none has its own address.

        A condition would cost registers: what may have been loaded before keeps its own.
        """
        self.writer.line(f"pos {self.column}[{self.dense.vector}];")
        given = f"{self.first}, {self.count}, {self.column}"
        method = "place_inside" if self.known else "place_there"
        self.writer.line(f"{self.axis}.{method}(width, {given});")

    def has(self, column: str) -> str:
        method = "leaves" if self.known else "has_one"
        return f"{self.axis}.{method}(width, {self.first}, {self.count}, {column})"

    def leaves(self, column: str) -> str:
        return self.has(column)

    def write(self) -> None:
        writer = self.writer
        outer, writer.inside = writer.inside, None
        with self.inside.some(), writer.compound(""):
            if not self.known:
                writer.line(f"const pos {self.count} = {self.stop()};")
            writer.line("#pragma unroll 1")
            with writer.compound(self.head().replace("; ", "; rounds.value == 1 || ", 1)):
                self.columns()
                writer.line("if (rounds.value == 1) break;")
        writer.inside = outer
        if reduced(self.loop) and self.dense.lanes > 1 and not self.inside.deals(self):
            self.fold()

    def columns(self) -> None:
        """Write the loads and then the code of a thread's columns, for all atoms of a batch."""
        writer, text = self.writer, self.text
        self.on_lane()
        self.place()
        outer, guards = text.loaded, self.elements()
        elements = [e for e in guards if e not in self.common]
        held = {e: text.unique(f"own_{text.array(e.array)}") for e in elements}
        apart = {e: f"[{self.inside.item}]" if self.differs(e, guards[e]) else "" for e in held}
        for e, name in held.items():
            atoms = "[items.value]" if apart[e] else ""
            writer.line(f"{ctype(e.type)} {name}{atoms}[{self.dense.vector}];")
        if self.common:
            with writer.compound("if (rounds.value > 1)"):
                self.load_words(self.common, guards)
        self.load_words({e: n for e, n in held.items() if not apart[e]}, guards)
        each = {e: f"{n}{apart[e]}" for e, n in held.items() if apart[e]}
        if each:
            with self.inside.each_atom():
                self.load_words({e: n for e, n in each.items() if e not in self.made}, guards)
                self.take_words({e: n for e, n in each.items() if e in self.made}, guards)
        text.loaded = text.loaded | {e: f"{n}{apart[e]}[{self.c}]" for e, n in held.items()}
        text.loaded |= {e: f"{n}[{self.c}]" for e, n in self.common.items()}
        with self.inside.each_atom():
            self.each()
        text.loaded = outer

    def each(self) -> None:
        """Write the code of a thread's columns for one atom."""
        writer, body = self.writer, self.loop.body
        if self.stores_words():
            with writer.compound(f"if ({self.inside.is_in()})"), self.each_word() as word:
                self.store_words(body, word)
            return
        stores = any(isinstance(x, ir.Store) for x in walk.statements(body))
        has = f"{self.has(self.c)} && {self.inside.is_in()}" if stores else self.has(self.c)
        with self.each_column(), writer.compound(f"if ({has})"):
            writer.block(body)

    def held(self, atoms: int) -> int:
        """Return the registers of what is loaded for so many atoms."""
        each = ((e, atoms if self.differs(e, g) else 1) for e, g in self.elements().items())
        words = sum(-(-e.type.dtype.itemsize // 4) * n for e, n in each)
        return words * self.dense.vector + 2 * atoms

    def load_words(
        self, to: dict[ir.Element, str], guards: Mapping[ir.Element, ir.Expr | None]
    ) -> None:
        """Write loads of words. guards: the conditions under which some of them are read.

        ptxas takes a load under a condition for a change of what its registers had before, which would then be held all
        through the loop around it. So they get zeros first, but in shares of tiles, whose few atoms have room.
        """
        writer = self.writer
        if to:
            test = self.has(self.c)
            # Rows that are moved may be shorter than what a thread takes at a time: what it does not store, it leaves.
            test = f"!width.apart || {test}" if self.known and reduced(self.loop) else test
            with self.each_column("width.value"), writer.compound(f"if ({test})"):
                for e, name in to.items():
                    guard = guards[e]
                    if guard and not writer.clips:
                        writer.line(f"ev::no_word(width, {name} + {self.c});")
                    with (
                        writer.compound(f"if ({self.text.expr(guard)})") if guard else nullcontext()
                    ):
                        self.load_word(e, name)

    def take_words(
        self, to: dict[ir.Element, str], guards: Mapping[ir.Element, ir.Expr | None]
    ) -> None:
        """Write copies of what the thread has anyway, in registers; loads where it has other columns."""
        if not to:
            return
        with self.writer.compound("if (rounds.value == 1)"), self.each_column():
            for e, name in to.items():
                self.writer.line(f"{name}[{self.c}] = {self.made[e]}[{self.c}];")
        with self.writer.compound("else"):
            self.load_words(to, guards)

    def differs(self, e: ir.Element, guard: ir.Expr | None) -> bool:
        """Whether an element, or whether it is read, differs from atom to atom."""
        s, read = self.inside.pass_, (e, guard) if guard else (e,)
        return not walk.variables(read).isdisjoint(
            walk.variables_set(s.body) - {self.loop.var} | {s.atom}
        )

    def values(self) -> tuple[str, dict[ir.Var, str]]:
        """Write what lanes reduce, a value for each atom of a batch. Return its name, and those of its parts."""
        writer, text = self.writer, self.text
        walked = ir.Pass(self.loop.var, reduced(self.loop), self.loop.body)
        writer.held_blocks.append((walked,))
        named, struct = members(fields_of(walked.accumulators)), writer.struct_of(walked)
        name, item = text.unique("whole"), self.inside.item
        writer.line(f"{struct} {name}[items.value];")
        writer.line("#pragma unroll")
        values = ", ".join(text.var(v) for v in named)
        with writer.compound(f"for (int {item} = 0; {item} < items.value; ++{item})"):
            writer.line(f"{name}[{item}] = {struct}{{{values}}};")
        return name, {v: f"{name}[{item}].{m}" for v, m in named.items()}

    def fold(self) -> None:
        """Write the reduction over the threads of an atom, all of which have the result."""
        writer, text = self.writer, self.text
        whole, named = self.values()
        writer.line(f"{self.axis}.deal_to_all({whole});")
        with self.inside.each_atom():
            for v, part in named.items():
                writer.line(f"{text.var(v)} = {part};")
