"""The owned engine: a thread or a group owns whole tiles, as the schedule's methods say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from evenly.gpus.gpu import Gpu
from evenly.language import ir, walk
from evenly.language.phases import Owned
from evenly.language.scans import has_scans
from evenly.language.schedule_code import ScheduleCode, schedule_code
from evenly.language.types import POS
from evenly.schedules.contract import Sizes, check_groups, items_of, run_of
from evenly.schedules.thread_mapped import ThreadMapped
from evenly.targets.printing.statements import Over

from ..emit.code import PhaseCode
from ..emit.owner import Owner, strided
from ..emit.processor import define_processor
from ..emit.statements import given_loop, range_head
from ..emit.totals import Totals, partials
from ..emit.unit import Unit, device_counts
from ..engine import Counts, Engine
from ..sizing import ONE, Sizing


class OwnedEngine(Engine):
    """Runs the schedule's own `tiles` and `atoms`."""

    runs_methods = True
    on_cpu = "methods"

    def emit(self, unit: Unit, phase: Owned, name: str) -> PhaseCode:
        schedule: Any = unit.schedule if phase.has_pass else ThreadMapped()
        size = schedule.size if schedule.owner == "group" else 1
        code = schedule_code(schedule, unit.layouts[phase.path], phase.path)
        check_groups(schedule, code.groups, *code.exchanging)
        text = unit.text(phase)
        totals = Totals(text, phase.grid)
        run = run_of(schedule)
        in_order = run > 1 or has_scans(phase.body)
        atoms = strided(phase.layout, size, ir.Const(size, POS)) if in_order else code.atoms
        given = totals.names, phase.body, walks_all_groups(code)
        writer = Owner(text, size, items_of(schedule), run, atoms, *given)
        writer.declared.update(totals.names)
        define_processor(writer, code, size, schedule.block)
        totals.start(writer)
        alone = schedule.covers and not device_counts(phase.layout)
        _tile_loop(writer, phase, code, size, alone)
        totals.reduce(writer, schedule.block)
        kernel = unit.kernel(
            name,
            schedule.block,
            "tiles",
            text.references,
            [*totals.structs, *writer.structs],
            writer.lines,
            totals.parameters,
            min_blocks=writer.min_blocks(schedule.block),
        )
        kernels = (kernel, *totals.final(unit, name, schedule.block))
        return PhaseCode(kernels, partial(self.sizing, schedule, totals.words), phase.path)

    def sizing(self, schedule: Any, grid_words: int, sizes: Sizes, lanes: int, gpu: Gpu) -> Sizing:
        blocks = self.blocks(schedule, sizes, gpu)
        grids = {"tiles": (blocks, 1), "one": ONE}
        return Sizing(grids, {"all_lanes": blocks}, partials(blocks, grid_words))

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts] | None:
        if not schedule.covers:
            return None
        return getattr(schedule, "size", 1), np.diff(offsets)  # one tile each


def _tile_loop(writer: Owner, phase: Owned, code: ScheduleCode, size: int, alone: bool) -> None:
    """Write the loop over tiles, with its prelude. alone: a thread or group has at most one tile."""
    text = writer.text
    writer.at = phase.at
    if size > 1:
        writer.line("if (team.present()) {")
        writer.depth += 1
    writer.block(phase.prelude)
    writer.block(code.setup)
    writer.tile = phase.tile
    name = text.var(phase.tile)
    writer.declared.add(phase.tile)

    def given(over: Over) -> None:
        with given_loop(writer, name, over):
            writer.block(phase.body)

    if code.tiles.results:
        writer.block(code.tiles.body)
        with _tiles(writer, name, code.tiles.results, alone, reads_at_tile(phase.body)):
            writer.block(phase.body)
    else:
        writer.generate(code.tiles.body, given)
    if size > 1:
        writer.depth -= 1
        writer.line("}")
    writer.at = None


@contextmanager
def _tiles(
    writer: Owner, name: str, over: tuple[ir.Expr, ...], alone: bool, reads: bool
) -> Iterator[None]:
    """Open the loop over tiles.

    If the writer is converged, all groups of a warp make the same number of iterations, and in the last one some may
    have no tile. If the body `reads` memory at tile level, such a group computes on the last tile, but stores nothing.
    If `alone`, there is no loop: around the loops over atoms, it made ptxas unroll those in a slower way.
    """
    start, stop, step = (writer.text.expr(e) for e in over)
    if not writer.converged:
        loop = range_head("pos", name, start, stop, step, over[2])
        one = f"if (const pos {name} = {start}; {name} < {stop})"
        with writer.compound(one if alone and writer.size == 1 else loop):
            yield
        return
    first = writer.text.unique("first")
    own = start if alone else f"{first} + team.in_warp_rank()"
    with writer.compound(
        ""
        if alone
        else f"for (pos {first} = {start} - team.in_warp_rank(); {first} < {stop}; {first} += {step})"
    ):
        writer.line(f"const bool live = {own} < {stop};")
        writer.line(f"const pos {name} = {f'live ? {own} : {stop} - 1' if reads else own};")
        yield


def walks_all_groups(code: ScheduleCode) -> bool:
    """Whether groups walk the tiles in turn: range(group.index, n, group.count), with the same n for all groups."""
    if not code.tiles.results:
        return False
    start, stop, step = code.tiles.results
    behind = [*walk.subexpressions(stop), *walk.expressions(code.tiles.body)]
    return (
        not any(isinstance(e, ir.Processor | ir.Peer) or e in code.state for e in behind)
        and isinstance(start, ir.Processor)
        and start.what == "group_index"
        and isinstance(step, ir.Processor)
        and step.what == "group_count"
    )


def reads_at_tile(body: ir.Block) -> bool:
    """Whether the body reads memory at tile level, outside its passes over atoms."""
    outside = tuple(s for s in body if not isinstance(s, ir.Pass))
    return any(isinstance(e, ir.Element) for e in walk.expressions(outside))
