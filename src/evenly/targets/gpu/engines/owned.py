"""The owned engine: a thread or a group owns whole tiles, as the schedule's methods say."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from evenly.gpus.gpu import Gpu
from evenly.language import ir
from evenly.language.phases import Owned
from evenly.language.scans import has_scans
from evenly.language.schedule_code import schedule_code
from evenly.language.types import POS
from evenly.schedules.contract import Sizes, check_groups, items_of, run_of
from evenly.schedules.group_mapped import groups_in_block
from evenly.schedules.nested import levels, staging
from evenly.schedules.thread_mapped import ThreadMapped

from ..emit.code import Counted, PhaseCode
from ..emit.dense import dense_of
from ..emit.items import TilesOfItem
from ..emit.owner import Owner, stages_in, strided
from ..emit.processor import define_processor
from ..emit.scratch import Shares, needs_of
from ..emit.several import SEVERAL, Several
from ..emit.tile_loop import tile_loop, walks_all_groups
from ..emit.totals import Totals, partials
from ..emit.unit import Unit, device_counts
from ..engine import Counts, Division, Engine
from ..sizing import ONE, Sizing
from . import engine_of


class OwnedEngine(Engine):
    """Runs the schedule's own `tiles` and `atoms`."""

    runs_methods = True
    on_cpu: ClassVar[Division] = "methods"

    def emit(self, unit: Unit, phase: Owned, name: str) -> PhaseCode:
        schedule, inner = levels(unit.schedule if phase.has_pass else ThreadMapped())
        size = schedule.size if schedule.owner == "group" else 1
        items, spec = phase.layout.items, unit.layouts[phase.path]
        code = schedule_code(schedule, spec, phase.path, items)
        check_groups(schedule, code.groups, *code.exchanging)
        text = unit.text(phase)
        totals = Totals(text, phase.grid)
        run = run_of(schedule)
        in_order = run > 1 or has_scans(phase.body)
        atoms = strided(phase.layout, size, ir.Const(size, POS)) if in_order else code.atoms
        several = self.several(schedule) if phase.has_pass else None
        needs = {} if several else needs_of(phase.body, size, schedule.block)
        arrays = stages_in(phase.body) + (len(phase.scratch) - len(needs) if items else 0)
        near = staging(unit.schedule, arrays, sum(needs.values()) if items else 0)
        dense = dense_of(schedule, phase, size, owned=True)
        given = totals.names, phase.body, walks_all_groups(code), near, dense
        writer = Owner(text, size, items_of(schedule), run, atoms, *given)
        writer.several = several
        if items:
            within = inner, engine_of(inner), schedule.block, (SEVERAL if several else size,)
            writer.over_tiles = TilesOfItem(writer, unit, phase, *within)
        writer.declared.update(totals.names)
        define_processor(writer, code, size, schedule.block)
        if dense and size == 1:
            writer.line(f"const ev::group<1, {schedule.block}> team;")
        totals.start(writer)
        each = near * groups_in_block(size, schedule.block) if items and size > 1 else None
        each = 0 if several else each
        team = "team" if size > 1 else ""
        writer.shares = Shares(schedule.block, phase.scratch, team, each, needs)
        # With scratch arrays there may be fewer blocks than the tiles ask for.
        alone = schedule.covers and not (device_counts(phase.layout) or phase.scratch)
        tile_loop(writer, phase, code, size, alone)
        if several:
            several.end(writer)
        totals.reduce(writer, schedule.block)
        kernel = unit.kernel(
            name,
            schedule.block,
            "tiles",
            text.references,
            [*(several.constants if several else []), *totals.structs, *writer.structs],
            writer.lines,
            [*totals.parameters, *(several.parameters if several else [])],
            min_blocks=writer.min_blocks(schedule.block),
            cooperative=several is not None,
            facts=tuple(writer.facts.found),
        )
        kernels = (kernel, *totals.final(unit, name, schedule.block))
        sizing = partial(self.sizing, schedule, totals.words, device_counts(phase.layout))
        launched = kernels, several.sizing(sizing) if several else sizing, phase.path
        counts: Counted = "items" if items else "tiles"
        return PhaseCode(
            *launched,
            counts=counts,
            scratch=phase.scratch,
            teams=(size,),
            shared=frozenset(needs),
        )

    def several(self, schedule: Any) -> Several | None:
        """Return the teams of several blocks that own tiles; None: a thread or a group owns a tile."""
        return None

    def sizing(
        self, schedule: Any, grid_words: int, bounded: bool, sizes: Sizes, lanes: int, gpu: Gpu
    ) -> Sizing:
        """Compute how a phase is launched. bounded: by what a GPU runs at once, since only the device knows the counts.

        Of the blocks for as many tiles as there may be, most would find none.
        """
        blocks = self.blocks(schedule, sizes, gpu)
        if bounded:
            blocks = min(blocks, gpu.at_once(schedule.block))
        grids = {"tiles": (blocks, 1), "one": ONE}
        return Sizing(grids, {"all_lanes": blocks}, partials(blocks, grid_words))

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts] | None:
        if not schedule.covers:
            return None
        return getattr(schedule, "size", 1), np.diff(offsets)  # one tile each
