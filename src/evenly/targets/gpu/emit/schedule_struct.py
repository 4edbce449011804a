"""Emit a user's schedule that shares tiles as the struct that the share engine takes (device/share.cuh)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from evenly.language import ir
from evenly.language.schedule_code import ScheduleCode
from evenly.targets.printing.statements import Over

from .expressions import Text, ctype
from .statements import Writer, given_loop

Names = Mapping[ir.Var, str]


class ScheduleStruct:
    """Emits the members of that struct.

    define: writes what the schedule asks of its processor. held: the names of variables that the struct has as members.
    """

    def __init__(
        self,
        text: Text,
        code: ScheduleCode,
        define: Callable[[Writer, ScheduleCode], None],
        held: Names = MappingProxyType({}),
    ) -> None:
        self.text, self.code, self.define, self.held = text, code, define, held

    def lines(self) -> list[str]:
        code = self.code
        fields = {v: f"state{i}" for i, v in enumerate(code.state)}
        gathered = {v: f"gathered{i}" for i, v in enumerate(code.gathered)}
        members = [f" {ctype(v.type)} {f};" for v, f in fields.items()]
        members += [f" const pos* {f};" for f in gathered.values()]
        state = {v: f"state.{f}" for v, f in (fields | gathered).items()}
        setup = ir.Inline((), code.setup, (*code.state, *code.gathered))
        tile = dict.fromkeys(code.atoms.params, "tile")
        return [
            f"  struct State {{{''.join(members)} }};",
            "  struct range { pos start, stop, step; };",
            *self._function("State setup() const", setup, {}),
            *(
                self._function("range tiles(const State& state) const", code.tiles, state)
                if code.tiles.results
                else self._generator(code.tiles.body, state)
            ),
            *self._function(
                "range atoms(const State& state, pos tile) const", code.atoms, state | tile
            ),
        ]

    def _writer(self, code: ir.Inline, names: Names) -> Writer:
        inner = self.text.child()
        inner.names.update(names)
        inner.names.update({v: inner.unique(name) for v, name in self.held.items()})
        writer = Writer(inner)
        writer.depth = 2
        asked = ir.Inline((), (), code.results)
        self.define(writer, ScheduleCode(code.body, (), asked, ir.Inline((), (), ())))
        return writer

    def _function(self, head: str, code: ir.Inline, names: Names) -> list[str]:
        writer = self._writer(code, names)
        writer.block(code.body)
        values = ", ".join(writer.text.expr(e) for e in code.results)
        return [f"  EV_DEVICE {head} {{", *writer.lines, f"    return {{{values}}};", "  }"]

    def _generator(self, body: ir.Block, names: Names) -> list[str]:
        """Emit a method that yields as a function that calls `each` with every tile."""
        writer = self._writer(ir.Inline((), body, ()), names)
        tile = writer.text.unique("tile")

        def call(over: Over) -> None:
            with given_loop(writer, tile, over):
                writer.line(f"each({tile});")

        writer.generate(body, call)
        head = "template <class F> EV_DEVICE void tiles(const State& state, F each) const"
        return [f"  {head} {{", *writer.lines, "  }"]
