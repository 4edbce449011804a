"""Emit the walk over an item's tiles: the inner of two nested schedules divides them among the item's owner."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenly.errors import InputError
from evenly.gpus.gpu import WARP
from evenly.language import ir, walk
from evenly.language.item_cutting import cut_tiles, walks_atoms
from evenly.language.phases import Owned
from evenly.language.scans import has_scans
from evenly.language.schedule_code import ScheduleCode, function_code, inner_code, whole_tile
from evenly.language.types import POS
from evenly.schedules.contract import check_groups, items_of, run_of
from evenly.schedules.per_item import PerItem
from evenly.schedules.thread_mapped import ThreadMapped
from evenly.schedules.within import within

from .item_split import Item, SplitTiles
from .owner import Owner, strided
from .processor import define_in_item
from .several import SEVERAL
from .tile_loop import tile_loop, walks_all_groups
from .unit import Unit

if TYPE_CHECKING:
    from ..engine import Engine


class TilesOfItem:
    """Writes the walk over an item's tiles: the code of `inner` for each, and the reduction over the item's owner.

    outer: the writer of the loop over items. engine: that of `inner`. block: threads of a block. teams: how many
    threads an item may have; SEVERAL: those of several blocks.
    """

    def __init__(
        self,
        outer: Owner,
        unit: Unit,
        phase: Owned,
        inner: Any,
        engine: Engine,
        block: int,
        teams: tuple[int, ...],
    ) -> None:
        self.outer, self.inner, self.engine, self.block = outer, inner, engine, block
        self.teams = tuple(dict.fromkeys(teams))
        # The threads of an item, in the code that is being written; of one of its blocks, if it has several.
        self.owner, self.several = outer.size, False
        self.unit, self.phase, self.spec = unit, phase, unit.layouts[phase.path]

    def __call__(self, s: ir.Pass) -> None:
        outer = self.outer
        assert s.of is not None
        idle = outer.size > WARP and outer.size % WARP  # the last warp's lanes beyond the group
        conditions = [outer.walks] if outer.walks else []
        conditions += ["team.active()"] if idle else []
        with outer.compound(f"if ({' && '.join(conditions)})" if conditions else ""):
            item = self._item(s.of)
            for threads in self.teams:
                self.owner = threads or self.block
                self.several = threads == SEVERAL
                one = f"if constexpr (ev::size_of<decltype(team)>::value == {threads})"
                with outer.compound(one) if len(self.teams) > 1 else nullcontext():
                    self._among(s, s.of, item)

    def _among(self, s: ir.Pass, of: ir.LayoutCode, item: Item) -> None:
        """Write the walk among the threads of one owner."""
        outer = self.outer
        if not walks_atoms(s):
            self._walk(s, of, item, ThreadMapped())
            return
        if not self.inner.owns_tiles:
            self._split(s, of, item)
            return
        if not isinstance(self.inner, PerItem):
            self._walk(s, of, item, within(self.inner, self.owner))
            return
        with outer.compound(f"switch ({self._size(self.inner)})"):
            for size in self.inner.sizes(self.owner):
                with outer.compound(f"case {size}:"):
                    self._walk(s, of, item, self.inner.of(size))
                    outer.line("break;")

    def _size(self, inner: PerItem) -> str:
        """Write how large the groups of an item are. Return it as text."""
        outer = self.outer
        assert outer.tile is not None
        width = function_code(inner.width, self.spec, self.phase.path, outer.tile)
        outer.block(width.body)
        wanted = outer.text.expr(width.results[0])
        return f"ev::group_size({wanted}, {inner.sizes(self.owner)[-1]})"

    def _walk(self, s: ir.Pass, of: ir.LayoutCode, item: Item, inner: Any) -> None:
        """Write the walk under one inner schedule."""
        outer, size = self.outer, inner.size if inner.owner == "group" else 1
        code = self._code(inner, item)
        together = self.owner % WARP == 0 and walks_all_groups(code)
        code = _placed(code, item)
        writer = self._writer(s, of, code, inner, size, together)
        rank = "(pos)team.rank()" if self.owner > 1 else "0"
        owner = "(pos)team.size()" if self.several else self.owner
        define_in_item(writer, code, size, self.block, rank, owner)
        tiles = Owned(of, self.phase.path, s.atom, (), s.body, (), s.at)
        tile_loop(writer, tiles, code, size, False)
        outer.structs += writer.structs
        outer.short |= writer.short
        outer.heavy |= writer.heavy

    def _split(self, s: ir.Pass, of: ir.LayoutCode, item: Item) -> None:
        """Write the walk under an inner schedule that splits tiles, part by part."""
        outer, methods = self.outer, self.engine.runs_methods
        code = self._code(self.inner, item) if methods else None
        split = SplitTiles(outer, self.unit, self.inner, self.engine, code, item, self.block)
        for i, part in enumerate(cut_tiles(s, self.phase.path)):
            if i:
                outer.line("team.sync();")  # a part may read what the one before it stores
            if isinstance(part.phase, Owned):
                with outer.compound(""):  # which names its processors itself
                    self._walk(replace(s, body=part.phase.body), of, item, ThreadMapped())
            else:
                split(part.phase, part.given)

    def _code(self, inner: Any, item: Item) -> ScheduleCode:
        """Return the methods of an inner schedule, for the tiles of an item."""
        code, threads = inner_code(inner, self.spec, self.phase.path, item), self.owner
        check_groups(inner, code.groups, *code.exchanging, threads)
        if code.exchanges and (self.several or threads != self.block):
            raise InputError(
                "Nested.outer",
                expected=f"BlockMapped({self.block}), since threads tell each other numbers in the setup of {inner}",
                given=f"blocks of {threads} threads, several for an item"
                if self.several
                else f"{threads} of {self.block} threads for an item",
            )
        return code

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
        self,
        s: ir.Pass,
        of: ir.LayoutCode,
        code: ScheduleCode,
        inner: Any,
        size: int,
        together: bool,
    ) -> Owner:
        """together: whether all groups of a warp walk tiles of one item in turn."""
        outer, run = self.outer, run_of(inner)
        in_order = run > 1 or has_scans(s.body)
        atoms = strided(of, size, ir.Const(size, POS)) if in_order else code.atoms
        # An item's accumulators are to its tiles what those of the grid are to others: the leader contributes.
        whole = {v: outer.text.var(v) for a in s.accumulators for v in a.fields}
        writer = Owner(outer.text, size, items_of(inner), run, atoms, whole, s.body, together)
        writer.lines, writer.depth, writer.at = outer.lines, outer.depth, outer.at
        writer.declared = set(outer.declared)
        return writer


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
