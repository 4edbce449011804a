"""Turn arguments into launches: compute grids, scratch memory, and the value of each kernel parameter.

Nothing here uses a device. Target `cuda` launches the steps on a GPU, `simt` executes them on the CPU.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.gpus.gpu import Gpu
from evenly.language import ir
from evenly.language.beforehand import value_of
from evenly.language.phases import Phases, Workspace
from evenly.language.specs import LayoutSpec
from evenly.schedules.contract import Sizes
from evenly.targets.workspace import Rooms, at_a_time, share_of

from .emit.code import Counted, KernelCode, PhaseCode
from .emit.expressions import TooNarrow
from .emit.parameters import Parameter
from .emit.unit import Unit
from .kernels import emit
from .sizing import Buffer, Sizing, aligned

Paths = Collection[ir.Path]
Sized = tuple[PhaseCode, Sizing]  # a phase, and how it is launched on the current arguments


@dataclass(frozen=True, slots=True)
class Step:
    """One kernel launch of a run.

    phase, number: the phase that the kernel belongs to, and its number. sizing: how that phase is launched.
    turn: the number of the phase with which it is launched (`Phases.order`): an earlier one, if it prepares a loop.
    """

    kernel: KernelCode
    phase: PhaseCode
    number: int
    sizing: Sizing
    turn: int

    @property
    def grid(self) -> tuple[int, int, int]:
        return *self.sizing.grids[self.kernel.grid], 1


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the scratch memory: one array that kernels share.

    key: the path of a workspace, (number of a phase, name of a buffer), or (path of a layout, name of a buffer).
    item: bytes of an element (sizing.py).
    """

    key: Any
    name: str
    offset: int
    nbytes: int
    item: int


@dataclass(frozen=True, slots=True)
class Scratch:
    """The layout of the scratch memory: its pieces, and its total size in bytes.

    extents: the lengths that kernels get: of scratch arrays the elements that one thread has, of workspace the lanes.
    """

    pieces: dict[Any, Piece]
    nbytes: int
    extents: dict[ir.Path, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run needs: its steps in order, its scratch memory, and the size of the memory of zeros.

    zeros: bytes of a buffer that must be all zero when a launch begins; kernels leave it so.
    """

    steps: list[Step]
    scratch: Scratch
    zeros: int

    @property
    def workspace_bytes(self) -> int:
        """The bytes of all memory other than the arguments."""
        return self.scratch.nbytes + self.zeros


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the memory that a launch uses besides the user's arguments. 0: it needs none.

    cells: the memory of zeros (see `Run`). partition: a partition that the plan has stored.
    """

    scratch: int = 0
    cells: int = 0
    partition: int = 0


class Program:
    """The emitted kernels of a program under a schedule. position: the bytes of a position."""

    def __init__(
        self, phases: Phases, schedule: Any, layouts: dict[ir.Path, LayoutSpec], wide: bool
    ) -> None:
        self.phases = phases
        unit = Unit(phases.name, schedule, layouts, phases.stored, wide)
        try:
            self.codes = emit(phases, unit)
        except TooNarrow:
            unit = replace(unit, wide=True)
            self.codes = emit(phases, unit)
        self.wide, self.position = unit.wide, unit.position
        numbers = {n for r in phases.repeats for n in range(r.first, r.last)}
        self.repeated = {self.codes[n].path for n in numbers}  # layouts that are walked in loops

    def run(
        self,
        binding: Binding,
        gpu: Gpu,
        stored: Paths = (),
        rooms: Rooms | None = None,
        max_workspace: int = 0,
    ) -> Run:
        """Compute what a run on these arguments needs.

        stored: the layouts whose partitions the plan has stored. rooms: the greatest lengths of scratch arrays, but
        for constants.
        max_workspace: the most bytes that these may take. Raises InputError if that is too little.
        """
        sized = list(self._sized(binding, gpu))
        rooms = {**dict(self.phases.rooms), **(rooms or {})}
        if rooms:
            sized = self._limited(sized, gpu, rooms, max_workspace)
        # Phases run one after the other, so they share the memory that is all zero between launches.
        ends = (end for _, sizing in sized for _, end in sizing.zeros().values())
        scratch = self._scratch(sized, binding, stored, rooms)
        return Run(self._steps(sized, stored), scratch, max(ends, default=0))

    # ---- steps ---------------------------------------------------------------------------------
    def _steps(self, sized: list[Sized], stored: Paths) -> list[Step]:
        made = set(stored)
        steps: list[Step] = []
        first_of = {r.first: r.last for r in self.phases.repeats}
        for number, (code, sizing) in enumerate(sized):
            steps += self._partition(number, code, sizing, number, made)
            steps += _launched(code.kernels, code, number, sizing)
            # A loop may run no round, and then nothing in it makes what later phases use, too.
            for ahead in range(number + 1, first_of.get(number + 1, 0)):
                if (partition := sized[ahead][0].partition) and partition.kept:
                    steps += self._partition(ahead, *sized[ahead], number, made)
        return steps

    def _wants_partition(self, code: PhaseCode) -> bool:
        """Whether a run makes the partition of a phase, which its kernel requires, or all rounds of a loop read."""
        partition = code.partition
        return partition is not None and (
            partition.needed or (partition.kept and code.path in self.repeated)
        )

    def _partition(
        self, number: int, code: PhaseCode, sizing: Sizing, turn: int, made: set[ir.Path]
    ) -> Iterator[Step]:
        """Yield the launches that make the partition of a phase, if it needs one that is not `made`."""
        partition = code.partition
        if partition and self._wants_partition(code) and code.path not in made:
            if partition.kept:
                made.add(code.path)
            for step in _launched(partition.kernels, code, number, sizing):
                yield replace(step, turn=turn)

    def partition_steps(self, binding: Binding, gpu: Gpu) -> Iterator[Step]:
        """Yield the launches that make the partitions that a plan may store, layout by layout."""
        made = set()
        for number, (code, sizing) in enumerate(self._sized(binding, gpu)):
            if code.partition and code.partition.kept and code.path not in made:
                made.add(code.path)
                yield from _launched(code.partition.kernels, code, number, sizing)

    def _sized(self, binding: Binding, gpu: Gpu) -> Iterator[Sized]:
        """Yield each phase, with how it is launched on these arguments."""
        for code in self.codes:
            sizes, lanes = Sizes(0, 0), 1
            if code.path:
                layout = binding.layout(code.path)
                sizes = sizes_of(layout, code.counts)
            if code.lanes is not None:
                lanes = lanes_of(code.lanes, binding)
            yield code, code.sizing(sizes, lanes, gpu)

    def _limited(self, sized: list[Sized], gpu: Gpu, rooms: Rooms, most: int) -> list[Sized]:
        """Return the phases with so few blocks that their scratch arrays fit. The phases share what there may be."""
        each = most // sum(1 for code, _ in sized if code.scratch)
        return [(code, limited(code, sizing, gpu, rooms, each)) for code, sizing in sized]

    # ---- memory ----------------------------------------------------------------------------------
    def _scratch(
        self, sized: list[Sized], binding: Binding, stored: Paths, rooms: Rooms
    ) -> Scratch:
        pieces: dict[Any, Piece] = {}
        extents: dict[ir.Path, int] = {}
        total = 0

        def take(key: Any, buffer: Buffer) -> None:
            nonlocal total
            pieces[key] = Piece(key, buffer.name, total, buffer.nbytes, buffer.item)
            total += aligned(buffer.nbytes)

        for w in self.phases.workspaces:
            path = w.array.path
            width = self.position if w.array.dtype.name == "index" else w.array.dtype.dtype.itemsize
            take(path, Buffer("_".join(path[1:]), entries(w, binding) * width, width))
            if w.lanes is not None:
                extents[path] = lanes_of(w.lanes, binding)
        for number, (code, sizing) in enumerate(sized):
            needed = self._wants_partition(code) and code.path not in stored
            for buffer in sizing.buffers:
                of_layout = buffer.holds == "partition"
                key = (code.path if of_layout else number), buffer.name
                wanted = needed if of_layout else buffer.holds == "run"
                if wanted and key not in pieces:
                    take(key, buffer)
            for a in code.scratch:
                item = a.dtype.dtype.itemsize
                extents[a.path] = share_of(rooms[a.path], threads_of(code, sizing))
                threads = sizing.grids["tiles"][0] * code.kernels[0].block
                threads = 0 if a.path in code.shared else threads
                take(a.path, Buffer(a.name, threads * extents[a.path] * item, item))
        return Scratch(pieces, total, extents)

    def partition_bytes(self, step: Step) -> int:
        assert step.phase.partition is not None
        return step.sizing.buffer(step.phase.partition.buffer).nbytes

    # ---- arguments ------------------------------------------------------------------------------
    def arguments(
        self, step: Step, binding: Binding, scratch: Scratch | None, at: Addresses
    ) -> tuple[Any, ...]:
        """Return the arguments of a step's kernel, in the order of its parameters."""
        return tuple(self._argument(p, step, binding, scratch, at) for p in step.kernel.parameters)

    def _argument(
        self, p: Parameter, step: Step, binding: Binding, scratch: Scratch | None, at: Addresses
    ) -> Any:
        pieces = scratch.pieces if scratch else {}
        match p.kind:
            case "array":
                if p.path[0] != "$":
                    return binding.view(p.path).pointer
                # Kernels that make a partition to store have no scratch memory, and read no workspace.
                return at.scratch + pieces[p.path].offset if pieces else 0
            case "extent":
                if p.path[0] == "$":
                    assert scratch is not None
                    return scratch.extents[p.path]
                return binding.extent(p.path, p.axis)
            case "buffer":
                return _address(step.sizing.buffer(p.name), step, pieces, at)
            case "blocks":
                return np.int32(step.sizing.counts[p.name])
            case "handle":
                return np.uint64(0)
        return scalar(binding.scalar(p.path), p.type, self.wide)


def _launched(
    kernels: tuple[KernelCode, ...], code: PhaseCode, number: int, sizing: Sizing
) -> Iterator[Step]:
    """Yield a step for each of these kernels of a phase whose grid is not empty."""
    for kernel in kernels:
        if sizing.grids[kernel.grid][0] > 0:
            yield Step(kernel, code, number, sizing, number)


def limited(code: PhaseCode, sizing: Sizing, gpu: Gpu, rooms: Rooms, most: int) -> Sizing:
    """Return how a phase is launched if its scratch arrays take at most `most` bytes. Raises InputError."""
    block = code.kernels[0].block
    unit = block * sizing.together
    apart = [a for a in code.scratch if a.path not in code.shared]
    arrays = [(a, unit * share_of(rooms[a.path], threads_of(code, sizing))) for a in apart]
    if not any(count for _, count in arrays):
        return sizing
    blocks, lanes = sizing.grids["tiles"]
    wanted = min(blocks, gpu.at_once(block)) // sizing.together  # more would not run at once
    who = "a block" if sizing.together == 1 else f"{sizing.together} blocks"
    blocks = sizing.together * at_a_time(arrays, wanted, most, f"{who} of {block} threads")
    counts = {n: min(c, blocks) if n == "all_lanes" else c for n, c in sizing.counts.items()}
    return replace(sizing, grids={**sizing.grids, "tiles": (blocks, lanes)}, counts=counts)


def threads_of(code: PhaseCode, sizing: Sizing) -> tuple[int, ...]:
    """Return how many threads own a tile, for each kind of team."""
    return tuple(threads * sizing.together for threads in code.teams)


def _address(buffer: Buffer, step: Step, pieces: dict[Any, Piece], at: Addresses) -> int:
    match buffer.holds:
        case "zeros":
            return at.cells + step.sizing.zeros()[buffer.name][0]
        case "partition":
            made = pieces.get((step.phase.path, buffer.name))
            return at.scratch + made.offset if made else at.partition
    return at.scratch + pieces[step.number, buffer.name].offset


# ---- sizes -----------------------------------------------------------------------------------------
def sizes_of(layout: Any, counts: Counted) -> Sizes:
    """Return the host's bounds of how many tiles, or items, a phase walks, and of what these consist of."""
    tiles, atoms = int(layout.max_tiles), int(layout.max_atoms)
    if counts == "tiles":
        return Sizes(tiles, atoms)
    return Sizes(int(layout.num_items), tiles + atoms if counts == "work" else tiles)


def entries(w: Workspace, binding: Binding) -> int:
    """Return the number of entries that a workspace array needs."""
    if w.extent == "one":
        return 1
    tiles = int(binding.layout(w.layout).max_tiles)
    return tiles if w.extent == "tile" else tiles * lanes_of(w.lanes, binding)


# ---- values ----------------------------------------------------------------------------------------
_SCALARS: dict[str, Any] = {
    "bool": np.bool_,
    "ev::int8": np.int8,
    "ev::int16": np.int16,
    "int": np.int32,
    "long long": np.int64,
    "ev::uint8": np.uint8,
    "ev::uint16": np.uint16,
    "unsigned": np.uint32,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
    "ev::complex64": np.complex64,
    "ev::complex128": np.complex128,
}


def scalar(value: Any, type_: str, wide: bool) -> Any:
    """Convert a number to the NumPy type of a kernel parameter of this C++ type."""
    if type_ == "pos":
        type_ = "long long" if wide else "int"
    return _SCALARS[type_](value)


def lanes_of(e: ir.Expr | None, binding: Binding) -> int:
    """Return the number of lanes of a dense axis."""
    assert e is not None
    return max(0, value_of(e, binding.scalar, binding.extent))
