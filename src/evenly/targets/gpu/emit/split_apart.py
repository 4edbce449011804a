"""Split phases whose atoms have a dense axis each, and nothing in common (device/split_apart.cuh)."""

from __future__ import annotations

from typing import Any

from evenly.language import ir
from evenly.language.phases import Split
from evenly.schedules.contract import lanes_of

from .contended import contended
from .dense import Dense, may_lie_inside
from .expressions import Text
from .owner import Owner
from .shared_lanes import reduced
from .unit import device_counts

AT_ONCE = 2  # atoms of a team whose loads are in flight together, at most


def apart_split(schedule: Any, phase: Split) -> Dense | None:
    """Return how teams of a block lie along the axes of a phase's atoms, which its blocks split.

    None: a thread walks the axis of an atom, since there is none, or atoms have something in common.
    """
    lanes, vector = lanes_of(schedule)
    if lanes * vector == 1 or not _apart(phase):
        return None
    return Dense(lanes, vector, phase.layout, False, True)


def _apart(phase: Split) -> bool:
    """Whether the atoms of a phase have nothing in common, each with a dense axis of its own."""
    return (
        phase.lane is None
        and not (phase.pass_.accumulators or phase.scans or phase.grid or phase.leave)
        and not device_counts(phase.layout)
        and may_lie_inside(phase.pass_, contended(phase))
    )


def moves_rows(step: ir.TileLoop) -> bool:
    """Whether a loop over tiles is such a phase, and nothing is reduced along the axes, as in a copy of rows."""
    *before, last = step.body or (None,)
    if not isinstance(last, ir.Pass) or last.of is not None:
        return False
    plain = all(isinstance(s, ir.Assign) and not s.var.length for s in before)
    phase = Split(step.layout, step.path, step.tile, None, None, tuple(before), (), last, (), ())
    loops = (s for s in last.body if isinstance(s, ir.For) and s.kind == "lanes")
    alone = not (step.accumulators or step.layout.items or any(map(reduced, loops)))
    return plain and alone and _apart(phase)


class SplitApart:
    """Writes the main kernel of such a phase, except for its first line, which says what `phase` is.

    kind: the phase, the size of a block, its items and the rule, as C++ text.
    """

    def __init__(self, text: Text, phase: Split, dense: Dense, kind: str) -> None:
        self.text, self.phase, self.dense, self.kind = text, phase, dense, kind
        self.body = *phase.enter, phase.pass_
        atoms = ir.Inline((), (), ())  # the engine's own
        self.writer = Owner(text, dense.lanes, AT_ONCE, 1, atoms, {}, self.body, False, dense=dense)
        self.writer.clips = text.unique("own")

    def min_blocks(self, block: int) -> int:
        return self.writer.min_blocks(block)

    def lines(self, block: int) -> list[str]:
        """Return the lines. block: the threads of a block."""
        writer, own, tile = self.writer, self.writer.clips, self.text.var(self.phase.tile)
        writer.line(f"const ev::group<{self.dense.lanes}, {block}> team;")
        writer.line(
            f"ev::team_atoms<{self.kind}, {self.dense.lanes}> {own}(phase, team, first_tile);"
        )
        writer.tile = self.phase.tile
        writer.declared.add(self.phase.tile)
        steps = f"pos {tile} = {own}.first(); {own}.goes_on(); {tile} = {own}.after({tile})"
        with writer.compound(f"for ({steps})"):
            writer.block(self.body)
        return list(writer.lines)
