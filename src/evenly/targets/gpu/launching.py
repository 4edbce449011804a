"""From arguments to launches: grids, scratch memory, and what each parameter of a kernel is.

Nothing here knows a device: `cuda` launches the steps on one, `simt` executes them on the CPU.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.language import ir
from evenly.language.beforehand import value_of
from evenly.language.phases import Phases, Workspace
from evenly.language.specs import LayoutSpec
from evenly.schedules.contract import Sizes, ceil_div, launch_of
from evenly.schedules.handed_out import ROUNDS, most_blocks

from .emit.code import BIN_BLOCK, FINISH_BLOCK, KernelCode, PhaseCode
from .emit.expressions import TooNarrow
from .emit.kernels import emit
from .emit.parameters import Parameter
from .emit.unit import Unit

ALIGN = 256
MAX_LANES = 65_535  # of a grid's y axis; kernels walk the rest
BINS, TILES_A_THREAD, MOST_BIN_BLOCKS = 32, 4, 256  # of the kernels that sort tiles into bins
COUNTER = 8  # bytes (device/dynamic.cuh)
MEETING_FAN = 128  # `ev::meeting_fan`
PERSISTENT_BLOCKS = 8  # a multiprocessor, where only the device knows how much work there is
Grid = tuple[int, int, int]
Paths = Collection[ir.Path]


@dataclass(frozen=True, slots=True)
class Dimensions:
    """How one phase is launched on the arguments at hand.

    finish: blocks of the finish kernel.
    chunks: that there are at most, where blocks take chunks of tiles from a counter; else 0.
    binned: tiles that there are at most, where they are sorted into bins; else None. listed: of these with atoms.
    """

    blocks: int
    lanes: int
    finish: int
    chunks: int = 0
    binned: int | None = None
    listed: int = 0

    @property
    def all(self) -> int:
        return self.blocks + self.finish

    @property
    def partials(self) -> int:
        """How many partial results an accumulator of the grid has."""
        return self.chunks or self.all * self.lanes

    @property
    def bin_blocks(self) -> int:
        """Of the kernels that count tiles by bin."""
        return min(ceil_div(self.binned or 0, BIN_BLOCK * TILES_A_THREAD), MOST_BIN_BLOCKS)

    @property
    def bin_warps(self) -> int:
        return self.bin_blocks * BIN_BLOCK // 32

    @property
    def partition(self) -> int:
        """The positions of a stored partition, or of bins (device/bins.cuh)."""
        if self.binned is None:
            return self.blocks + 1
        return BINS + ceil_div(self.binned, BINS) + BINS * self.bin_warps + self.listed


@dataclass(frozen=True, slots=True)
class Step:
    """One kernel of a run: the phase that it is of (by number), and its grid."""

    kernel: KernelCode
    phase: PhaseCode
    number: int
    size: Dimensions
    grid: Grid


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the scratch memory: an array that kernels share. key: a workspace's path, or (phase, buffer).

    item: bytes of an element; of one field (4) where elements are structs that only the kernels know.
    """

    key: Any
    name: str
    offset: int
    nbytes: int
    item: int


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where each piece of the scratch memory lies, and its whole size in bytes."""

    pieces: dict[Any, Piece]
    nbytes: int


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a launch finds memory that is no argument of the user's: 0 where it needs none."""

    scratch: int = 0
    cells: int = 0
    partition: int = 0


class Program:
    """The emitted kernels of a program under a schedule."""

    def __init__(
        self, phases: Phases, schedule: Any, layouts: dict[ir.Path, LayoutSpec], wide: bool
    ) -> None:
        self.phases, self.wide = phases, wide
        given = phases.name, schedule, layouts, phases.outputs
        try:
            self.codes = emit(phases, Unit(*given, wide))
        except TooNarrow:
            self.wide = True
            self.codes = emit(phases, Unit(*given, wide=True))

    # ---- steps ---------------------------------------------------------------------------------
    def steps(self, binding: Binding, multiprocessors: int, stored: Paths = ()) -> list[Step]:
        """What is launched for these arguments, in order. stored: the layouts whose partitions a plan has."""
        made = set(stored)
        return [
            Step(kernel, code, number, size, grid)
            for number, code in enumerate(self.codes)
            for size in [dimensions(code, binding, multiprocessors)]
            for kernel in (*making(code, size, made), *kernels_of(code, size))
            for grid in [grid_of(kernel, size)]
            if grid[0] > 0
        ]

    def partition_steps(self, binding: Binding, multiprocessors: int) -> Iterator[Step]:
        """The kernels that make the partitions which a plan may store, one layout after the other."""
        made = set()
        for number, code in enumerate(self.codes):
            if code.partition and code.partition.kept and code.path not in made:
                made.add(code.path)
                size = dimensions(code, binding, multiprocessors)
                for kernel in code.partition.kernels:
                    grid = grid_of(kernel, size)
                    if grid[0] > 0:
                        yield Step(kernel, code, number, size, grid)

    def partition_bytes(self, step: Step) -> int:
        return step.size.partition * self.position

    @property
    def position(self) -> int:
        """Bytes of a position."""
        return 8 if self.wide else 4

    # ---- scratch memory -------------------------------------------------------------------------
    def scratch(self, binding: Binding, multiprocessors: int, stored: Paths = ()) -> Scratch:
        pieces: dict[Any, Piece] = {}
        total = 0

        def take(key: Any, name: str, nbytes: int, item: int = 4) -> None:
            nonlocal total
            pieces[key] = Piece(key, name, total, nbytes, item)
            total += ceil_div(max(nbytes, 1), ALIGN) * ALIGN

        for w in self.phases.workspaces:
            path = w.array.path
            width = self.position if w.array.dtype.name == "index" else w.array.dtype.dtype.itemsize
            take(path, "_".join(path[1:]), entries(w, binding) * width, width)
        for number, code in enumerate(self.codes):
            size = dimensions(code, binding, multiprocessors)
            carried = size.blocks * size.lanes
            if code.value_words and not code.meets:
                for name in ("out_tile", "head_tile"):
                    take((number, name), name, carried * self.position, self.position)
                for name in ("out_value", "head_value"):
                    take((number, name), name, carried * code.value_words * 8)
            bins = code.path, "tile_bins"
            if size.binned and code.path not in stored and bins not in pieces:
                take(bins, "tile_bins", size.partition * self.position, self.position)
            if code.grid_words:
                nbytes = size.partials * code.grid_words * 8
                take((number, "grid_partials"), "grid_partials", nbytes)
        return Scratch(pieces, total)

    def workspace_bytes(self, binding: Binding, multiprocessors: int, stored: Paths = ()) -> int:
        """All memory that launches need beside their arguments."""
        cells = self.cell_bytes(binding, multiprocessors)
        return self.scratch(binding, multiprocessors, stored).nbytes + cells

    def cell_bytes(self, binding: Binding, multiprocessors: int) -> int:
        """The size of what is all zero between launches: cells where blocks meet (device/meet.cuh), or a counter."""
        sizes = [(c, dimensions(c, binding, multiprocessors)) for c in self.codes if c.meets]
        counter = COUNTER if any(c.chunk for c in self.codes) else 0
        return max((cells(s.blocks) * s.lanes * cell_size(c) for c, s in sizes), default=counter)

    # ---- arguments ------------------------------------------------------------------------------
    def arguments(
        self, step: Step, binding: Binding, scratch: Scratch | None, at: Addresses
    ) -> tuple[Any, ...]:
        """The arguments of a step's kernel."""
        pieces = scratch.pieces if scratch else {}
        bins = pieces.get((step.phase.path, "tile_bins"))
        known = {
            "first_tile": at.partition,
            "tile_bins": at.scratch + bins.offset if bins else at.partition,
            "cells": at.cells,
            "chunks_taken": at.cells,
        }
        return tuple(
            known[p.name]
            if p.name in known and p.kind == "buffer"
            else self._argument(p, step, binding, pieces, at.scratch)
            for p in step.kernel.parameters
        )

    def _argument(
        self, p: Parameter, step: Step, binding: Binding, pieces: dict[Any, Piece], base: int
    ) -> Any:
        match p.kind:
            case "array":
                if p.path[0] != "$":
                    return binding.view(p.path).pointer
                # A partition kernel reads no workspace, and has no scratch memory.
                return base + pieces[p.path].offset if pieces else 0
            case "extent":
                return binding.extent(p.path, p.axis)
            case "buffer":
                return base + pieces[step.number, p.name].offset
            case "blocks":
                size = step.size
                counts = {
                    "main": size.blocks,
                    "all": size.all,
                    "all_lanes": size.all * size.lanes,
                    "bin_warps": size.bin_warps,
                }
                return np.int32(counts[p.name])
        return scalar(binding.scalar(p.path), p.type, self.wide)


# ---- sizes -----------------------------------------------------------------------------------------
def dimensions(code: PhaseCode, binding: Binding, multiprocessors: int) -> Dimensions:
    if code.schedule is None:
        return Dimensions(1, 1, 0)
    layout = binding.layout(code.path)
    blocks, _ = launch_of(code.schedule, Sizes(int(layout.max_tiles), int(layout.max_atoms)))
    if code.schedule.engine in ROUNDS:
        blocks = min(blocks, most_blocks(code.schedule, multiprocessors))
    if code.chunk:
        return Dimensions(blocks, 1, 0, chunks=ceil_div(int(layout.max_tiles), code.chunk))
    if code.partition and code.partition.needed:
        tiles, atoms = int(layout.max_tiles), int(layout.max_atoms)
        return Dimensions(blocks, 1, 0, binned=tiles, listed=min(tiles, atoms))
    if code.persistent:
        blocks = min(blocks, multiprocessors * PERSISTENT_BLOCKS)
    lanes = 1 if code.lanes is None else lanes_of(code.lanes, binding)
    if code.meets and int(layout.max_tiles) == 0:
        lanes = 0  # nothing to leave, and blocks that meet look at tiles
    finishes = code.value_words and not code.meets and blocks > 1
    return Dimensions(blocks, lanes, ceil_div(blocks, FINISH_BLOCK) if finishes else 0)


def making(code: PhaseCode, size: Dimensions, made: set[ir.Path]) -> tuple[KernelCode, ...]:
    """The kernels that make what the phase cannot do without. made: the layouts of which it is there, and stays."""
    if not size.binned or code.partition is None or code.path in made:
        return ()
    if code.partition.kept:
        made.add(code.path)
    return code.partition.kernels


def kernels_of(code: PhaseCode, size: Dimensions) -> Iterator[KernelCode]:
    """The kernels that a phase launches, in order."""
    for kernel in code.kernels:
        if kernel.grid != "finish" or size.finish > 0:
            yield kernel


def grid_of(kernel: KernelCode, size: Dimensions) -> Grid:
    lanes = min(size.lanes, MAX_LANES)
    if kernel.grid == "one":
        return 1, 1, 1
    if kernel.grid == "bins":
        return size.bin_blocks, 1, 1
    if kernel.grid == "partition":
        return ceil_div(size.blocks + 1, FINISH_BLOCK), 1, 1
    if lanes == 0:
        return 0, 1, 1
    return (size.finish if kernel.grid == "finish" else size.blocks), lanes, 1


def entries(w: Workspace, binding: Binding) -> int:
    """How many entries a workspace array needs."""
    if w.extent == "one":
        return 1
    tiles = int(binding.layout(w.layout).max_tiles)
    return tiles if w.extent == "tile" else tiles * lanes_of(w.lanes, binding)


def cells(blocks: int) -> int:
    """`ev::cells_of`: the cells where so many blocks meet; none where there is nobody to meet."""
    total = blocks if blocks > 1 else 0
    while blocks > MEETING_FAN:
        blocks = blocks // MEETING_FAN + 2
        total += blocks
    return total


def cell_size(code: PhaseCode) -> int:
    """The most bytes of a cell: a link of 8 to meet, and one for every 4 bytes of two parts."""
    return 8 + 2 * 2 * code.value_words * 8


# ---- values ----------------------------------------------------------------------------------------
_SCALARS: dict[str, Any] = {
    "bool": np.bool_,
    "int": np.int32,
    "long long": np.int64,
    "float": np.float32,
    "double": np.float64,
    "ev::complex64": np.complex64,
    "ev::complex128": np.complex128,
}


def scalar(value: Any, type_: str, wide: bool) -> Any:
    """A number as a kernel's parameter of a C++ type."""
    if type_ == "pos":
        type_ = "long long" if wide else "int"
    return _SCALARS[type_](value)


def lanes_of(e: ir.Expr | None, binding: Binding) -> int:
    """How many lanes a dense axis has."""
    assert e is not None
    return max(0, value_of(e, binding.scalar, binding.extent))
