"""Phases: the parts of a program that targets launch, one after the other. `cutting` makes them.

If a schedule owns whole tiles, a loop over tiles is one phase, with all its passes. If it
splits tiles, each pass is a phase of its own, in three pieces: `enter` (what the pass reads,
computed anew by every processor that works on the tile), the pass, and `leave` (what happens
once, when the tile is complete). Values that a later phase needs, and that cannot be computed
again, are stored in workspace arrays, one entry for each tile.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from . import ir, walk
from .diagnostics import Location
from .scans import has_scans
from .scratch import scratch_in


@dataclass(frozen=True, slots=True)
class Workspace:
    """An array that the plan provides. `extent`: one entry for each tile, for each tile and lane, or one in all."""

    array: ir.Array
    extent: str  # tile | lane | one
    layout: ir.Path = ()
    lanes: ir.Expr | None = None


@dataclass(frozen=True, slots=True)
class GridResult:
    """Where the fields of a finished grid accumulator are stored."""

    accumulator: ir.Accumulator
    arrays: tuple[ir.Array, ...]


@dataclass(frozen=True, slots=True)
class Owned:
    """A loop over tiles, each run whole. `prelude` runs once on each processor. Without a pass, atoms do not matter."""

    layout: ir.LayoutCode
    path: ir.Path
    tile: ir.Var
    prelude: ir.Block
    body: ir.Block
    grid: tuple[GridResult, ...]
    at: Location | None = field(default=None, compare=False)
    tasks: ir.TaskCode | None = None

    @property
    def has_pass(self) -> bool:
        return any(isinstance(s, ir.Pass) for s in walk.statements(self.body))

    @property
    def makes_tasks(self) -> bool:
        """Whether tasks are handed out while they are made, instead of in lists."""
        return any(isinstance(s, ir.Push) for s in walk.statements(self.body))

    @property
    def scratch(self) -> tuple[ir.Array, ...]:
        """The scratch arrays of a tile."""
        return tuple(s.array for s in scratch_in(self.body))


@dataclass(frozen=True, slots=True)
class Split:
    """One pass, in three pieces. `state`: the variables that `enter` computes and the pass reads."""

    layout: ir.LayoutCode
    path: ir.Path
    tile: ir.Var
    lane: ir.Var | None
    lanes: ir.Expr | None
    enter: ir.Block
    state: tuple[ir.Var, ...]
    pass_: ir.Pass
    leave: ir.Block
    grid: tuple[GridResult, ...]
    at: Location | None = field(default=None, compare=False)

    @property
    def needs_tile(self) -> bool:
        return bool(self.state) or self.tile in walk.variables_read(self.pass_.body)

    @property
    def has_effects(self) -> bool:
        return self.scans or any(
            isinstance(s, ir.EFFECTS) for s in walk.statements(self.pass_.body)
        )

    @property
    def scans(self) -> bool:
        return has_scans(self.pass_.body)


@dataclass(frozen=True, slots=True)
class Once:
    """Statements outside all loops over tiles: one thread runs them.

    decides: the condition that they set, whose loop comes next or begins again.
    """

    body: ir.Block
    decides: ir.Array | None = None


Phase = Owned | Split | Once


@dataclass(frozen=True, slots=True)
class Repeat:
    """The phases from number `first` to `last - 1`, which are repeated while the element of `condition` is true.

    Both the phase before them and the last of them set it.
    """

    first: int
    last: int
    condition: ir.Array


@dataclass(frozen=True, slots=True)
class Loop:
    """A `Repeat` as a tree: the numbers of its phases, and the loops inside it."""

    condition: ir.Array
    body: tuple[int | Loop, ...]


@dataclass(frozen=True)
class Phases:
    """The phases of a program, in order. repeats: the loops around some of them, which may nest.

    rooms: the lengths of scratch arrays that are constants, one for the tiles of each team.
    lengths: how long the others get; None: there are none.
    """

    name: str
    phases: tuple[Phase, ...]
    workspaces: tuple[Workspace, ...]
    written: frozenset[ir.Array]
    repeats: tuple[Repeat, ...] = ()
    rooms: tuple[tuple[ir.Path, tuple[int, ...]], ...] = ()
    lengths: Lengths | None = None

    def order(self, holds: Callable[[ir.Array], bool]) -> Iterator[int]:
        """Yield the number of each phase when its turn comes. holds: reads a condition, as the last phase left it."""
        return _order(self.nested, holds)

    def running(self, number: int) -> ir.Array | None:
        """Return the condition of the loop around a phase; None if there is none, or if loops are in that one, too."""
        around = [r for r in self.repeats if r.first <= number < r.last]
        if not around:
            return None
        inner = min(around, key=lambda r: r.last - r.first)
        within = (r for r in self.repeats if r is not inner)
        holds = any(inner.first <= r.first and r.last <= inner.last for r in within)
        return None if holds else inner.condition

    @functools.cached_property
    def growing(self) -> dict[int, list[Workspace]]:
        """The workspaces that grow in a run, by the numbers of the phases whose tiles they are for."""
        return {
            number: [w for w in self.workspaces if w.extent != "one" and w.layout == phase.path]
            for number, phase in enumerate(self.phases)
            if not isinstance(phase, Once) and self.changes_counts(phase)
        }

    def changes_counts(self, phase: Phase) -> bool:
        """Whether the program itself changes how many tiles the phase walks: those of a frontier."""
        if isinstance(phase, Once):
            return False
        read = (
            walk.inline_expressions(c) for c in (phase.layout.num_tiles, phase.layout.num_atoms)
        )
        return any(isinstance(e, ir.Element) and e.array in self.written for x in read for e in x)

    @functools.cached_property
    def nested(self) -> tuple[int | Loop, ...]:
        """The numbers of the phases, with those that are repeated in loops."""
        return _nested(0, len(self.phases), self.repeats)

    @property
    def outputs(self) -> frozenset[ir.Path]:
        """The paths of the arguments that the program stores into."""
        return frozenset(a.path for a in self.written if not a.own)

    @property
    def stored(self) -> frozenset[ir.Path]:
        """The paths of all arrays that the program stores into, scratch arrays, too."""
        return frozenset(a.path for a in self.written)


@dataclass(frozen=True)
class Lengths:
    """What computes the greatest length of each scratch array, before the program runs.

    results: for the path of each scratch array, the workspace arrays of one element that get its lengths: one for the
    tiles of each team (`cut`).
    """

    phases: Phases
    results: tuple[tuple[ir.Path, tuple[ir.Array, ...]], ...]


def _nested(first: int, last: int, repeats: tuple[Repeat, ...]) -> tuple[int | Loop, ...]:
    parts: list[int | Loop] = []
    number = first
    while number < last:
        around = next((r for r in repeats if r.first == number), None)
        if around is None:
            parts.append(number)
            number += 1
        else:
            inner = tuple(r for r in repeats if around.first < r.first < around.last)
            parts.append(Loop(around.condition, _nested(around.first, around.last, inner)))
            number = around.last
    return tuple(parts)


def _order(parts: tuple[int | Loop, ...], holds: Callable[[ir.Array], bool]) -> Iterator[int]:
    for part in parts:
        if isinstance(part, Loop):
            while holds(part.condition):
                yield from _order(part.body, holds)
        else:
            yield part
