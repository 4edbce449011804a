"""The kernels that sort tiles into bins (device/bins.cuh)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly.language.phases import Owned

from .code import BIN_BLOCK, PartitionCode
from .layout_struct import position_function
from .parameters import Parameter, struct_members, struct_values
from .unit import device_counts

if TYPE_CHECKING:
    from .unit import Unit

SCAN_BLOCK = 1024  # a warp a bin
STEPS = (
    ("bins_count", BIN_BLOCK, "bins", "tile_bins"),
    ("bins_scan", SCAN_BLOCK, "one", "tile_bins, bin_warps"),
    ("bins_place", BIN_BLOCK, "bins", "tile_bins"),
)
GIVEN = {
    "tile_bins": Parameter("buffer", "pos*", name="tile_bins"),
    "bin_warps": Parameter("blocks", "int", name="bin_warps"),
}


def bins_of(unit: Unit, phase: Owned, name: str) -> PartitionCode:
    """The bins of a phase's layout. A plan keeps them where the host knows the counts."""
    text, layout = unit.text(), phase.layout
    asked = {"num_tiles": layout.num_tiles, "begin": layout.begin, "end": layout.end}
    functions = [
        line for n, code in asked.items() for line in position_function(text, n, code, phase.at)
    ]
    members = struct_members(text.references, unit.written, False)
    position = f"  using pos = {'long long' if unit.wide else 'int'};"
    struct = ["struct Tiles {", position, *members, *functions, "};"]
    tiles = f"  const Tiles tiles{{{struct_values(text.references, False)}}};"
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
        )
        for step, block, grid, given in STEPS
    )
    return PartitionCode(kernels, kept=not device_counts(layout), needed=True)
