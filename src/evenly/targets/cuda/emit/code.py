"""What emitting gives: kernels, and the kernels of a phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenly.language import ir

from .parameters import Parameter

FINISH_BLOCK = 256  # threads a block of the kernels that follow a main kernel


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One kernel: its source without the headers, and how it is launched.

    grid: "tiles" (the schedule's launch), "finish" and "partition" (one thread a block of the main
    kernel, and one more), or "one".
    """

    name: str
    source: str
    block: int
    grid: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class PhaseCode:
    """The kernels of one phase. `schedule` sizes the grid over the layout at `path`.

    partition: makes the partition that a plan may store, where the main kernel can take one.
    """

    kernels: tuple[KernelCode, ...]
    schedule: Any
    path: ir.Path
    lanes: ir.Expr | None = None
    persistent: bool = False
    value_fields: int = 0
    grid_fields: int = 0
    partition: KernelCode | None = None
