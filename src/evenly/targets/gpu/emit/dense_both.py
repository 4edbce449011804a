"""Passes that have loops over lanes inside, and lanes around them, along all of which the threads of a team lie.

As in a sparse attention: a score of each atom, over the columns of Q and K, weighs its row of V, column by column. What
is the same for all columns around the pass is computed once for an atom, by all of its threads (dense_inside.py). Then
each thread goes on with its own columns (spread.py).

What follows from the last product, but for the columns, each lane computes for atoms of its own. So a reduction by a
key (dense_keyed.py) takes a batch of atoms at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.accesses import always, read_at_atom
from evenly.language.dense import lane_parts

from .along import Along
from .dense_inside import Inside
from .dense_keyed import ByKey, by_key
from .expressions import ctype
from .shared_lanes import reduced
from .statements import fields_of

if TYPE_CHECKING:
    from .spread import Spread

MOST_HELD = 52  # registers of what is loaded at a time
MOST_DEALT = 58  # the same where words of columns are loaded later, and of results
ROWS = 8  # for the places of two further rows
# The threads that a multiprocessor should hold, if these are so many at most; in any case.
FITS = ((40, 1024), (56, 768))
FITS_DEALT = ((40, 1024), (MOST_DEALT, 768))
FEWEST = 512


class Both(Inside):
    """Writes the walk over the atoms of such a pass. outer: the writer of the loop around it."""

    def __init__(self, outer: Spread, s: ir.Pass) -> None:
        super().__init__(outer.writer, s)
        self.outer, self.axis = outer, outer.axis
        for x in self.along.values():
            x.axis = outer.axis
        found = lane_parts(s, outer.loop.var)
        assert found is not None
        self.parted = found
        # What lanes do for atoms of their own; the reduction by a key that follows.
        self.own_code: ir.Block = ()
        self.by_key: ByKey | None = None
        self.part()
        most = MOST_DEALT if self.dealt else MOST_HELD
        while self.at_once > 1 and self.held() > most:
            self.at_once = (self.at_once + 1) // 2

    def is_dealt(self) -> bool:
        return False  # `part` finds out, later

    def part(self) -> None:
        """Find out what lanes do for atoms of their own: what follows from the last product, if no column needs it."""
        loop, after = self.last()
        made = {v for a in reduced(loop.loop) for v in a.fields}
        own: list[ir.Stmt] = []
        for x in after:
            if isinstance(x, ir.Assign | ir.Store) and not made.isdisjoint(
                walk.variables_read((x,))
            ):
                own.append(x)
                made |= walk.variables_set((x,))
        found = by_key(self)
        rest = [x for x in after if not any(x is y for y in own)]
        read = walk.variables_read(tuple(rest if found is None else rest[:-1]))
        read |= walk.variables(found.values.values()) if found else set()
        if (own or found is not None) and made and made.isdisjoint(read):
            self.dealt, self.own_code, self.by_key = True, tuple(own), found

    @property
    def singles(self) -> int:
        return max(self.at_once // 4, 1) if self.dealt else self.at_once // 2

    @property
    def batches(self) -> str:
        return f"{self.most}, true" if self.dealt else self.most

    def counts(self) -> list[str]:
        """Write the lengths of the axes inside, and return their names."""
        for x in self.along.values():
            x.count_beforehand()
        return [x.count for x in self.along.values()]

    def lengths(self) -> tuple[ir.Expr, ...]:
        return tuple(x.loop.stop for x in self.along.values())

    def words_in(self) -> list[ir.Array]:
        inside = (a for x in self.along.values() for a in x.words_in())
        return list(dict.fromkeys((*inside, *(e.array for e in self.column_words()))))

    def column_words(self) -> list[ir.Element]:
        """Return the elements of a thread's columns that are loaded as words before the code of their atoms."""
        body = (*self.parted.alike, *self.parted.before, *self.parted.each)
        own = walk.variables_set(body)
        read = [e for x in self.parted.each for o in walk.operands(x) for e in always(o)]
        found = (
            e
            for e in read
            if isinstance(e, ir.Element)
            and self.outer.is_word(e)
            and e.array.path not in self.text.written
            and walk.variables((e,)).isdisjoint(own)
        )
        return list(dict.fromkeys(found))

    def write(self) -> None:
        writer, text = self.writer, self.text
        self.identities()
        run = text.unique("rounds_of")
        with writer.compound(f"if ({writer.walks})" if writer.walks else ""):
            with writer.compound(f"const auto {run} = [&](auto width, auto rounds)"):
                self.atoms()
            writer.lines[-1] += ";"
            one = " && ".join(f"{self.axis}.in_one_round({x.count})" for x in self.along.values())
            width = self.outer.width()
            if width > 1:
                one = self.asked_for_one_round(one, width, self.outer.words_in())
            writer.line(f"if (!width.apart && ({one})) {run}(width, ev::constant<1>());")
            writer.line(f"else {run}(width, ev::constant<2>());")
        self.bound()

    def identities(self) -> None:
        """Write what the accumulators hold at first."""
        for acc in self.pass_.accumulators:
            for v, e in zip(acc.fields, acc.identity, strict=True):
                if v in self.parted.uniform:
                    self.writer.assign(v, self.text.expr(e))
                else:
                    with self.outer.each_column():
                        self.writer.assign(v, self.text.expr(e))

    def held(self) -> int:
        """Return the registers of what a thread loads for a batch, and of its results."""
        vector, words = self.outer.dense.vector, self.outer.words
        columns = sum(words(e.type) for e in self.column_words()) * vector * self.at_once
        results = sum(
            words(v.type) * (1 if self.dealt and v in self.parted.uniform else vector)
            for v in fields_of(self.pass_.accumulators)
        )
        inside = [x.held(self.at_once) for x in self.along.values()]
        # Then columns are loaded when products are made, to the registers of these, or are the same.
        if self.dealt:
            return max(*inside, columns) + results
        return sum(x + ROWS for x in inside) - ROWS + columns + results

    def bound(self) -> None:
        """Bound the registers of a thread, so that a multiprocessor holds enough of them."""
        # An engine that hands out tiles has registers of its own for each axis; `hold` adds those for one.
        held, fits = self.held() + self.outer.dense.beside, FITS_DEALT if self.dealt else FITS
        self.hold(held, fits, FEWEST)

    def batch(self) -> None:
        """Write the code of some atoms: first what all columns have in common, each statement for all atoms."""
        writer, text, parts = self.writer, self.text, self.parted
        later = walk.variables_read((*parts.before, *parts.each))
        own = walk.variables_set(parts.alike) - self.of_loops() - walk.variables_set(self.own_code)
        for v in sorted(own & (self.between() | later), key=lambda v: v.name):
            name = text.unique(text.var(v))
            writer.line(f"{ctype(v.type)} {name}[items.value] = {{}};")
            text.names[v] = f"{name}[{self.item}]"
            writer.declared.add(v)
        text.loaded = self.ahead.loads()
        own_loads = self.own_loads(self.own_code) if self.dealt else {}
        late = self.dealt and not self.twins()
        words = {} if late else self.load_columns()
        for loop in self.along.values():
            loop.made = {e: words[other] for e, other in self.twins_of(loop).items()}
        for x in parts.alike:
            if id(x) in self.along:
                self.along[id(x)].write()
            elif not any(x is y for y in self.own_code):
                self.plain(x)
        if late:  # what products were made of is no longer held
            words = self.load_columns()
        text.loaded |= self.told(own_loads) if self.dealt else {}
        if self.by_key is not None:
            self.by_key.write(own_loads, self.of_columns(words))
        else:
            if self.dealt:
                with self.dealt_out(self.own_code, own_loads), self.each_own():
                    writer.block(self.own_code)
            text.loaded |= self.of_columns(words)
            with self.some(), self.each_atom(), writer.compound(f"if ({self.is_in()})"):
                self.add()
        text.loaded = {}

    def twins_of(self, loop: Along) -> dict[ir.Element, ir.Element]:
        """Return the elements of a loop inside that a thread has for its columns anyway, if there is one round."""
        lane, around = loop.loop.var, self.outer.loop
        if loop.loop.stop != around.stop:
            return {}
        there = set(self.column_words())
        found = {
            e: walk.map_expr(e, lambda x: around.var if x is lane else None)
            for e in loop.elements()
        }
        return {e: x for e, x in found.items() if isinstance(x, ir.Element) and x in there}

    def twins(self) -> bool:
        return any(self.twins_of(x) for x in self.along.values())

    def own_loads(self, after: ir.Block) -> dict[ir.Element, str]:
        """Write loads for atoms of a lane's own: of what their code reads at their places, and of what is told."""
        found = super().own_loads(
            (*after, *(ir.Assign(ir.Var("", e.type), e) for e in self.of_atoms()))
        )
        for e in self.of_atoms():
            name = self.text.unique(f"own_{self.text.array(e.array)}")
            self.writer.line(f"{self.text.machine(e.type)} {name}[{self.own}.most] = {{}};")
            with self.some(), self.each_own(), self.reading(found):
                self.writer.line(f"{name}[{self.item}] = {self.text.expr(e)};")
            found[e] = f"{name}[{self.item}]"
        return found

    def of_atoms(self) -> list[ir.Element]:
        """Return what all columns read of an atom, at places that other reads give. One lane does so, and tells."""
        s, text = self.pass_, self.text
        each = replace(s, body=(*self.parted.before, *self.parted.each))
        return [
            e
            for e in read_at_atom(each, (*text.written, *text.contended))
            if e.indices != (s.atom,)
            and s.atom in walk.variables((e,))
            and e.type.dtype.itemsize in (4, 8)
        ]

    def told(self, own: dict[ir.Element, str]) -> dict[ir.Element, str]:
        """Write what lanes tell each other of their atoms. Return what holds it for each."""
        found = {}
        for e in self.of_atoms():
            found[e] = name = self.text.unique(f"told_{self.text.array(e.array)}")
            self.writer.line(f"{self.text.machine(e.type)} {name}[items.value];")
            self.writer.line(f"{self.axis}.tell({own[e].removesuffix(f'[{self.item}]')}, {name});")
        return {e: f"{name}[{self.item}]" for e, name in found.items()}

    @contextmanager
    def reading(self, loaded: dict[ir.Element, str]) -> Iterator[None]:
        """Print what is loaded by these names."""
        before, self.text.loaded = self.text.loaded, loaded
        yield
        self.text.loaded = before

    def load_columns(self) -> dict[ir.Element, str]:
        """Write loads of the words of a thread's columns, for all atoms of a batch. Return what holds them."""
        writer, text, outer = self.writer, self.text, self.outer
        held = {e: text.unique(f"own_{text.array(e.array)}") for e in self.column_words()}
        for e, name in held.items():
            writer.line(f"{text.machine(e.type)} {name}[items.value][{outer.dense.vector}];")
        if held:
            with self.some(), self.each_atom(), outer.each_column("width.value"):
                for e, name in held.items():
                    outer.load_word(e, f"{name}[{self.item}]")
        return {e: f"{name}[{self.item}]" for e, name in held.items()}

    def of_columns(self, words: dict[ir.Element, str]) -> dict[ir.Element, str]:
        """Return what holds the words of a thread's columns, in the code of one of them."""
        return {e: f"{name}[{self.outer.c}]" for e, name in words.items()}

    def add(self) -> None:
        """Write what an atom contributes to the accumulators."""
        writer, parts = self.writer, self.parted
        writer.block(parts.before)
        with self.outer.each_column():
            writer.block(parts.each)
        writer.block(parts.after)
