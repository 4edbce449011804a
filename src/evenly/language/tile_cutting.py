"""Cut a loop over tiles at its passes, for schedules that split tiles (see `cutting`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from . import ir, walk
from .beforehand import known_beforehand
from .diagnostics import refuse
from .lower.context import Namer
from .phases import GridResult, Owned, Split
from .scans import running
from .slicing import changed, needed, read_first, tainted
from .types import BOOL

if TYPE_CHECKING:
    from .cutting import Cutter


# ---- the pieces of a tile's body, in order -----------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Lanes:
    loop: ir.For


_Item = ir.Stmt | _Lanes


def _contains_pass(s: ir.Stmt) -> bool:
    return any(isinstance(x, ir.Pass) for x in walk.statements((s,)))


def _flat(block: ir.Block, guard: ir.Var | None, namer: Namer) -> list[_Item]:
    """List a tile's body with all passes at the top level. An `if` around a pass becomes a guard inside it."""
    out: list[_Item] = []
    for s in block:
        if isinstance(s, ir.Pass):
            out.append(s if guard is None else replace(s, body=(ir.If(guard, s.body, at=s.at),)))
        elif isinstance(s, ir.If) and _contains_pass(s):
            out.extend(_flat_if(s, guard, namer))
        elif isinstance(s, ir.For) and s.kind == "lanes" and _contains_pass(s):
            # The lanes are an axis of the launch, the same for all tiles, so the guard is put inside.
            out.append(
                _Lanes(s if guard is None else replace(s, body=(ir.If(guard, s.body, at=s.at),)))
            )
        else:
            out.append(s if guard is None else ir.If(guard, (s,), at=s.at))
    return out


def _flat_if(s: ir.If, guard: ir.Var | None, namer: Namer) -> list[_Item]:
    result: list[_Item] = []
    guarded: list[tuple[ir.Var, ir.Block]] = []
    for block, condition in (
        (s.then, s.condition),
        (s.otherwise, ir.Unary("not", s.condition, BOOL)),
    ):
        if block:
            var = ir.Var(namer.fresh("guard"), BOOL)
            held = condition if guard is None else ir.Logic("and", guard, condition)
            result.append(ir.Assign(var, held, s.at))
            guarded.append((var, block))
    # Compute both guards before either branch can change what they read.
    for var, block in guarded:
        result.extend(_flat(block, var, namer))
    return result


def _reads(items: list[_Item]) -> set[ir.Var]:
    """Return the variables that these items read."""
    return walk.variables_read(_block(items))


def _block(items: list[_Item]) -> ir.Block:
    return tuple(item.loop if isinstance(item, _Lanes) else item for item in items)


def _looped_pass(block: ir.Block) -> ir.Pass | None:
    for s in block:
        if isinstance(s, ir.While) or (isinstance(s, ir.For) and s.kind != "lanes"):
            for inner in walk.statements((s,)):
                if isinstance(inner, ir.Pass):
                    return inner
        for nested in walk.blocks(s):
            found = None if isinstance(s, ir.Pass) else _looped_pass(nested)
            if found is not None:
                return found
    return None


# ---- cutting -------------------------------------------------------------------------------------
@dataclass
class _Open:
    """A pass whose `leave` is not known yet."""

    pass_: ir.Pass
    enter: ir.Block
    state: tuple[ir.Var, ...]


@dataclass
class TileCutter:
    """Cuts one loop over tiles at its passes."""

    cutter: Cutter
    loop: ir.TileLoop
    past: list[ir.Stmt] = field(default_factory=list)
    pending: list[ir.Stmt] = field(default_factory=list)
    open: _Open | None = None
    lane: ir.Var | None = None
    lanes: ir.Expr | None = None
    given: set[ir.Var] = field(default_factory=set)  # results of passes, and what depends on them
    grids: list[tuple[GridResult, ...]] = field(default_factory=list)

    def run(self) -> None:
        looped = _looped_pass(self.loop.body)
        if looped is not None:
            assert looped.at is not None
            refuse(
                looped.at,
                "a loop over atoms inside a while or range loop, under a schedule that splits tiles",
                "use a schedule that owns whole tiles, as ThreadMapped, GroupMapped and Lrb do",
            )
        self.past = list(self.cutter.past)
        items = _flat(self.loop.body, None, self.cutter.namer)
        for i, item in enumerate(items):
            if isinstance(item, _Lanes):
                self.close(_reads(items[i:]))
                self.refuse_handed_on(item.loop, items[i + 1 :])
                self.run_lanes(item.loop, _reads(items[i + 1 :]))
            else:
                self.take(item, _reads(items[i + 1 :]))
        self.close(set())
        self.cutter.remember_grid(self.loop.accumulators, self.grids)

    def refuse_handed_on(self, loop: ir.For, later: list[_Item]) -> None:
        """Refuse lanes around a pass that set what another lane, or the code after them, reads."""
        grid = {v for a in self.loop.accumulators for v in a.fields}
        wanted = read_first(loop.body) | read_first(_block(later))
        if changed(loop.body) & wanted - grid - {loop.var}:
            at = loop.at or self.loop.at
            assert at is not None
            refuse(
                at,
                "lanes around a loop over atoms that hand a value on, under a schedule that splits tiles",
                "use a schedule that owns whole tiles, as ThreadMapped, GroupMapped and Lrb do",
            )

    def run_lanes(self, loop: ir.For, later: set[ir.Var]) -> None:
        """Cut the independent lanes around a pass, which are one more axis of the launch."""
        outer = list(self.past)
        self.lane, self.lanes = loop.var, self.lanes_beforehand(loop)
        items = _flat(loop.body, None, self.cutter.namer)
        for i, item in enumerate(items):
            if isinstance(item, _Lanes):
                assert self.loop.at is not None
                refuse(
                    self.loop.at,
                    "ev.lanes inside ev.lanes around a loop over atoms",
                    "one dense axis, or use range()",
                )
            self.take(item, _reads(items[i + 1 :]) | later)
        self.close(later)
        self.past, self.lane, self.lanes = outer, None, None

    def lanes_beforehand(self, loop: ir.For) -> ir.Expr:
        """Return the number of lanes as an expression that the host can compute. Raises LanguageError if it cannot."""
        code, _ = needed(tuple(self.past), walk.variables((loop.stop,)), effects=False)
        values: dict[ir.Var, ir.Expr] = {}

        def inserted(e: ir.Expr) -> ir.Expr:
            return walk.map_expr(e, lambda x: values.get(x) if isinstance(x, ir.Var) else None)

        for s in code:
            if isinstance(s, ir.Assign):
                values[s.var] = inserted(s.value)
        lanes = inserted(loop.stop)
        if not known_beforehand(lanes) or not all(isinstance(s, ir.Assign) for s in code):
            at = loop.at or self.loop.at
            assert at is not None
            refuse(
                at,
                "the number of lanes around a loop over atoms must be known before the launch, under a schedule "
                "that splits tiles",
                "an argument of the kernel, or the length of an array; schedules that own whole tiles, as "
                "ThreadMapped, GroupMapped and Lrb do, take any number",
            )
        return lanes

    def take(self, item: ir.Stmt, later: set[ir.Var]) -> None:
        if not isinstance(item, ir.Pass):
            self.pending.append(item)
            return
        self.close(_reads([item]) | later)
        wanted = walk.variables_read(item.body) | walk.variables(walk.operands(item))
        wanted -= (
            walk.variables_set(item.body)
            | {item.atom, self.loop.tile}
            | ({self.lane} if self.lane else set())
        )
        wanted -= {v for a in (*item.accumulators, *running(item)) for v in a.fields}
        enter, _ = needed(tuple(self.past), wanted, effects=False)
        state = tuple(sorted(wanted, key=lambda v: v.name))
        self.open = _Open(item, enter, state)

    def close(self, later: set[ir.Var]) -> None:
        """Make the pending statements the `leave` of the open pass, or a phase of their own."""
        pending, self.pending = tuple(self.pending), []
        fields = {v for a in self.open.pass_.accumulators for v in a.fields} if self.open else set()
        # What a frontier says of the tiles that are walked does not change during the walk.
        written = {
            a for a in self.cutter.written if not (a.grows and a.path[:-1] == self.loop.path)
        }
        hard = tainted((*self.past, *pending), written, fields | self.given)
        changed = walk.variables_set(pending) | fields
        keep = sorted((hard & changed & later), key=lambda v: v.name)
        stores, loads = self.keep(keep)
        body, before = needed((*pending, *stores), set(), effects=True)
        # What has been added to the grid's totals must not be added again.
        given = fields | {self.loop.tile, *(v for a in self.loop.accumulators for v in a.fields)}
        history, _ = needed(tuple(self.past), before - given, effects=False)
        leave = (*history, *body) if body else ()
        used = self.used_accumulators(body)
        if self.open is not None and (fields or not _meet(self.open, leave)):
            grid = self.cutter.grid_results(used)
            self.emit_split(leave, grid)
        elif self.open is not None:
            # Without a result to wait for, the thread that leaves a tile does not know whether others still walk it.
            self.emit_split((), ())
            self.emit_map(leave, self.cutter.grid_results(used))
        elif body:
            grid = self.cutter.grid_results(used)
            self.emit_map(leave, grid)
        self.past.extend(pending)
        self.past.extend(loads)
        self.given |= fields - set(keep)
        self.given -= set(keep)
        self.open = None

    def keep(self, variables: list[ir.Var]) -> tuple[list[ir.Stmt], list[ir.Stmt]]:
        if not variables:
            return [], []
        if self.lane is None:
            return self.cutter.spill(variables, (self.loop.tile,), "tile", self.loop.path)
        return self.cutter.spill(
            variables, (self.loop.tile, self.lane), "lane", self.loop.path, self.lanes
        )

    def used_accumulators(self, body: ir.Block) -> tuple[ir.Accumulator, ...]:
        used = [s.accumulator for s in walk.statements(body) if isinstance(s, ir.Accumulate)]
        return tuple(a for a in self.loop.accumulators if any(a is u for u in used))

    def emit_split(self, leave: ir.Block, grid: tuple[GridResult, ...]) -> None:
        assert self.open is not None
        o = self.open
        self.cutter.phases.append(
            Split(
                self.loop.layout,
                self.loop.path,
                self.loop.tile,
                self.lane,
                self.lanes,
                o.enter,
                o.state,
                o.pass_,
                leave,
                grid,
                self.loop.at,
            )
        )
        self.grids.append(grid)

    def emit_map(self, body: ir.Block, grid: tuple[GridResult, ...]) -> None:
        """Emit a phase without a pass, which runs effects once for each tile."""
        if self.lane is not None:
            assert self.lanes is not None
            body = (
                ir.For(
                    self.lane,
                    ir.Const(0, self.lane.type),
                    self.lanes,
                    ir.Const(1, self.lane.type),
                    body,
                    "lanes",
                ),
            )
        self.cutter.phases.append(
            Owned(self.loop.layout, self.loop.path, self.loop.tile, (), body, grid, self.loop.at)
        )
        self.grids.append(grid)


def _meet(open_: _Open, leave: ir.Block) -> bool:
    """Whether a pass and the end of its tile conflict: one of them stores what the other reads or stores."""
    walked = (*open_.enter, open_.pass_)
    written, later = walk.arrays_written(walked), walk.arrays_written(leave)
    return bool(written & (walk.arrays_read(leave) | later) or walk.arrays_read(walked) & later)
