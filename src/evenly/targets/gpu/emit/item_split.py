"""Emit the walk over an item's tiles where the threads of its block share tiles (device/item.cuh)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenly.language import ir
from evenly.language.phases import Split
from evenly.language.schedule_code import ScheduleCode

from .expressions import Text, ctype
from .lines import indented
from .owner import Owner
from .parameters import struct_members, struct_values
from .phase_struct import PhaseStruct
from .processor import define_in_item
from .schedule_struct import ScheduleStruct
from .statements import Writer, members
from .totals import Totals
from .unit import Unit

if TYPE_CHECKING:
    from ..engine import Engine

Item = tuple[ir.Var, ir.Var, ir.Var]  # the fields of language/items.py: TilesOfItem


@dataclass(frozen=True)
class SplitTiles:
    """Writes the calls of a split engine, and the structs that it takes, for an item that a block owns.

    outer: the writer of the loop over items. engine: that of the inner schedule. code: the schedule's methods, if the
    engine runs them. block: threads of a block.
    """

    outer: Owner
    unit: Unit
    inner: Any
    engine: Engine
    code: ScheduleCode | None
    item: Item
    block: int

    def __call__(self, phase: Split, given: tuple[ir.Var, ...]) -> None:
        """Write the call for one pass. given: the variables of the item that it reads."""
        outer, text = self.outer, self.outer.text.apart()
        held = {v: outer.text.var(v) for v in given}
        more = {name: outer.staged_type(a) for a, name in outer.text.staged.items()}
        more |= {
            name: f"const {ctype(v.type)}{'*' if v.length else ''}" for v, name in held.items()
        }
        totals = Totals(text, phase.grid)
        body = PhaseStruct(text, phase, totals, {}, held).lines()
        places = {v: outer.text.var(v) for v in self.item}
        methods = self._methods(text, places) if self.code else []
        outer.text.references.include(text.references)
        lines = [*totals.structs, *self._struct("Phase", text, more, body)]
        if methods:
            lines += self._struct("Sched", text, dict.fromkeys(places.values(), "pos"), methods)
        name = outer.text.unique("rows")
        outer.structs += [f"struct {name} {{", *indented(lines, "  "), "};"]
        first, last, _ = places.values()
        item = f"ev::item_of({name}::Phase{{{_values(text, more)}}}, {first}, {last})"
        sched = f"{name}::Sched{{{_values(text, places.values())}}}"
        self._add(totals, self._called(item, sched))

    def _called(self, item: str, sched: str) -> str:
        """Return the call of the engine, whose result are the totals of the tiles that a thread has left."""
        if self.code is None:
            kind = f"{self.block}, {self.inner.items}, ev::{self.engine.rule}"
            return f"ev::split_item<{kind}>({item})"
        yields = "false" if self.code.tiles.results else "true"
        return f"ev::share_item<{self.block}, {yields}>({item}, {sched})"

    def _add(self, totals: Totals, call: str) -> None:
        """Write the call, and what its result adds to the accumulators of the item."""
        outer = self.outer
        if not totals.grid:
            outer.line(f"{call};")
            return
        left = outer.text.unique("left")
        outer.line(f"const auto {left} = {call};")
        named = members(totals.all_fields)
        for acc in totals.accumulators:
            values = tuple(ir.Var(v.name, v.type) for v in acc.fields)
            outer.text.names.update(
                {x: f"{left}.{named[v]}" for x, v in zip(values, acc.fields, strict=True)}
            )
            outer.declared.update(values)
            outer.combine(acc, acc.fields, values)

    def _methods(self, text: Text, places: dict[ir.Var, str]) -> list[str]:
        """Emit the methods of a schedule that says itself what each thread walks."""
        assert self.code is not None

        def define(writer: Writer, part: ScheduleCode) -> None:
            define_in_item(writer, part, 1, self.block, "ev::thread_rank()", self.block)

        return ScheduleStruct(text, self.code, define, places).lines()

    def _struct(self, name: str, text: Text, more: dict[str, str], body: list[str]) -> list[str]:
        """Emit a struct with the arguments that its code refers to as members, and `more`: types by name."""
        arguments = struct_members(text.references, self.unit.written, False)
        return [
            f"struct {name} {{",
            f"  {self.unit.position_type}",
            *arguments,
            *(f"  {kind} {of};" for of, kind in more.items()),
            *body,
            "};",
        ]


def _values(text: Text, more: Iterable[str]) -> str:
    """Return the values of the members of `_struct`."""
    arguments = struct_values(text.references)
    return ", ".join([*([arguments] if arguments else []), *more])
