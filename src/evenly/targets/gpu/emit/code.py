"""What emitting gives: kernels, and the kernels of a phase."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from evenly.language import ir
from evenly.language.diagnostics import Location

from .parameters import Parameter

FINISH_BLOCK = 256  # threads a block of the kernels that follow a main kernel
BIN_BLOCK = 256  # and of those that count tiles by bin


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One kernel: its source without the headers, and how it is launched.

    grid: "tiles" (the schedule's launch), "finish" and "partition" (one thread a block of the main
    kernel, and one more), "bins" (by the number of tiles), or "one". origins: for each line of the source, the
    Python that it was made from; None for a line that is all the engine's own. carveout: the percentage of fast
    memory that should be shared memory; -1: the driver decides.
    """

    name: str
    source: str
    block: int
    grid: str
    parameters: tuple[Parameter, ...]
    origins: tuple[Location | None, ...] = field(repr=False, compare=False)
    carveout: int = -1


@dataclass(frozen=True, slots=True)
class PartitionCode:
    """What a main kernel reads that follows from its layout's structure: the kernels that make it, in order.

    kept: whether a plan may keep it. needed: whether the main kernel cannot do without: then it is
    made in each run to which no plan gives it.
    """

    kernels: tuple[KernelCode, ...]
    kept: bool = True
    needed: bool = False


@dataclass(frozen=True, slots=True)
class PhaseCode:
    """The kernels of one phase. `schedule` sizes the grid over the layout at `path`.

    value_words, grid_words: of 64 bits, that a tile's or the grid's accumulators take at most.
    meets: the main kernel joins the tiles that its blocks share (device/meet.cuh); else a finish kernel does.
    chunk: the tiles of a chunk, where blocks stay and take chunks from a counter; else 0.
    """

    kernels: tuple[KernelCode, ...]
    schedule: Any
    path: ir.Path
    lanes: ir.Expr | None = None
    persistent: bool = False
    value_words: int = 0
    grid_words: int = 0
    partition: PartitionCode | None = None
    meets: bool = False
    chunk: int = 0

    @property
    def all_kernels(self) -> tuple[KernelCode, ...]:
        """Every kernel that some launch may need."""
        return (*self.kernels, *(self.partition.kernels if self.partition else ()))
