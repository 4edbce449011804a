"""From arguments to launches: grids, scratch memory, and what each parameter of a kernel is.

Nothing here knows a device: `cuda` launches the steps on one, `simt` executes them on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.language import ir
from evenly.language.phases import Phases, Workspace
from evenly.language.specs import LayoutSpec
from evenly.schedules.contract import Sizes, ceil_div

from .emit.code import FINISH_BLOCK, KernelCode, PhaseCode
from .emit.kernels import emit
from .emit.parameters import Parameter
from .emit.unit import Unit

ALIGN = 256
MAX_LANES = 65_535  # of a grid's y axis; kernels walk the rest
PERSISTENT_BLOCKS = 8  # a multiprocessor, where only the device knows how much work there is
Grid = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Dimensions:
    """How one phase is launched on the arguments at hand."""

    blocks: int
    lanes: int
    finish: int

    @property
    def all(self) -> int:
        return self.blocks + self.finish


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
    """A stretch of the scratch memory: an array that kernels share. key: a workspace's path, or (phase, buffer)."""

    key: Any
    name: str
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where each piece of the scratch memory lies, and its whole size in bytes."""

    pieces: dict[Any, Piece]
    nbytes: int


class Program:
    """The emitted kernels of a program under a schedule."""

    def __init__(
        self, phases: Phases, schedule: Any, layouts: dict[ir.Path, LayoutSpec], wide: bool
    ) -> None:
        self.phases, self.wide = phases, wide
        self.codes = emit(phases, Unit(phases.name, schedule, layouts, phases.outputs, wide))

    # ---- steps ---------------------------------------------------------------------------------
    def steps(self, binding: Binding, multiprocessors: int) -> list[Step]:
        """What is launched for these arguments, in order."""
        return [
            Step(kernel, code, number, size, grid)
            for number, code in enumerate(self.codes)
            for size in [dimensions(code, binding, multiprocessors)]
            for kernel in code.kernels
            for grid in [grid_of(kernel, size)]
            if grid[0] > 0 and not (kernel.grid == "finish" and size.blocks < 2)
        ]

    def partition_steps(self, binding: Binding, multiprocessors: int) -> Iterator[Step]:
        """The kernels that make the partitions which a plan may store, one a layout."""
        made = set()
        for number, code in enumerate(self.codes):
            if code.partition is not None and code.path not in made:
                made.add(code.path)
                size = dimensions(code, binding, multiprocessors)
                yield Step(code.partition, code, number, size, grid_of(code.partition, size))

    def partition_bytes(self, step: Step) -> int:
        return (step.size.blocks + 1) * self.position

    @property
    def position(self) -> int:
        """Bytes of a position."""
        return 8 if self.wide else 4

    # ---- scratch memory -------------------------------------------------------------------------
    def scratch(self, binding: Binding, multiprocessors: int) -> Scratch:
        pieces: dict[Any, Piece] = {}
        total = 0

        def take(key: Any, name: str, nbytes: int) -> None:
            nonlocal total
            pieces[key] = Piece(key, name, total, nbytes)
            total += ceil_div(max(nbytes, 1), ALIGN) * ALIGN

        for w in self.phases.workspaces:
            path = w.array.path
            width = self.position if w.array.dtype.name == "index" else w.array.dtype.dtype.itemsize
            take(path, "_".join(path[1:]), entries(w, binding) * width)
        for number, code in enumerate(self.codes):
            size = dimensions(code, binding, multiprocessors)
            carried = size.blocks * size.lanes
            if code.value_fields:
                for name in ("out_tile", "head_tile"):
                    take((number, name), name, carried * self.position)
                for name in ("out_value", "head_value"):
                    take((number, name), name, carried * code.value_fields * 8)
            if code.grid_fields:
                nbytes = size.all * size.lanes * code.grid_fields * 8
                take((number, "grid_partials"), "grid_partials", nbytes)
        return Scratch(pieces, total)

    # ---- arguments ------------------------------------------------------------------------------
    def arguments(
        self, step: Step, binding: Binding, scratch: Scratch | None, base: int, partition: int
    ) -> tuple[Any, ...]:
        """The arguments of a step's kernel. base: the scratch memory's address; partition: a stored one's, or 0."""
        return tuple(
            partition
            if p.name == "first_tile"
            else self._argument(p, step, binding, scratch.pieces if scratch else {}, base)
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
                counts = {"main": size.blocks, "all": size.all, "all_lanes": size.all * size.lanes}
                return np.int32(counts[p.name])
        return scalar(binding.scalar(p.path), p.type, self.wide)


# ---- sizes -----------------------------------------------------------------------------------------
def dimensions(code: PhaseCode, binding: Binding, multiprocessors: int) -> Dimensions:
    if code.schedule is None:
        return Dimensions(1, 1, 0)
    layout = binding.layout(code.path)
    blocks = int(code.schedule.launch(Sizes(int(layout.max_tiles), int(layout.max_atoms)))[0])
    if code.persistent:
        blocks = min(blocks, multiprocessors * PERSISTENT_BLOCKS)
    lanes = 1 if code.lanes is None else int(evaluate(code.lanes, binding))
    finish = ceil_div(blocks, FINISH_BLOCK) if code.value_fields and blocks > 1 else 0
    return Dimensions(blocks, lanes, finish)


def grid_of(kernel: KernelCode, size: Dimensions) -> Grid:
    lanes = min(size.lanes, MAX_LANES)
    if kernel.grid == "one":
        return 1, 1, 1
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
    return tiles if w.extent == "tile" else tiles * int(evaluate(w.lanes, binding))


# ---- values ----------------------------------------------------------------------------------------
_SCALARS: dict[str, Any] = {
    "bool": np.bool_,
    "int": np.int32,
    "long long": np.int64,
    "float": np.float32,
    "double": np.float64,
}


def scalar(value: Any, type_: str, wide: bool) -> Any:
    """A number as a kernel's parameter of a C++ type."""
    if type_ == "pos":
        type_ = "long long" if wide else "int"
    return _SCALARS[type_](value)


def evaluate(e: ir.Expr | None, binding: Binding) -> int:
    """The value of an expression of arguments, on the host."""
    match e:
        case ir.Const(value=value):
            return int(value)
        case ir.Param(path=path):
            return int(binding.scalar(path))
        case ir.Extent(array=a, axis=axis):
            return binding.extent(a.path, axis)
        case ir.Cast(operand=x):
            return evaluate(x, binding)
        case ir.Binary(op=op, left=left, right=right):
            m, n = evaluate(left, binding), evaluate(right, binding)
            return {"+": m + n, "-": m - n, "*": m * n}[op]
    raise AssertionError(e)
