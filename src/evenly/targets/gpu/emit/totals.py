"""Emit reductions over the whole grid: a partial result for each block, and the kernel that combines them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenly.language import ir
from evenly.language.phases import GridResult
from evenly.language.types import struct_words

from ..sizing import Buffer
from .code import KernelCode
from .expressions import Text
from .lines import Line
from .parameters import Parameter
from .statements import Writer, identity, members, value_struct

if TYPE_CHECKING:
    from .unit import Unit


def partials(count: int, words: int) -> tuple[Buffer, ...]:
    """Return the buffer for `count` partial results of `words` words of 64 bits; none if there are no words."""
    return (Buffer("grid_partials", 8 * count * words),) if words else ()


@dataclass(frozen=True, slots=True)
class Chunked:
    """Says that there is a partial result for each chunk of `tiles` tiles, instead of one for each block."""

    layout: ir.LayoutCode
    tiles: int


class Totals:
    """The accumulators of the whole grid that a phase contributes to."""

    def __init__(self, text: Text, grid: tuple[GridResult, ...]) -> None:
        self.grid = grid
        self.accumulators = tuple(g.accumulator for g in grid)
        self.all_fields = [v for a in self.accumulators for v in a.fields]
        self.words = struct_words(v.type for v in self.all_fields)
        self.names = {v: f"grid.{m}" for v, m in members(self.all_fields).items()}
        text.names.update(self.names)
        self.structs = self._structs(text) if grid else ["struct grid_value {};"]
        self.parameters = [Parameter("buffer", "void*", name="grid_partials")] if grid else []

    def _structs(self, text: Text) -> list[str]:
        start = identity(text, self.accumulators)
        return [
            *value_struct(text, "grid_value", self.accumulators),
            "struct totals {",
            "  using Grid = grid_value;",
            "  static constexpr bool has_grid = true;",
            f"  static EV_DEVICE Grid grid_identity() {{ return {{{start}}}; }}",
            "  static EV_DEVICE Grid grid_combine(const Grid& a, const Grid& b) { return Grid::combine(a, b); }",
            "};",
        ]

    def partials(self, offset: str) -> str:
        if not self.grid:
            return "(Phase::Grid*)0"
        return f"(Phase::Grid*)grid_partials{' + ' + offset if offset else ''}"

    def start(self, writer: Writer) -> None:
        if self.grid:
            writer.line("grid_value grid = totals::grid_identity();")

    def reduce(self, writer: Writer, block: int) -> None:
        if self.grid:
            writer.line(
                f"ev::block_reduce_grid<totals, {block}>(grid, (grid_value*)grid_partials);"
            )

    def final(
        self, unit: Unit, name: str, block: int, chunked: Chunked | None = None
    ) -> list[KernelCode]:
        """Emit the last kernel of a grid reduction, which combines the partial results."""
        if not self.grid:
            return []
        text = unit.text()
        lines: list[str] = []
        count, extra = "all_lanes", [Parameter("blocks", "int", name="all_lanes")]
        if chunked:
            writer = Writer(text)
            writer.block(chunked.layout.num_tiles.body)
            tiles = text.expr(chunked.layout.num_tiles.results[0])
            lines, count, extra = writer.lines, f"ev::chunks_of({tiles}, {chunked.tiles})", []
        lines += [
            f"  const grid_value grid = ev::final_grid<totals, {block}>((const grid_value*)grid_partials, {count});",
            "  if (ev::thread_rank() == 0) {",
        ]
        for g in self.grid:
            lines += [
                Line(f"    {text.array(a)}[0] = {self.names[v]};", g.accumulator.at)
                for a, v in zip(g.arrays, g.accumulator.fields, strict=True)
            ]
        lines.append("  }")
        given = [*self.parameters, *extra]
        return [
            unit.kernel(f"{name}_grid", block, "one", text.references, self.structs, lines, given)
        ]
