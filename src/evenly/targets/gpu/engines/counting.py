"""How the kernels of device/bins.cuh are launched, which sort tiles into bins, and the memory that bins need."""

from __future__ import annotations

from typing import NamedTuple

from evenly.gpus.gpu import WARP
from evenly.schedules.contract import Sizes, ceil_div

from ..emit.parameters import Parameter

BINS = 32
COUNT_BLOCK = 256  # threads per block in the kernels that count and place tiles
SCAN_BLOCK = 1024  # one warp per bin
TILES_A_THREAD, MOST_BLOCKS = 4, 256  # in the kernels that count and place tiles
WARPS = Parameter("blocks", "int", name="bin_warps")
# The kernels: name, threads per block, name of the grid, and what follows the memory in their arguments.
STEPS = (
    ("bins_count", COUNT_BLOCK, "bins", ""),
    ("bins_scan", SCAN_BLOCK, "scan", ", bin_warps"),
    ("bins_place", COUNT_BLOCK, "bins", ""),
)


class Counting(NamedTuple):
    """Grids and counts by name (sizing.py), and how many positions the bins take."""

    grids: dict[str, tuple[int, int]]
    counts: dict[str, int]
    places: int


def counting(sizes: Sizes, most: int = MOST_BLOCKS) -> Counting:
    """Return how so many tiles are sorted by `most` blocks at most."""
    tiles = sizes.num_tiles
    blocks = min(ceil_div(tiles, COUNT_BLOCK * TILES_A_THREAD), most)
    warps = blocks * COUNT_BLOCK // WARP
    listed = min(tiles, sizes.num_atoms)  # tiles that have atoms, at most
    places = BINS + ceil_div(tiles, BINS) + BINS * warps + listed
    grids = {"bins": (blocks, 1), "scan": (min(tiles, 1), 1)}
    return Counting(grids, {WARPS.name: warps}, places)
