"""Cut a program into phases (see `phases`): at passes, for schedules that own whole tiles or split them.

This step comes after lowering, because it needs the finished program, and before the
targets, because all of them launch the same phases.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from . import ir, walk
from .combine import combined
from .diagnostics import LanguageError, Location, refuse
from .invariants import read_once
from .lower.context import Namer
from .phases import GridResult, Lengths, Once, Owned, Phase, Phases, Repeat, Workspace
from .read_later import kept_in_caches
from .scratch import known_lengths, lengths, refuse_split
from .slicing import has_effects, needed, tainted, written_arrays
from .spread import spread
from .tile_cutting import TileCutter
from .types import POS


def cut(
    program: ir.Program, whole: bool, teams: tuple[int, ...] = (), queues: bool = False
) -> Phases:
    """Return the phases of `program` under a schedule that owns whole tiles, or splits them.

    queues: whether tasks are handed out by an engine of their own, instead of in lists.
    teams: the fewest atoms of a tile for each team but the smallest, if the schedule has several: ascending.
    Raises LanguageError if a pass is in a loop, or a local array so large, that only owners of whole tiles can run it,
    or if there are scratch arrays, which need such owners.
    """
    if not queues:
        program = in_lists(program)
    if not whole:
        refuse_split(program)
        return kept_in_caches(Cutter(spread(program), whole).run())
    made, found = Cutter(program, whole).run(), lengths(program, teams)
    made = replace(made, rooms=known_lengths(program, teams))
    return made if found is None else replace(made, lengths=_cut_lengths(*found))


def in_lists(program: ir.Program) -> ir.Program:
    """Return the program with the code that appends to a list in the place of each push."""

    def append(s: ir.Stmt) -> ir.Block | None:
        return s.body if isinstance(s, ir.Push) else None

    return replace(
        program, steps=walk.map_steps(program.steps, lambda block: walk.rewritten(block, append))
    )


def _cut_lengths(
    program: ir.Program, wanted: tuple[tuple[ir.Path, tuple[ir.Accumulator, ...]], ...]
) -> Lengths:
    """Cut the program that computes the lengths of scratch arrays."""
    made = Cutter(program, whole=True).run()
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


@dataclass
class Cutter:
    """Cuts one program. `past`: the statements so far that later phases may compute again."""

    program: ir.Program
    whole: bool
    namer: Namer = field(default_factory=Namer)
    phases: list[Phase] = field(default_factory=list)
    workspaces: list[Workspace] = field(default_factory=list)
    past: list[ir.Stmt] = field(default_factory=list)  # kernel-level
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
            tuple(read_once(phase, self.written, self.namer.fresh) for phase in self.phases),
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
                if step.tasks and not self.whole:
                    refuse(
                        step.at,
                        "a loop over tasks under a schedule that splits tiles",
                        "ev.StaticList() runs them in rounds, each task by a thread; size= by more of them",
                    )
                if self.whole:
                    self.owned(step)
                else:
                    TileCutter(self, step).run()
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
            [*self.past, *before, *end, *loads], head, _read_in(body) | set(carried)
        )
        self.heads[condition] = self.under(loop.condition, (*head, *kept))
        _, tested = needed(
            loop.test, {loop.condition}, effects=True
        )  # at the end of each round, too
        read = (later | _read_in(loop.steps) | tested) - set(carried) - walk.variables_set(head)
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
            Owned(loop.layout, loop.path, loop.tile, prelude, loop.body, grid, loop.at, loop.tasks)
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
