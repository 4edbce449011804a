"""Cut a program into phases (see `phases`): at passes, for schedules that own whole tiles or split them.

This step comes after lowering, because it needs the finished program, and before the
targets, because all of them launch the same phases.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from . import ir, walk
from .beforehand import known_beforehand
from .combine import combined
from .diagnostics import LanguageError, Location, refuse
from .lower.context import Namer
from .phases import GridResult, Lengths, Once, Owned, Phase, Phases, Repeat, Split, Workspace
from .scans import running
from .scratch import lengths, refuse_split
from .slicing import has_effects, needed, tainted, written_arrays
from .spread import spread
from .types import BOOL, POS


def cut(program: ir.Program, whole: bool, teams: tuple[int, ...] = ()) -> Phases:
    """Return the phases of `program` under a schedule that owns whole tiles, or splits them.

    teams: the fewest atoms of a tile for each team but the smallest, if the schedule has several: ascending.
    Raises LanguageError if a pass is in a loop, or a local array so large, that only owners of whole tiles can run it,
    or if there are scratch arrays, which need such owners.
    """
    if not whole:
        refuse_split(program)
        return _Cutter(spread(program), whole).run()
    made, found = _Cutter(program, whole).run(), lengths(program, teams)
    return made if found is None else replace(made, lengths=_cut_lengths(*found))


def _cut_lengths(
    program: ir.Program, wanted: tuple[tuple[ir.Path, tuple[ir.Accumulator, ...]], ...]
) -> Lengths:
    """Cut the program that computes the lengths of scratch arrays."""
    made = _Cutter(program, whole=True).run()
    grids = (g for phase in made.phases if isinstance(phase, Owned) for g in phase.grid)
    arrays = {id(g.accumulator): g.arrays[0] for g in grids}
    results = ((path, tuple(arrays[id(a)] for a in found)) for path, found in wanted)
    return Lengths(made, tuple(results))


def needs_whole_tiles(program: ir.Program) -> Location | None:
    """Return the location of something that needs a schedule with whole tiles, or None."""
    try:
        cut(program, whole=False)
    except LanguageError as refused:
        return refused.location
    return None


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


# ---- cutting -------------------------------------------------------------------------------------
@dataclass
class _Open:
    """A pass whose `leave` is not known yet."""

    pass_: ir.Pass
    enter: ir.Block
    state: tuple[ir.Var, ...]


@dataclass
class _Cutter:
    program: ir.Program
    whole: bool
    namer: Namer = field(default_factory=Namer)
    phases: list[Phase] = field(default_factory=list)
    workspaces: list[Workspace] = field(default_factory=list)
    past: list[ir.Stmt] = field(default_factory=list)  # kernel-level, can be computed again
    written: set[ir.Array] = field(default_factory=set)
    repeats: list[Repeat] = field(default_factory=list)
    heads: dict[ir.Array, ir.Block] = field(default_factory=dict)  # by the condition of their loop

    def run(self) -> Phases:
        self.written = written_arrays(self.program)
        for piece in self.program.pieces:
            self.namer.used |= {
                v.name for v in walk.variables_set(piece.body) | walk.variables_read(piece.body)
            }
        self.steps(self.program.steps, set())
        return Phases(
            self.program.name,
            tuple(self.phases),
            tuple(self.workspaces),
            frozenset(self.written),
            tuple(self.repeats),
        )

    def steps(self, steps: tuple[ir.Step, ...], after: set[ir.Var]) -> None:
        """Take steps in order. after: the variables that are read after all of them."""
        before: ir.Block = ()  # statements that run together with the first test of the loop that follows them
        for i, step in enumerate(steps):
            later = after | _read_in(steps[i + 1 :])
            if isinstance(step, ir.Rounds):
                self.rounds(step, before, later)
                before = ()
            elif isinstance(step, ir.TileLoop):
                if step.layout.items and not self.whole:
                    refuse(
                        step.at,
                        "a loop over items under a schedule that splits tiles",
                        "ev.Nested(ev.BlockMapped(), ev.ThreadMapped()) gives an item to a block, its tiles to threads",
                    )
                if self.whole:
                    self.owned(step)
                else:
                    _TileCutter(self, step).run()
            elif isinstance(next(iter(steps[i + 1 :]), None), ir.Rounds):
                before = step.body
            else:
                self.scalars(step, later)

    def rounds(self, loop: ir.Rounds, before: ir.Block, later: set[ir.Var]) -> None:
        """Take a while around loops over tiles. What a round leaves to the next, or to what follows, is kept.

        It is tested before the first round, together with the statements `before` it, and at the end of each. If there
        is another round, the statements at its head run there, too, so that all of it is one launch.
        """
        head, body = _headed(loop.steps)
        changed = _set_in(loop.steps) & walk.variables_set((*self.past, *before))
        carried = sorted(changed & (later | _read_in((loop,))), key=lambda v: v.name)
        stores, loads = self.spill(carried, (ir.Const(0, POS),), "one")
        condition = self.array(loop.condition, "one")
        test = ir.Store(condition, (ir.Const(0, POS),), loop.condition)
        end = (*stores, *loop.test, test)
        kept, restored = self.kept_of_head(
            [*self.past, *before, *end, *loads], head, _read_in(body)
        )
        self.heads[condition] = self.under(loop.condition, (*head, *kept))
        read = (later | _read_in(loop.steps)) - set(carried) - walk.variables_set(head)
        self.scalars(ir.Scalars((*before, *end)), read)
        past, first = [*self.past, *loads], len(self.phases)
        self.past = [*past, *head, *restored]
        self.steps(_followed(body, end), set())
        self.past = past
        self.repeats.append(Repeat(first, len(self.phases), condition))

    def kept_of_head(
        self, past: list[ir.Stmt], head: ir.Block, later: set[ir.Var]
    ) -> tuple[list[ir.Stmt], list[ir.Stmt]]:
        """Return stores of what the head of a round computes once and the round reads, and the loads of it."""
        hard = tainted((*past, *head), self.written, set()) & walk.variables_set(head) & later
        return self.spill(sorted(hard, key=lambda v: v.name), (ir.Const(0, POS),), "one")

    @staticmethod
    def under(condition: ir.Var, head: ir.Block) -> ir.Block:
        return (ir.If(condition, head),) if has_effects(head) else ()

    def scalars(self, step: ir.Scalars, later: set[ir.Var]) -> None:
        """Take kernel-level statements. They run once if they have effects or cannot be computed again.

        Otherwise they are remembered, and computed again where they are needed.
        """
        hard = (
            tainted((*self.past, *step.body), self.written, set())
            & walk.variables_set(step.body)
            & later
        )
        if not has_effects(step.body) and not hard:
            self.past.extend(step.body)
            return
        spills, loads = self.spill(sorted(hard, key=lambda v: v.name), (ir.Const(0, POS),), "one")
        stored = (s.array for s in step.body if isinstance(s, ir.Store))
        decides = next((a for a in stored if a in self.heads), None)
        head = self.heads[decides] if decides else ()
        body, given = needed((*step.body, *spills, *head), set(), effects=True)
        before, _ = needed(tuple(self.past), given, effects=False)
        self.phases.append(Once((*before, *body), decides))
        self.past.extend(step.body)
        self.past.extend(loads)

    def owned(self, loop: ir.TileLoop) -> None:
        grid = self.grid_results(loop.accumulators)
        prelude, _ = needed(tuple(self.past), walk.variables_read(loop.body), effects=False)
        self.phases.append(
            Owned(loop.layout, loop.path, loop.tile, prelude, loop.body, grid, loop.at)
        )
        self.remember_grid(loop.accumulators, [grid])

    # ---- workspace -----------------------------------------------------------------------------
    def array(
        self, var: ir.Var, extent: str, path: ir.Path = (), lanes: ir.Expr | None = None
    ) -> ir.Array:
        name = self.namer.fresh(f"kept_{var.name}")
        array = ir.Array(name, var.type, 2 if extent == "lane" else 1, ("$", name))
        self.workspaces.append(Workspace(array, extent, path, lanes))
        return array

    def spill(
        self,
        variables: list[ir.Var],
        index: tuple[ir.Expr, ...],
        extent: str,
        path: ir.Path = (),
        lanes: ir.Expr | None = None,
    ) -> tuple[list[ir.Stmt], list[ir.Stmt]]:
        """Return stores that keep variables, and the loads that restore them."""
        stores: list[ir.Stmt] = []
        loads: list[ir.Stmt] = []
        for var in variables:
            array = self.array(var, extent, path, lanes)
            stores.append(ir.Store(array, index, var))
            loads.append(ir.Assign(var, ir.Element(array, index, var.type)))
        return stores, loads

    def grid_results(self, accumulators: tuple[ir.Accumulator, ...]) -> tuple[GridResult, ...]:
        return tuple(
            GridResult(a, tuple(self.array(v, "one") for v in a.fields)) for a in accumulators
        )

    def remember_grid(
        self, accumulators: tuple[ir.Accumulator, ...], parts: list[tuple[GridResult, ...]]
    ) -> None:
        """After a loop over tiles, set its accumulators from the partial results of the phases that contributed."""
        zero = (ir.Const(0, POS),)
        for acc in accumulators:
            results = [r for part in parts for r in part if r.accumulator is acc]
            first = True
            for result in results:
                loads = tuple(ir.Element(a, zero, a.dtype) for a in result.arrays)
                if first:
                    self.past.extend(
                        ir.Assign(v, e, acc.at) for v, e in zip(acc.fields, loads, strict=True)
                    )
                else:
                    more = tuple(ir.Var(self.namer.fresh(v.name), v.type) for v in acc.fields)
                    self.past.extend(
                        ir.Assign(v, e, acc.at) for v, e in zip(more, loads, strict=True)
                    )
                    body, total = combined(acc, acc.fields, more)
                    held = tuple(ir.Var(self.namer.fresh(v.name), v.type) for v in acc.fields)
                    self.past.extend(
                        (*body, *(ir.Assign(h, e) for h, e in zip(held, total, strict=True)))
                    )
                    self.past.extend(ir.Assign(v, h) for v, h in zip(acc.fields, held, strict=True))
                first = False
            if not results:  # a loop that never contributes
                self.past.extend(
                    ir.Assign(v, e) for v, e in zip(acc.fields, acc.identity, strict=True)
                )


def _read_in(steps: tuple[ir.Step, ...]) -> set[ir.Var]:
    return {v for piece in ir.pieces(steps) for v in walk.variables_read(piece.body)}


def _set_in(steps: tuple[ir.Step, ...]) -> set[ir.Var]:
    """Return the variables of the kernel itself that these steps set."""
    found: set[ir.Var] = set()
    for piece in ir.pieces(steps):
        if isinstance(piece, ir.TileLoop):
            found |= {v for a in piece.accumulators for v in a.fields}
        else:
            found |= walk.variables_set(piece.body)
    return found


def _headed(steps: tuple[ir.Step, ...]) -> tuple[ir.Block, tuple[ir.Step, ...]]:
    """Return the statements before the first loop over tiles of a round, and the steps after them."""
    first, *rest = steps
    if isinstance(first, ir.Scalars) and rest and isinstance(rest[0], ir.TileLoop):
        return first.body, tuple(rest)
    return (), steps


def _followed(steps: tuple[ir.Step, ...], block: ir.Block) -> tuple[ir.Step, ...]:
    """Return the steps with `block` after them, in one launch with the statements at their end."""
    *first, last = steps
    if isinstance(last, ir.Scalars):
        return (*first, ir.Scalars((*last.body, *block)))
    return (*steps, ir.Scalars(block))


@dataclass
class _TileCutter:
    """Cuts one loop over tiles at its passes."""

    cutter: _Cutter
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
                self.run_lanes(item.loop, _reads(items[i + 1 :]))
            else:
                self.take(item, _reads(items[i + 1 :]))
        self.close(set())
        self.cutter.remember_grid(self.loop.accumulators, self.grids)

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
        if self.open is not None and (fields or not meet(self.open, leave)):
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


def meet(open_: _Open, leave: ir.Block) -> bool:
    """Whether a pass and the end of its tile conflict: one of them stores what the other reads or stores."""
    walked = (*open_.enter, open_.pass_)
    written, later = walk.arrays_written(walked), walk.arrays_written(leave)
    return bool(written & (walk.arrays_read(leave) | later) or walk.arrays_read(walked) & later)


def _reads(items: list[_Item]) -> set[ir.Var]:
    """Return the variables that these items read."""
    out: set[ir.Var] = set()
    for item in items:
        block = (item.loop,) if isinstance(item, _Lanes) else (item,)
        out |= walk.variables_read(block)
    return out
