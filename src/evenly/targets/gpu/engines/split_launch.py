"""How phases are launched whose tiles are split: grids, and the buffers in which blocks join tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenly.gpus.gpu import Gpu
from evenly.schedules.contract import Sizes, ceil_div

from ..emit.parameters import Parameter
from ..emit.totals import partials
from ..sizing import ONE, Buffer, Sizing
from .counting import Counting, counting

if TYPE_CHECKING:
    from .split import SplitEngine

FINISH_BLOCK = 256  # threads per block in the kernels that follow a main kernel
MAX_LANES = 65_535  # limit of a grid's y axis; kernels loop over the lanes beyond it
MEETING_FAN = 128  # equal to `ev::meeting_fan`
PERSISTENT_BLOCKS = 8  # per multiprocessor, where only the device knows how much work there is
CLEARING = 4  # the most blocks per multiprocessor that clear links
LINKS = Parameter("buffer", "long long*", name="links")
CARRIES = (
    ("", "out_tile"),
    ("(Phase::Value*)", "out_value"),
    ("", "head_tile"),
    ("(Phase::Value*)", "head_value"),
)
CARRIED_TILES = [name for cast, name in CARRIES if not cast]
CARRIED_VALUES = [name for cast, name in CARRIES if cast]


@dataclass(frozen=True, slots=True)
class Launch:
    """Computes how such a phase is launched.

    value_words, grid_words: words of 64 bits, for the values of a tile that blocks share, and for the grid's totals.
    scan_words: links for what a block leaves open, if blocks look back.
    position: bytes of a position. lists: whether the partition has a list of the tiles that have atoms.
    columns: of a dense axis that a team has at a time; 0: each of them has blocks of its own.
    shares: of atoms that a block takes.
    """

    engine: SplitEngine
    schedule: Any
    value_words: int
    grid_words: int
    position: int
    scan_words: int
    meets: bool
    persistent: bool
    lists: bool
    columns: int
    shares: int

    def __call__(self, sizes: Sizes, lanes: int, gpu: Gpu) -> Sizing:
        blocks = self.engine.blocks(self.schedule, sizes, gpu)
        if self.persistent:
            blocks = min(blocks, gpu.multiprocessors * PERSISTENT_BLOCKS)
        if self.meets and sizes.num_tiles == 0:
            lanes = 0  # there are no tiles to leave, but blocks that meet would read one
        finishes = self.value_words and not self.meets and blocks > 1
        finish = ceil_div(blocks, FINISH_BLOCK) if finishes else 0
        along = min(lanes, MAX_LANES)
        teams = min(ceil_div(lanes, self.columns), MAX_LANES) if self.columns else along
        links = segments(blocks) * self.scan_words * lanes
        bins = counting(sizes)
        looks_back = [Buffer(LINKS.name, links * 8, 8)] if links else []
        return Sizing(
            {
                "tiles": (ceil_div(blocks, self.shares) if lanes else 0, teams),
                "finish": (finish if lanes else 0, along),
                "partition": (ceil_div(blocks + 1, FINISH_BLOCK), 1),
                "clear": (min(ceil_div(links, FINISH_BLOCK), gpu.multiprocessors * CLEARING), 1),
                "one": ONE,
                **bins.grids,
            },
            {
                "main": blocks,
                "all": blocks + finish,
                "all_lanes": (blocks + finish) * lanes,
                **bins.counts,
            },
            (
                *self.joins(blocks, lanes, list_places(sizes, bins) if self.lists else 0),
                *looks_back,
                *partials((blocks + finish) * lanes, self.grid_words),
            ),
        )

    def joins(self, blocks: int, lanes: int, listed: int) -> tuple[Buffer, ...]:
        """Return the buffers in which parts of tiles are joined, and the partition. listed: positions of its list."""
        position, value = self.position, 8 * self.value_words
        first = Buffer("first_tile", (blocks + 1 + listed) * position, position, "partition")
        if self.meets:
            # A cell has one link of 8 bytes for the count, and at most one for every 4 bytes of two parts.
            cell = 8 + 2 * 2 * value
            return first, Buffer("cells", cells(blocks) * lanes * cell, 8, "zeros")
        if not value:
            return (first,)
        tiles = blocks * (1 if self.columns else lanes)
        return (
            first,
            *(Buffer(name, tiles * position, position) for name in CARRIED_TILES),
            *(Buffer(name, blocks * lanes * value) for name in CARRIED_VALUES),
        )


def list_places(sizes: Sizes, bins: Counting) -> int:
    """Return the positions of the list of tiles: those of the bins, and where the tiles in it begin."""
    return bins.places + min(sizes.num_tiles, sizes.num_atoms) + 1


def segments(blocks: int) -> int:
    """Return the number of segments that blocks write as they look back, as `ev::lookback::size` has it."""
    return blocks + blocks // 32 + 1 + blocks // 1024 + 1


def cells(blocks: int) -> int:
    """Return the number of cells in which this many blocks meet, as `ev::cells_of` does; 0 for a single block."""
    total = blocks if blocks > 1 else 0
    while blocks > MEETING_FAN:
        blocks = blocks // MEETING_FAN + 2
        total += blocks
    return total
