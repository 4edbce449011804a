"""The results of emitting: kernels, and the kernels of a phase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from evenly.arguments import Binding
from evenly.gpus.gpu import Gpu
from evenly.language import ir
from evenly.language.diagnostics import Location
from evenly.schedules.contract import Sizes

from ..sizing import Sizing
from .known import Words, known
from .parameters import Parameter

Counted = Literal["tiles", "items", "work"]


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One kernel: its source without the headers, and how it is launched.

    grid: the name of its grid in the phase's `Sizing`. origins: for each line of the source, the line of Python that it
    was made from; None for a line that only the engine needs. carveout: the percentage of on-chip memory that should be
    shared memory rather than L1 cache; -1: the driver decides. cooperative: whether its blocks wait for each other, so
    that all of them have to run at once. facts: what it asks for of which the host may know the answer (known.py).
    known: the answers that its source is compiled for: a bit for each.
    """

    name: str
    source: str
    block: int
    grid: str
    parameters: tuple[Parameter, ...]
    origins: tuple[Location | None, ...] = field(repr=False, compare=False)
    carveout: int = -1
    cooperative: bool = False
    facts: tuple[Words, ...] = ()
    known: int = 0

    def for_arguments(self, binding: Binding) -> KernelCode:
        """Return the kernel for what the host knows of these arguments."""
        found = known(self.facts, binding)
        if not found:
            return self
        source = f"#define EV_KNOWN {found}\n{self.source}"
        return replace(self, source=source, origins=(None, *self.origins), known=found)


@dataclass(frozen=True, slots=True)
class PartitionCode:
    """A buffer whose contents depend only on a layout's structure: its name, and the kernels that make it, in order.

    kept: whether a plan may keep it. needed: whether the main kernel requires it. If so, each run that gets none from
    its plan makes it.
    """

    kernels: tuple[KernelCode, ...]
    buffer: str
    kept: bool = True
    needed: bool = False


@dataclass(frozen=True, slots=True)
class PhaseCode:
    """The kernels of one phase, in the order of their launches.

    sizing: computes how the phase is launched, from the counts of tiles and atoms, the number of lanes, and the GPU.
    path: the path of the phase's layout; () if it has none.
    counts: what is walked: "tiles" and their atoms, "items" and their tiles, or items and their "work".
    lanes: the lanes of a dense axis; None: there is none.
    scratch: the scratch arrays. teams: how many threads own a tile, for each kind of team. shared: the paths of scratch
    arrays that always lie in shared memory.
    """

    kernels: tuple[KernelCode, ...]
    sizing: Callable[[Sizes, int, Gpu], Sizing]
    path: ir.Path = ()
    lanes: ir.Expr | None = None
    partition: PartitionCode | None = None
    counts: Counted = "tiles"
    scratch: tuple[ir.Array, ...] = ()
    teams: tuple[int, ...] = (1,)
    shared: frozenset[ir.Path] = frozenset()

    @property
    def all_kernels(self) -> tuple[KernelCode, ...]:
        """All kernels that a run of the phase may launch."""
        return (*self.kernels, *(self.partition.kernels if self.partition else ()))
