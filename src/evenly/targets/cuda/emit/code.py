"""What emitting gives: kernels, and the kernels of a phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evenly.language import ir
from evenly.language.diagnostics import Location
from evenly.language.types import words_of

from .parameters import Parameter

FINISH_BLOCK = 256  # threads a block of the kernels that follow a main kernel


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One kernel: its source without the headers, and how it is launched.

    grid: "tiles" (the schedule's launch), "finish" and "partition" (one thread a block of the main
    kernel, and one more), or "one". origins: for each line of the source, the Python that it was made
    from; None for a line that is all the engine's own.
    """

    name: str
    source: str
    block: int
    grid: str
    parameters: tuple[Parameter, ...]
    origins: tuple[Location | None, ...] = field(repr=False, compare=False)


def words(fields: Sequence[ir.Var]) -> int:
    """Of 64 bits, that a struct of these fields takes at most: one each, two where one has two."""
    return len(fields) * max((words_of(v.type) for v in fields), default=1)


@dataclass(frozen=True, slots=True)
class PhaseCode:
    """The kernels of one phase. `schedule` sizes the grid over the layout at `path`.

    partition: makes the partition that a plan may store, where the main kernel can take one.
    value_words, grid_words: of 64 bits, that a tile's or the grid's accumulators take at most.
    chained: the main kernel for few blocks, which join the tiles that they share without a finish kernel.
    """

    kernels: tuple[KernelCode, ...]
    schedule: Any
    path: ir.Path
    lanes: ir.Expr | None = None
    persistent: bool = False
    value_words: int = 0
    grid_words: int = 0
    partition: KernelCode | None = None
    chained: KernelCode | None = None
