"""What emitting gives: kernels, and the kernels of a phase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from evenly.gpus.gpu import Gpu
from evenly.language import ir
from evenly.language.diagnostics import Location
from evenly.schedules.contract import Sizes

from ..sizing import Sizing
from .parameters import Parameter


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One kernel: its source without the headers, and how it is launched.

    grid: which of the phase's grids it has (sizing.py). origins: for each line of the source, the
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
    """A buffer that follows from a layout's structure alone: the kernels that make it, in order, and its name.

    kept: whether a plan may keep it. needed: whether the main kernel cannot do without: then it is
    made in each run to which no plan gives it.
    """

    kernels: tuple[KernelCode, ...]
    buffer: str
    kept: bool = True
    needed: bool = False


@dataclass(frozen=True, slots=True)
class PhaseCode:
    """The kernels of one phase, in the order of their launches.

    sizing: what a launch needs for so many tiles and atoms, and lanes of a dense axis, on this GPU.
    path: of the phase's layout; () where it has none. lanes: how many there are; None: there is no dense axis.
    """

    kernels: tuple[KernelCode, ...]
    sizing: Callable[[Sizes, int, Gpu], Sizing]
    path: ir.Path = ()
    lanes: ir.Expr | None = None
    partition: PartitionCode | None = None

    @property
    def all_kernels(self) -> tuple[KernelCode, ...]:
        """Every kernel that some launch may need."""
        return (*self.kernels, *(self.partition.kernels if self.partition else ()))
