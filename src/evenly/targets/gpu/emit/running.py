"""Emit scans over the atoms of a tile that the members of a team share (`team.scan` in device/group.cuh)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly.language import ir
from evenly.language.scans import contributions, given, read_once, running

from .held import Held
from .statements import fields_of, identity, members

if TYPE_CHECKING:
    from .owner import Owner


def walk_together(w: Owner, s: ir.Pass, begin: str, end: str, width: str) -> None:
    """Write a walk in which members scan what atoms contribute, and then run the body for each.

    While there are atoms for more than one each, they take `items` contiguous ones at a time, with one scan for all.
    """
    walk_ = Together(w, s, end, width)
    first, struct = walk_.first, walk_.struct
    w.line(f"{struct} {walk_.total} = {walk_.start};")
    with w.compound(f"for (pos {first} = {begin}; {first} < {end};)"):
        if w.items == 1:
            walk_.write(1)
            return
        with w.compound(f"if ({end} - {first} > {width})"):
            walk_.write(w.items)
        with w.compound("else"):
            walk_.write(1)


class Together:
    """Writes what members do with some contiguous atoms each, from `first` on."""

    def __init__(self, w: Owner, s: ir.Pass, end: str, width: str) -> None:
        self.w, self.s, self.end, self.width = w, s, end, width
        self.accumulators, self.code = running(s), contributions(s)
        self.kept = read_once(s, self.code.body)
        self.struct = w.struct("tile_scan", self.accumulators)
        self.start = f"{self.struct}{{{identity(w.text, self.accumulators)}}}"
        self.name = w.text.var(s.atom)
        self.first, self.total = w.text.unique(f"{self.name}_first"), w.text.unique("running")

    def write(self, n: int) -> None:
        """Write it for n atoms each.

        What is read from memory before the scan is kept until after it. With several atoms, those beyond the last are
        read as the last, so that all of them are read at once: under a condition each would wait for the one before.
        """
        w, t, struct = self.w, self.w.text, self.struct
        at, item, own, before = map(t.unique, ("at", "item", "own", "before"))
        fields = members(fields_of(self.accumulators))
        has = f"{at} < {self.end} && team.active()"
        held = Held(w, self.kept, n, item)
        w.line(f"{struct} {own} = {self.start};")
        with held.each(at, f"{self.first} + team.rank() * {n} + {item}"):
            last = f"{at} < {self.end} ? {at} : {self.end} - 1" if n > 1 else at
            w.line(f"const pos {self.name} = {last};")
            with w.compound(f"if ({has})" if n == 1 else ""):
                given_ = self.contribution(self.code.body)
                held.store()
                whole = f"{has} ? {given_} : {self.start}" if n > 1 else given_
                w.line(f"{own} = {struct}::combine({own}, {whole});")
        w.line(f"{struct} {before} = team.scan({own}, {self.total});")
        with held.each(at, f"{self.first} + team.rank() * {n} + {item}"), w.compound(f"if ({has})"):
            w.line(f"const pos {self.name} = {at};")
            held.load()
            given_ = self.contribution(tuple(x for x in self.code.body if x not in self.kept))
            t.names.update({v: f"{before}.{m}" for v, m in fields.items()})
            w.declared.update(fields)
            w.block(given(self.s, self.code.body))
            if n > 1:
                w.line(f"{before} = {struct}::combine({before}, {given_});")
        w.line(f"{self.first} += {n} * {self.width};")
        for v in fields:  # the same pass may be written for a thread alone, too
            t.names.pop(v)

    def contribution(self, body: ir.Block) -> str:
        """Write what an atom contributes, and return the variable's name."""
        w, t, result = self.w, self.w.text, self.w.text.unique("given")
        w.block(body, after=variables(self.code))
        results = ", ".join(t.expr(e) for e in self.code.results)
        w.line(f"const {self.struct} {result} = {{{results}}};")
        return result


def variables(code: ir.Inline) -> tuple[ir.Var, ...]:
    return tuple(e for e in code.results if isinstance(e, ir.Var))
