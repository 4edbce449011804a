"""Emit the walk over an item's tiles: the inner of two nested schedules divides them among the item's owner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenly.gpus.gpu import WARP
from evenly.language import ir, walk
from evenly.language.phases import Owned
from evenly.language.scans import has_scans
from evenly.language.schedule_code import ScheduleCode, function_code, inner_code, whole_tile
from evenly.language.types import POS
from evenly.schedules.contract import items_of, run_of
from evenly.schedules.per_item import PerItem
from evenly.schedules.thread_mapped import ThreadMapped

from .expressions import processor_name
from .owner import Owner, strided
from .tile_loop import tile_loop
from .unit import Unit

Item = tuple[ir.Var, ir.Var, ir.Var]  # the fields of language/items.py: TilesOfItem


class TilesOfItem:
    """Writes the walk over an item's tiles: the code of `inner` for each, and the reduction over the item's owner.

    outer: the writer of the loop over items. block: threads of a block.
    """

    def __init__(self, outer: Owner, unit: Unit, phase: Owned, inner: Any, block: int) -> None:
        self.outer, self.inner, self.block = outer, inner, block
        self.phase, self.spec = phase, unit.layouts[phase.path]
        # The arrays that all members read at the level of items.
        alone = walk.rewritten(phase.body, lambda s: () if isinstance(s, ir.Pass) else None)
        self.read = {e.array for e in walk.expressions(alone) if isinstance(e, ir.Element)}

    def __call__(self, s: ir.Pass) -> None:
        outer = self.outer
        assert s.of is not None
        if outer.size > 1 and self.read & walk.arrays_written(s.body):
            outer.line("team.sync();")  # all members have read what some of them are about to store
        idle = outer.size > WARP and outer.size % WARP  # the last warp's lanes beyond the group
        with outer.compound("if (team.active())" if idle else ""):
            item = self._item(s.of)
            if not any(isinstance(x, ir.Pass) for x in walk.statements(s.body)):
                self._walk(s, s.of, item, ThreadMapped())  # tiles whose atoms nobody walks
                return
            if not isinstance(self.inner, PerItem):
                self._walk(s, s.of, item, self.inner)
                return
            with outer.compound(f"switch ({self._size(self.inner)})"):
                for size in self.inner.sizes(outer.size):
                    with outer.compound(f"case {size}:"):
                        self._walk(s, s.of, item, self.inner.of(size))
                        outer.line("break;")

    def _size(self, inner: PerItem) -> str:
        """Write how large the groups of an item are. Return it as text."""
        outer = self.outer
        assert outer.tile is not None
        width = function_code(inner.width, self.spec, self.phase.path, outer.tile)
        outer.block(width.body)
        wanted = outer.text.expr(width.results[0])
        return f"ev::group_size({wanted}, {inner.sizes(outer.size)[-1]})"

    def _walk(self, s: ir.Pass, of: ir.LayoutCode, item: Item, inner: Any) -> None:
        """Write the walk under one inner schedule."""
        outer, size = self.outer, inner.size if inner.owner == "group" else 1
        code = _placed(inner_code(inner, self.spec, self.phase.path, item), item)
        writer = self._writer(s, of, code, inner, size)
        self._processor(writer, code)
        within = Owned(of, self.phase.path, s.atom, (), s.body, (), s.at)
        tile_loop(writer, within, code, size, False)
        outer.structs += writer.structs
        outer.short |= writer.short
        outer.heavy |= writer.heavy

    def _item(self, of: ir.LayoutCode) -> Item:
        """Write where the item's tiles and atoms begin, and where its tiles end."""
        outer = self.outer
        assert outer.tile is not None
        first, last, before = (ir.Var(n, POS) for n in ("first", "last", "before"))
        tiles = whole_tile(self.phase.layout, ir.Const(1, POS))
        body, (start, stop, _) = walk.substitute(tiles, (outer.tile,))
        outer.block(body)
        outer.assign(first, outer.text.expr(start))
        outer.assign(last, outer.text.expr(stop))
        body, (begin,) = walk.substitute(of.begin, (first,))
        outer.assign(before, "0")
        with outer.compound(f"if ({outer.text.var(first)} < {outer.text.var(last)})"):
            outer.block(body)
            outer.assign(before, outer.text.expr(begin))
        return first, last, before

    def _writer(
        self, s: ir.Pass, of: ir.LayoutCode, code: ScheduleCode, inner: Any, size: int
    ) -> Owner:
        outer, run = self.outer, run_of(inner)
        in_order = run > 1 or has_scans(s.body)
        atoms = strided(of, size, ir.Const(size, POS)) if in_order else code.atoms
        # An item's accumulators are to its tiles what those of the grid are to others: the leader contributes.
        whole = {v: outer.text.var(v) for a in s.accumulators for v in a.fields}
        writer = Owner(outer.text, size, items_of(inner), run, atoms, whole, s.body, False)
        writer.lines, writer.depth, writer.at = outer.lines, outer.depth, outer.at
        writer.declared = set(outer.declared)
        return writer

    def _processor(self, writer: Owner, code: ScheduleCode) -> None:
        """Define what the inner schedule asks of its processor. Processors are numbered within the item's owner."""
        owner = self.outer.size
        writer.line(f"const pos thread_index = {'(pos)team.rank()' if owner > 1 else '0'};")
        writer.line(f"const pos thread_count = {owner};")
        if writer.size > 1:
            writer.line(f"const ev::group<{writer.size}, {self.block}> team;")
        asked = {e for e in code.expressions() if isinstance(e, ir.Processor)}
        for e in sorted(asked, key=processor_name):
            if e.what.startswith("group"):
                writer.line(f"const pos {processor_name(e)} = {self._of_group(e, writer.size)};")

    def _of_group(self, e: ir.Processor, own: int) -> str:
        what = e.what.removeprefix("group_")
        if e.size == own and own > 1 and self.outer.size == self.block:
            return {"index": "team.local()", "count": "team.per_block", "rank": "team.rank()"}[what]
        return {
            "index": f"thread_index / {e.size}",
            "count": f"thread_count / {e.size}",
            "rank": f"thread_index % {e.size}",
        }[what]


def _placed(code: ScheduleCode, item: Item) -> ScheduleCode:
    """Return the code with positions of the whole batch, in place of those within the item."""
    first, _, before = item
    tile = ir.Var("tile", POS)
    inside = ir.Binary("-", tile, first, POS)
    body, results = walk.substitute(code.atoms, (inside,))
    atoms = _moved(ir.Inline((tile,), body, results), before)
    return replace(code, tiles=_moved(code.tiles, first), atoms=atoms)


def _moved(code: ir.Inline, by: ir.Var) -> ir.Inline:
    """Return code whose ranges are moved up."""

    def moved(over: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
        places, step = over[:2], over[2:]
        return (*(ir.Binary("+", e, by, POS) for e in places), *step)

    def given(s: ir.Stmt) -> ir.Block | None:
        return (replace(s, over=moved(s.over)),) if isinstance(s, ir.Yield) else None

    return replace(code, body=walk.rewritten(code.body, given), results=moved(code.results))
