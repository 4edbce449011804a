"""Keep what several passes over a tile read at its atoms in registers, where each thread has few of them.

A softmax reads its elements in each of its passes. If a thread has at most `items` atoms of a tile, it loads their
elements in the first pass, all at once, and every pass takes them from registers. Longer tiles are read again.

With runs, one instruction loads, and stores, up to 16 bytes. A run that is not wholly inside the tile or an array is
taken element by element.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.accesses import at_atoms, read_again

from .batches import whole_runs
from .expressions import ctype
from .statements import fields_of

if TYPE_CHECKING:
    from .owner import Owner

FEW = 8  # atoms of a thread that leave registers enough, whoever decides about these; fewer of 8 bytes


@dataclass(frozen=True, slots=True)
class Range:
    """The atoms of a tile that a thread has, as text. begin: the tile's first atom. start: the thread's own."""

    begin: str
    start: str
    end: str
    step: str


class Kept:
    """Writes the passes of a tile over the atoms of a thread that fit into its registers."""

    def __init__(self, writer: Owner, body: ir.Block) -> None:
        self.writer, self.run = writer, writer.run
        alike = writer.items > 1 and writer.dense is None
        self.first = read_again(body, writer.text.written) if alike else {}
        self.names: dict[ir.Array, str] = {}

    def declare(self, s: ir.Pass) -> None:
        """Write the arrays of registers that a pass fills, before its walk."""
        text = self.writer.text
        for array in self.filled(s):
            self.names[array] = name = text.unique(f"kept_{text.array(array)}")
            self.writer.line(f"{ctype(array.dtype)} {name}[{self.writer.items}];")

    def filled(self, s: ir.Pass) -> list[ir.Array]:
        return [array for array, first in self.first.items() if first is s]

    def of(self, s: ir.Pass) -> dict[ir.Element, str]:
        """Return the elements that a pass reads out of registers, and the arrays of these."""
        return {e: self.names[e.array] for e in at_atoms(s) if e.array in self.names}

    @contextmanager
    def walk(self, s: ir.Pass, over: Range) -> Iterator[None]:
        """Write the walk over atoms in registers. What is written within is the walk over longer tiles.

        That is in batches of fewer atoms: the atoms of a batch have accumulators of their own.
        """
        writer, items = self.writer, self.writer.items
        writes = Walk(self, s, over) if self.run == 1 else WalkInRuns(self, s, over)
        with writer.compound(f"if ({writes.fits})"):
            if self.filled(s):
                writes.load()
            writes.take()
        writer.short |= items > FEW
        writer.heavy |= items >= FEW and any(a.dtype.dtype.itemsize > 4 for a in self.names)
        writer.items = max(self.run, min(items, FEW // max(len(fields_of(s.accumulators)), 1)))
        with writer.compound("else"):
            yield
        writer.items = items


class Walk:
    """Writes the walk over atoms at a fixed distance."""

    def __init__(self, kept: Kept, s: ir.Pass, over: Range) -> None:
        self.kept, self.s, self.over, self.writer = kept, s, over, kept.writer
        self.text = self.writer.text
        self.name, self.items = self.text.var(s.atom), self.writer.items
        self.fits = f"{over.end} - ({over.start}) <= {self.items} * {over.step}"

    def load(self) -> None:
        item = self.text.unique("item")
        with self.each(item):
            for array in self.kept.filled(self.s):
                to = f"{self.kept.names[array]}[{item}]"
                self.writer.line(f"{to} = {self.text.array(array)}[{self.name}];")

    def take(self) -> None:
        item = self.text.unique("item")
        with self.each(item):
            self.body(item)

    def body(self, item: str) -> None:
        """Write what the pass does at an atom that is in registers."""
        self.text.loaded = {e: f"{name}[{item}]" for e, name in self.kept.of(self.s).items()}
        self.writer.block(self.s.body)
        self.text.loaded = {}

    @contextmanager
    def each(self, item: str) -> Iterator[None]:
        """Write the code for each of a thread's atoms."""
        over = self.over
        with self.loop(item, self.items):
            self.writer.line(f"const pos {self.name} = {over.start} + {item} * {over.step};")
            with self.writer.compound(f"if ({self.name} < {over.end})"):
                yield

    @contextmanager
    def loop(self, name: str, most: int, by: int = 1) -> Iterator[None]:
        self.writer.line("#pragma unroll")
        step = f"++{name}" if by == 1 else f"{name} += {by}"
        with self.writer.compound(f"for (int {name} = 0; {name} < {most}; {step})"):
            yield


class WalkInRuns(Walk):
    """Writes the walk over runs of contiguous atoms. They are aligned, so the first may begin before the tile."""

    def __init__(self, kept: Kept, s: ir.Pass, over: Range) -> None:
        super().__init__(kept, s, over)
        unique, run = self.text.unique, kept.run
        self.run, self.base = run, unique(f"{self.name}_base")
        self.first, self.part, self.at = unique("first"), unique("part"), unique("at")
        line = self.writer.line
        begin = unique(f"{self.name}_begin")
        line(f"const pos {begin} = {over.begin};")
        line(f"const pos {self.base} = {begin} & -{run};")
        self.over = replace(over, begin=begin)
        self.fits = f"{over.end} - {self.base} <= {self.items} * {over.step}"

    def load(self) -> None:
        line, arrays = self.writer.line, self.kept.filled(self.s)
        whole = self.text.unique(f"{self.name}_whole")
        elements = [e for e in self.kept.of(self.s) if e.array in arrays]
        line(f"const pos {whole} = {whole_runs(self.text, elements, str(self.run))};")
        compound = self.writer.compound
        with self.each_run(), compound(f"if ({self.at} < {self.over.end})"):
            with compound(f"if ({self.at} < {whole})"):
                for array in arrays:
                    source = f"{self.text.array(array)}.data + {self.at}"
                    to = f"{self.kept.names[array]} + {self.first}"
                    line(f"ev::load_run<{self.run}>({source}, {to});")
            with compound("else"), self.each_of_run():
                for array in arrays:
                    to = f"{self.kept.names[array]}[{self.first} + {self.part}]"
                    line(f"{to} = {self.text.array(array)}[{self.name}];")

    def take(self) -> None:
        writer, text, stores = self.writer, self.text, self.stores()
        names = {id(s): text.unique(f"stored_{text.array(s.array)}") for s in stores}
        aligned = " && ".join(
            f"ev::aligned_runs<{self.run}>({text.array(s.array)}.data)" for s in stores
        )
        with self.each_run():
            for s in stores:
                writer.line(f"{ctype(s.array.dtype)} {names[id(s)]}[{self.run}];")
            writer.stored = {key: f"{name}[{self.part}]" for key, name in names.items()}
            with self.each_of_run():
                self.body(f"{self.first} + {self.part}")
            writer.stored = {}
            if stores:
                self.leave(stores, names, aligned)

    def leave(self, stores: list[ir.Store], names: dict[int, str], aligned: str) -> None:
        """Write the stores of a run."""
        line, over, text = self.writer.line, self.over, self.text
        inside = f"{self.at} >= {over.begin} && {self.at} + {self.run} <= {over.end}"
        with self.writer.compound(f"if ({inside} && {aligned})"):
            for s in stores:
                to = f"{text.array(s.array)}.data + {self.at}"
                line(f"ev::store_run<{self.run}>({to}, {names[id(s)]});")
        with self.writer.compound("else"), self.each_of_run():
            for s in stores:
                line(f"{text.subscript(s)} = {names[id(s)]}[{self.part}];")

    def stores(self) -> list[ir.Store]:
        """Return the stores at atoms that wait for all of a run: nothing else reads or stores in their arrays."""
        body = self.s.body
        stored = [s.array for s in walk.statements(body) if isinstance(s, ir.Store)]
        return [
            s
            for s in body
            if isinstance(s, ir.Store)
            and s.indices == (self.s.atom,)
            and stored.count(s.array) == 1
            and s.array not in walk.arrays_read(body)
            and s.array.path not in self.text.contended
        ]

    @contextmanager
    def each_run(self) -> Iterator[None]:
        with self.loop(self.first, self.items, self.run):
            at = f"{self.base} + team.rank() * {self.run} + {self.first} * {self.over.step}"
            self.writer.line(f"const pos {self.at} = {at};")
            yield

    @contextmanager
    def each_of_run(self) -> Iterator[None]:
        with self.loop(self.part, self.run):
            self.writer.line(f"const pos {self.name} = {self.at} + {self.part};")
            inside = f"{self.name} >= {self.over.begin} && {self.name} < {self.over.end}"
            with self.writer.compound(f"if ({inside})"):
                yield
