"""Batches of atoms that a thread loads at once: atoms at a fixed distance, or runs of contiguous atoms."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from evenly.gpus.gpu import WARP
from evenly.language import ir, walk
from evenly.language.accesses import contiguous_reads
from evenly.language.combine import contributed_once
from evenly.language.types import POS

from .expressions import Text, ctype
from .statements import Writer, fields_of, identity, members

if TYPE_CHECKING:
    from .owner import Owner

IN_FLIGHT = 12  # numbers of a batch that a thread has room for, with a bound on threads (owner.py)


class Strided:
    """A batch of `items` atoms from `start` to `end`, `width` apart, so that a group's threads read contiguous atoms.

    name: the variable of an atom in the emitted text. inside: the condition under which the atom belongs to the tile.
    """

    def __init__(self, writer: Writer, name: str, items: int, over: tuple[str, str, str]) -> None:
        self.writer, self.text, self.name, self.items = writer, writer.text, name, items
        self.start, self.end, self.width = over
        self.inside = f"{name} < {self.end}"

    def apart(self, item: str) -> str:
        """Return the distance from a thread's first atom to its atom number `item`."""
        return item if self.width == "1" else f"{item} * {self.width}"

    def within(self, first: str) -> str:
        """Return the condition under which all atoms from `first` on belong to the tile; "" if that is not asked."""
        return ""

    def load(self, first: str) -> None:
        """Write loads that precede all code for the atoms from `first` on."""

    def loaded(self, item: str) -> dict[ir.Element, str]:
        """Return the elements that `load` has loaded for an atom, and the names that hold them."""
        return {}


class SideBySide(Strided):
    """A batch of runs of `run` contiguous atoms. The runs of a group are contiguous, too.

    One instruction loads 16 bytes of an array. Runs are aligned, so they may begin before the tile's first atom and end
    after its last. What is loaded there is not used.

    elements: the elements that a pass reads at each atom, and that no kernel writes. begin: the tile's first atom.
    left: the range of atoms beyond the last whole run of an array; all atoms, if an array is not aligned.
    """

    def __init__(self, elements: list[ir.Element], run: int, begin: str, *given: Any) -> None:
        super().__init__(*given)
        line, unique, name = self.writer.line, self.text.unique, self.name
        self.run = run
        self.names = {e: unique(f"run_{self.text.array(e.array)}") for e in elements}
        own, whole, stop = unique(f"{name}_begin"), unique(f"{name}_whole"), unique(f"{name}_stop")
        line(f"const pos {own} = {begin};")
        line(f"const pos {whole} = {whole_runs(self.text, elements, str(run))};")
        line(f"const pos {stop} = {self.end} < {whole} ? {self.end} : {whole};")
        self.left = f"({own} > {whole} ? {own} : {whole}) + team.rank()", self.end, self.width
        self.start, self.end = f"({own} & -{run}) + team.rank() * {run}", stop
        self.inside = f"{name} >= {own} && {name} < {stop}"
        self.own = own

    def apart(self, item: str) -> str:
        return f"({item} - {item} % {self.run}) * {self.width} + {item} % {self.run}"

    def within(self, first: str) -> str:
        last = f"{first} + {self.items - self.run} * {self.width} + {self.run - 1}"
        return f"{first} >= {self.own} && {last} < {self.end}"

    def load(self, first: str) -> None:
        line, compound, item = self.writer.line, self.writer.compound, self.text.unique("item")
        for e, name in self.names.items():
            line(f"{ctype(e.type)} {name}[{self.items}];")
        line("#pragma unroll")
        with compound(f"for (int {item} = 0; {item} < {self.items}; {item} += {self.run})"):
            line(f"const pos {self.name} = {first} + {item} * {self.width};")
            with compound(f"if ({self.name} < {self.end})" if self.items > self.run else ""):
                for e, name in self.names.items():
                    at = f"{self.text.array(e.array)}.data + {self.name}"
                    line(f"ev::load_run<{self.run}>({at}, {name} + {item});")

    def loaded(self, item: str) -> dict[ir.Element, str]:
        return {e: f"{name}[{item}]" for e, name in self.names.items()}


def batches(w: Owner, s: ir.Pass, start: ir.Expr, end: str, step: ir.Expr) -> None:
    """Write the walk over atoms, `items` of them at a time, each of which contributes to a value of its own.

    Their loads do not wait for each other, since each is only predicated. (A loop that the compiler unrolls would
    walk the remaining atoms one by one.) Then the values are combined in order.
    """
    over = w.text.expr(start), end, w.text.expr(step)
    w.short |= w.size > WARP or _widest(s) == 8
    w.heavy |= len(fields_of(s.accumulators)) * w.items > IN_FLIGHT or _widest(s) > 8
    given = w, w.text.var(s.atom), w.items
    elements = contiguous_reads(s, w.text.written) if w.run > 1 else []
    if elements:
        # Eight elements of each array are loaded before the first of them is used.
        w.short |= w.run == 8
        assert isinstance(start, ir.Binary)  # of `strided`: the tile's first atom, and the rank
        runs = SideBySide(elements, w.run, w.text.expr(start.left), *given, over)
        _batch(w, s, runs)
        over = runs.left
    _batch(w, s, Strided(*given, over))


def _batch(w: Owner, s: ir.Pass, asked: Strided) -> None:
    t, fields, name = w.text, fields_of(s.accumulators), asked.name
    first, parts, item = t.unique(f"{name}_first"), t.unique("parts"), t.unique("item")
    part = {v: f"{parts}[{item}].{m}" for v, m in members(fields).items()}
    start = identity(t, s.accumulators)

    def contribute(condition: str) -> None:
        with _each(w, item):
            w.line(f"{parts}[{item}] = {{{start}}};")
            w.line(f"const pos {name} = {first} + {asked.apart(item)};")
            names = {v: t.var(v) for v in fields}
            t.names.update(part)
            t.loaded = asked.loaded(item)
            w.fresh = contributed_once(s)
            with w.compound(f"if ({condition})" if condition else ""):
                w.block(s.body)
            w.fresh = frozenset()
            t.names.update(names)
            t.loaded = {}
        with _each(w, item):
            for acc in s.accumulators:
                values = tuple(ir.Var(v.name, v.type) for v in acc.fields)
                t.names.update({x: part[v] for x, v in zip(values, acc.fields, strict=True)})
                w.declared.update(values)
                w.combine(acc, acc.fields, values)

    w.line("#pragma unroll 1")
    each = f"{first} < {asked.end}; {first} += {w.items} * {asked.width}"
    with w.compound(f"for (pos {first} = {asked.start}; {each})"):
        asked.load(first)
        w.line(f"{w.struct_of(s)} {parts}[{w.items}];")
        within = asked.within(first) if len(fields) > 1 else ""
        if not within:
            return contribute(asked.inside)
        # Most often all belong to the tile, and then no number of a pair asks by itself.
        with w.compound(f"if ({within})"):
            contribute("")
        with w.compound("else"):
            contribute(asked.inside)


def _each(w: Owner, item: str) -> AbstractContextManager[None]:
    w.line("#pragma unroll")
    return w.compound(f"for (int {item} = 0; {item} < {w.items}; ++{item})")


def _widest(s: ir.Pass) -> int:
    """Return the bytes of the widest number that a pass reads."""
    read = [e.array.dtype for e in walk.expressions(s.body) if isinstance(e, ir.Element)]
    return max((t.dtype.itemsize for t in read if t != POS), default=0)


def whole_runs(text: Text, elements: Iterable[ir.Element], run: str) -> str:
    """Return the number of atoms in runs that lie wholly inside all arrays; 0 if one of them is not aligned."""
    found = "ev::highest<pos>()"
    for e in elements:
        array, extent = text.array(e.array), text.extent(e.array, 0)
        found = f"ev::whole_runs<{run}>({array}.data, {extent}, {found})"
    return found
