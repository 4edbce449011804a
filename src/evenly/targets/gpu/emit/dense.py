"""Loops over lanes around and inside of passes, along which threads of a team may lie: how, and whether they may."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenly.language import ir, walk
from evenly.language.dense import (
    around_passes,
    by_columns,
    has_lanes_inside,
    inside_passes,
    without_stores,
)
from evenly.language.phases import Owned
from evenly.schedules.contract import lanes_of

from .shared_lanes import reduced, stores_apart
from .statements import fields_of

if TYPE_CHECKING:
    from .owner import Owner


TEAMS = 8  # registers of an engine that hands out tiles, beside those of a tile's code


@dataclass(frozen=True, slots=True)
class Dense:
    """How a team lies along a dense axis: `lanes` of its threads, each with `vector` columns at a time.

    layout: that of the tiles. folds: whether several threads of a team may share the atoms of a column. owned: whether
    the kernel has the code of a tile once, in a loop of its own.
    """

    lanes: int
    vector: int
    layout: ir.LayoutCode
    folds: bool
    owned: bool

    @property
    def along(self) -> str:
        """The team along the axis, as C++ text."""
        return f"ev::along<{self.lanes}, {self.vector}>(team)"

    @property
    def beside(self) -> int:
        """The registers that a thread needs beside those of a tile's code."""
        return 0 if self.owned else TEAMS


def dense_of(schedule: Any, phase: Owned, size: int, owned: bool = False) -> Dense | None:
    """Return how teams of up to `size` threads lie along the lanes of a phase; None: not at all."""
    axis = any(isinstance(x, ir.For) and x.kind == "lanes" for x in walk.statements(phase.body))
    used = axis and phase.has_pass and not phase.layout.items
    lanes, vector = lanes_of(schedule) if used else (1, 1)
    if lanes * vector == 1:
        return None
    return Dense(lanes, vector, phase.layout, size > lanes, owned)


def may_spread(writer: Owner, loop: ir.For, outside: Set[ir.Var]) -> bool:
    """Whether the threads of a team may lie along this loop. outside: the variables from outside it."""
    return (
        writer.dense is not None
        and any(s is loop for s in around_passes((loop,)))
        and (by_columns(loop) or has_lanes_inside(loop))
        and outside.isdisjoint(walk.variables_set(loop.body))
        and stores_apart(without_stores(loop))
        and _arrays_apart(writer, loop)
    )


def may_lie_inside(s: ir.Pass, contended: Set[ir.Path]) -> bool:
    """Whether the threads of a team may lie along the loops over lanes of a pass.

    contended: the arrays of which several processors may access an element.
    """
    loops = list(inside_passes((s,)))
    fields = set(fields_of(s.accumulators))
    touched = walk.arrays_touched(s.body)
    return (
        bool(loops)
        and all(stores_apart(x) for x in loops)
        and not any(v in fields for x in loops for a in reduced(x) for v in a.fields)
        and not any(a.own or a.staged or a.path in contended for a in touched)
        and walk.arrays_written(s.body).isdisjoint(walk.arrays_read(s.body))
    )


def _arrays_apart(writer: Owner, loop: ir.For) -> bool:
    """Whether no thread reads what another one stores in the loop: after its last pass, or the same for all lanes."""
    last, rest_of_loop = parts_of(loop)[-1], without_stores(loop).body
    rest = walk.rewritten(
        writer.body,
        lambda s: rest_of_loop[: len(rest_of_loop) - len(last)] if s is loop else None,
    )
    stored = walk.arrays_written(loop.body)
    private = not any(a.own or a.staged for a in walk.arrays_touched(loop.body))
    alone = all(a.path not in writer.text.contended for a in walk.arrays_written(rest_of_loop))
    return private and alone and stored.isdisjoint(walk.arrays_touched(rest))


def parts_of(loop: ir.For) -> list[ir.Block]:
    """Return the code before the first pass of a loop, between passes, and after the last one."""
    parts: list[ir.Block] = [()]
    for s in loop.body:
        if isinstance(s, ir.Pass):
            parts.append(())
        else:
            parts[-1] = (*parts[-1], s)
    return parts
