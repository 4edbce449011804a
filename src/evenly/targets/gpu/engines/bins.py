"""The bins engine: sort tiles by the logarithm of their size, for teams of four widths (device/bins.cuh)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from evenly.gpus.gpu import WARP, Gpu
from evenly.language.phases import Owned
from evenly.language.schedule_code import work_code
from evenly.schedules.contract import Sizes, ceil_div
from evenly.schedules.nested import levels

from ..emit.code import PartitionCode, PhaseCode
from ..emit.layout_struct import position_function
from ..emit.parameters import Parameter, struct_members, struct_values
from ..emit.several import Several
from ..emit.totals import partials
from ..emit.unit import Unit, device_counts
from ..engine import Counts, Teams
from ..sizing import ONE, Buffer, Sizing
from .counting import BINS, MOST_BLOCKS, STEPS, WARPS, counting
from .handed_out import WIDTH, HandedOut, HandedOutEngine

HUGE = 1 << 13  # atoms of a tile that all blocks share, if these have nothing to tell each other
TILE_BINS = Parameter("buffer", "pos*", name="tile_bins")


class BinsEngine(HandedOutEngine):
    """The bins engine. A team is a thread, a group of `lanes` threads, a warp or a block.

    `thread`, `group` and `warp`: a tile of this length or more goes to the next wider team.
    """

    parameters = ("block", "lanes", "thread", "group", "warp")
    rounds = 4  # the longest tiles come first

    def emit(self, unit: Unit, phase: Owned, name: str) -> PhaseCode:
        schedule: Any = levels(unit.schedule)[0]
        block, several, apart = schedule.block, self.several(schedule), False
        made = HandedOut(unit, phase, schedule.lanes, WIDTH, "team.walks()", several)
        bins = [first_bin(n) for n in (schedule.warp, schedule.group, schedule.thread)]
        kind: list[Any] = [block, schedule.lanes, *bins, made.converged, "pos"]
        given = f"tile_bins, {made.num_tiles()}, bin_warps"
        if several:
            first = first_bin(schedule.grid)
            several.begin(made.writer)
            made.writer.line(f"ev::walk_huge<{first}>({given}, {several.name}, tile);")
            several.end(made.writer)
            kind.append(first)
        elif apart := _apart(made):
            first = first_bin(max(HUGE, schedule.warp))
            made.writer.line(f"const ev::crowd<{block}> all_blocks;")
            made.writer.line(f"ev::walk_huge<{first}>({given}, all_blocks, tile);")
            kind.append(first)
        made.writer.line(f"ev::walk_bins<{', '.join(map(str, kind))}>({given}, tile);")
        made.totals.reduce(made.writer, block)
        sorted_tiles = Parameter("buffer", "const pos* __restrict__", name="tile_bins")
        main = made.kernel(name, [sorted_tiles, WARPS])
        counted = unit.position, device_counts(phase.layout), apart
        sizing = partial(self.sizing, schedule, made.totals.words, *counted)
        return PhaseCode(
            (main, *made.totals.final(unit, name, block)),
            several.sizing(sizing) if several else sizing,
            phase.path,
            partition=bins_of(unit, phase, name),
            counts="work" if phase.layout.items else "tiles",
            scratch=made.scratch,
            teams=made.teams,
        )

    def several(self, schedule: Any) -> Several | None:
        """Return the team of all blocks, if the schedule has one."""
        if getattr(schedule, "grid", 0):
            return Several(schedule.block, "ev::block_count()", name="all_together")
        return None

    def blocks(self, schedule: Any, sizes: Sizes, gpu: Gpu) -> int:
        if getattr(schedule, "grid", 0):  # all of them may walk one item
            return gpu.together(schedule.block)
        return super().blocks(schedule, sizes, gpu)

    def sizing(
        self,
        schedule: Any,
        grid_words: int,
        position: int,
        bounded: bool,
        apart: bool,
        sizes: Sizes,
        lanes: int,
        gpu: Gpu,
    ) -> Sizing:
        """Compute how a phase is launched. bounded: see OwnedEngine.sizing. apart: whether blocks share huge tiles."""
        # Of no tiles nobody makes bins.
        blocks = self.blocks(schedule, sizes, gpu) if sizes.num_tiles else 0
        if apart and blocks:
            block = schedule.block
            blocks = max(blocks, min(gpu.at_once(block), ceil_div(sizes.num_atoms, block)))
        if bounded:
            blocks = min(blocks, gpu.at_once(schedule.block))
        bins = counting(sizes, gpu.multiprocessors if bounded else MOST_BLOCKS)
        return Sizing(
            {"tiles": (blocks, 1), **bins.grids, "one": ONE},
            {"all_lanes": blocks, **bins.counts},
            (
                Buffer("tile_bins", bins.places * position, position, "partition"),
                *partials(blocks, grid_words),
            ),
        )

    def teams(self, schedule: Any, offsets: Counts, blocks: int) -> Teams:
        """Blocks take the longest tiles first, in turn. A block takes one tile, or one for each of its teams."""
        bits = np.frexp(np.diff(offsets))[1]
        order = np.argsort(-bits, kind="stable")
        longest = [-n.bit_length() for n in (schedule.warp, schedule.group, schedule.thread)]
        cuts = np.searchsorted(-bits[order], longest, "right")
        counts = np.diff(cuts, prepend=0, append=len(order)).tolist()
        widths = schedule.block, WARP, schedule.lanes, 1
        places, unit = [], 0
        for size, tiles in zip(widths, counts, strict=True):
            turn, team = np.divmod(np.arange(tiles), schedule.block // size)
            places.append((unit + turn) % max(blocks, 1) * schedule.block + team * size)
            unit += ceil_div(tiles, schedule.block // size)
        return Teams(order, np.concatenate(places), np.repeat(widths, counts))


def _apart(made: HandedOut) -> bool:
    """Whether a tile is one pass whose atoms have nothing in common, each with a dense axis of its own."""
    phase = made.phase
    alone = len(phase.body) == 1 and not (phase.grid or phase.scratch or phase.layout.items)
    return alone and made.writer.dealt


def first_bin(atoms: int) -> int:
    """Return the first bin whose tiles have fewer than `atoms` atoms; `atoms` is a power of two."""
    return BINS - atoms.bit_length()


def bins_of(unit: Unit, phase: Owned, name: str) -> PartitionCode:
    """Emit the kernels that sort the tiles of a phase's layout by length, or its items by work.

    A plan keeps the bins if the host knows the counts.
    """
    text, layout = unit.text(), phase.layout
    if layout.items:
        layout = work_code(unit.layouts[phase.path], phase.path)
    asked = {"num_tiles": layout.num_tiles, "begin": layout.begin, "end": layout.end}
    functions = [
        line for n, code in asked.items() for line in position_function(text, n, code, phase.at)
    ]
    members = struct_members(text.references, unit.written, False)
    struct = ["struct Tiles {", f"  {unit.position_type}", *members, *functions, "};"]
    tiles = f"  const Tiles tiles{{{struct_values(text.references)}}};"
    kept = not device_counts(layout)
    kernels = tuple(
        unit.kernel(
            f"{name}_{step}",
            block,
            grid,
            text.references,
            struct,
            [tiles, f"  ev::{step}(tiles, tile_bins{more});"],
            [TILE_BINS, *([WARPS] if more else [])],
            views=False,
            always=kept,
        )
        for step, block, grid, more in STEPS
    )
    return PartitionCode(kernels, "tile_bins", kept=kept, needed=True)
