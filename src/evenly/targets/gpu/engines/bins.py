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
from ..emit.totals import partials
from ..emit.unit import Unit, device_counts
from ..engine import Counts, Teams
from ..sizing import ONE, Buffer, Sizing
from .handed_out import WIDTH, HandedOut, HandedOutEngine

BINS = 32
COUNT_BLOCK = 256  # threads per block in the kernels that count and place tiles
SCAN_BLOCK = 1024  # one warp per bin
TILES_A_THREAD, MOST_BLOCKS = 4, 256  # in the kernels that count and place tiles
STEPS = (
    ("bins_count", COUNT_BLOCK, "bins", "tile_bins"),
    ("bins_scan", SCAN_BLOCK, "scan", "tile_bins, bin_warps"),
    ("bins_place", COUNT_BLOCK, "bins", "tile_bins"),
)
GIVEN = {
    "tile_bins": Parameter("buffer", "pos*", name="tile_bins"),
    "bin_warps": Parameter("blocks", "int", name="bin_warps"),
}


class BinsEngine(HandedOutEngine):
    """The bins engine. A team is a thread, a group of `lanes` threads, a warp or a block.

    `thread`, `group` and `warp`: a tile of this length or more goes to the next wider team.
    """

    parameters = ("block", "lanes", "thread", "group", "warp")
    rounds = 4  # the longest tiles come first

    def emit(self, unit: Unit, phase: Owned, name: str) -> PhaseCode:
        schedule: Any = levels(unit.schedule)[0]
        block = schedule.block
        made = HandedOut(unit, phase, schedule.lanes, WIDTH, walks="team.walks()")
        bins = (first_bin(n) for n in (schedule.warp, schedule.group, schedule.thread))
        kind = ", ".join(map(str, (block, schedule.lanes, *bins, made.converged, "pos")))
        made.writer.line(f"ev::walk_bins<{kind}>(tile_bins, {made.num_tiles()}, bin_warps, tile);")
        made.totals.reduce(made.writer, block)
        sorted_tiles = Parameter("buffer", "const pos* __restrict__", name="tile_bins")
        main = made.kernel(name, [sorted_tiles, GIVEN["bin_warps"]])
        return PhaseCode(
            (main, *made.totals.final(unit, name, block)),
            partial(
                self.sizing, schedule, made.totals.words, unit.position, device_counts(phase.layout)
            ),
            phase.path,
            partition=bins_of(unit, phase, name),
            counts="work" if phase.layout.items else "tiles",
            scratch=made.scratch,
            teams=made.teams,
        )

    def sizing(
        self,
        schedule: Any,
        grid_words: int,
        position: int,
        bounded: bool,
        sizes: Sizes,
        lanes: int,
        gpu: Gpu,
    ) -> Sizing:
        """Compute how a phase is launched. bounded: see OwnedEngine.sizing."""
        tiles = sizes.num_tiles
        blocks = self.blocks(schedule, sizes, gpu) if tiles else 0  # of no tiles nobody makes bins
        counting = min(ceil_div(tiles, COUNT_BLOCK * TILES_A_THREAD), MOST_BLOCKS)
        if bounded:
            blocks = min(blocks, gpu.at_once(schedule.block))
            counting = min(counting, gpu.multiprocessors)
        warps = counting * COUNT_BLOCK // WARP
        listed = min(tiles, sizes.num_atoms)  # tiles that have atoms, at most
        places = BINS + ceil_div(tiles, BINS) + BINS * warps + listed
        return Sizing(
            {"tiles": (blocks, 1), "bins": (counting, 1), "scan": (min(tiles, 1), 1), "one": ONE},
            {"all_lanes": blocks, "bin_warps": warps},
            (
                Buffer("tile_bins", places * position, position, "partition"),
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
            [tiles, f"  ev::{step}(tiles, {given});"],
            [GIVEN[n] for n in given.split(", ")],
            views=False,
            always=kept,
        )
        for step, block, grid, given in STEPS
    )
    return PartitionCode(kernels, "tile_bins", kept=kept, needed=True)
