"""`Task`: the properties of a kernel by which a schedule is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from evenly.arguments import Binding
from evenly.interop.arrays import dtype_of
from evenly.language import ir, walk
from evenly.language.accesses import (
    contiguous_reads,
    gathers,
    only_accumulates,
    read_again,
    reads_contiguously,
)
from evenly.language.emits import loop_of
from evenly.language.scans import has_scans
from evenly.language.slicing import written_arrays
from evenly.language.types import POS, Scalar, struct_words
from evenly.layouts.batch import NarrowBatch
from evenly.layouts.bcsr import Bcsr
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.dia import Dia
from evenly.layouts.ell import ColumnEll
from evenly.layouts.fields import value_types
from evenly.layouts.padded import Padded
from evenly.layouts.pattern import PatternBatch
from evenly.layouts.sell import Sell
from evenly.targets.gpu.engines import engine_of

from .dense import Axis, axis_of


@dataclass(frozen=True, slots=True)
class Task:
    """The properties of a kernel that is to be run.

    whole_tiles: whether the kernel needs schedules that own whole tiles. value_bytes: the most bytes of a tile's
    accumulators. width: bytes of the largest value in them. atom_bytes: bytes that each atom reads in order. streams:
    whether the kernel reads atoms in the order of memory, and only reduces them. kept: whether it runs in an explicit
    plan, which stores what follows from a structure. runs: whether adjacent atoms read adjacent memory. scans: whether
    the kernel scans over atoms. items: whether it has a loop over items. splits: whether threads may then split tiles.
    emits: the path of the layout whose tiles emit (`out.emit`); (): none do. by_tile: whether what an atom contributes
    depends on its tile. axis: the dense axis around its passes. tasks: whether it has a loop over tasks.
    sums: whether it adds up floats over atoms of a frontier. again: whether several passes over a tile read the same,
    and none gathers. loops: whether atoms have loops of their own, such as searches, whose lengths follow from data.
    located: whether a reduction tells where its result is, as argmax does.
    """

    whole_tiles: bool = False
    value_bytes: int = 8
    width: int = 4
    streams: bool = False
    kept: bool = True
    runs: bool = True
    scans: bool = False
    items: bool = False
    splits: bool = False
    emits: ir.Path = ()
    atom_bytes: int = 8
    by_tile: bool = False
    axis: Axis | None = None
    tasks: bool = False
    sums: bool = False
    again: bool = False
    loops: bool = False
    located: bool = False

    @property
    def exchanged(self) -> int:
        """An upper bound of the bytes of a value that MergePath's lanes exchange: value_bytes are multiples of 8.

        A single number may be narrower. For a kernel without values, nothing depends on this.
        """
        return self.width if self.value_bytes <= 8 else self.value_bytes


INDEX = 4  # bytes of the ids that most layouts hold
SPMV = Task()
# Their atoms are not the positions of their values, or not all have one, or columns take more than one read.
FILLED = (Bcsr, Dia, Padded, PatternBatch)
BY_COLUMNS = (ColumnEll, Sell)  # the slots of adjacent rows are adjacent
SHARED = 47 * 1024  # the most bytes that the values of a block may take of its 48 KiB


def product_of(layout: LayoutInstance, kept: bool = True) -> Task:
    """Return the task of an SpMV of this layout and a vector of its type."""
    width = max([4, *(t.itemsize for t in value_types(layout))])
    runs = not isinstance(layout, FILLED)
    index = dtype_of(layout.indices).itemsize if isinstance(layout, NarrowBatch) else INDEX
    return Task(width=width, kept=kept, runs=runs, atom_bytes=index + width)


def task_of(program: ir.Program, kept: bool = True) -> Task:
    """Return the task of running a program."""
    from evenly.language.cutting import needs_whole_tiles  # late, so that `import evenly` is quick
    from evenly.language.item_cutting import can_split

    loops = [step for step in program.pieces if isinstance(step, ir.TileLoop)]
    passes = [p for loop in loops for p in _passes(loop)]
    widths = [8 * struct_words(_numbers(p)) for p in passes]
    streams = bool(passes) and all(p.accumulators and not _elsewhere(p) for p in passes)
    whole = needs_whole_tiles(program) is not None
    types = [v.type for p in passes for a in p.accumulators for v in a.fields]
    width = max((t.dtype.itemsize for t in types if t != POS), default=4)  # of values, not of atoms
    written = {a.path for a in written_arrays(program)}
    runs = any(only_accumulates(p) and reads_contiguously(p, written) for p in passes)
    scans = any(has_scans(p.body) for p in passes)
    items = any(loop.layout.items for loop in loops)
    loop = loop_of(program)
    emits = () if loop is None else loop.path
    value_bytes = max(widths, default=0)
    splits = items and can_split(program)
    in_order = (sum(_sizes(contiguous_reads(p, written))) for p in passes)
    atom_bytes = max(in_order, default=0) or INDEX + width
    by_tile = any(depends_on_tile(loop, p) for loop in loops for p in _passes(loop))
    about = whole, value_bytes, width, streams, kept, runs, scans, items, splits, emits, atom_bytes
    tasks = any(loop.tasks is not None for loop in loops)
    over_lists = (p for loop in loops if _grows(loop.layout) for p in _passes(loop))
    sums = any(_sums_floats(a) for p in over_lists for a in p.accumulators)
    again = any(read_again(loop.body, written) for loop in loops) and not any(map(gathers, passes))
    unknown = any(_loops(p) for p in passes)
    located = any(a.op in ("argmin", "argmax") for p in passes for a in p.accumulators)
    return Task(*about, by_tile, axis_of(program), tasks, sums, again, unknown, located)


def of_call(task: Task, binding: Binding) -> Task:
    """Return the task of a call with these arguments, which say how long a dense axis is."""
    if task.axis is None:
        return task
    return replace(task, axis=task.axis.at(binding.scalar, binding.extent))


def _passes(loop: ir.TileLoop) -> list[ir.Pass]:
    return [x for x in walk.statements(loop.body) if isinstance(x, ir.Pass)]


def _loops(pass_: ir.Pass) -> bool:
    """Whether an atom has a loop that runs as often as what it has read says."""
    return any(
        isinstance(x, ir.While) or (isinstance(x, ir.For) and x.kind == "atoms")
        for x in walk.statements(pass_.body)
    )


def _grows(layout: ir.LayoutCode) -> bool:
    """Whether a layout is a frontier, whose counts kernels change."""
    counts = walk.inline_expressions(layout.num_tiles)
    return any(isinstance(e, ir.Element) and e.array.grows for e in counts)


def _sums_floats(accumulator: ir.Accumulator) -> bool:
    """Whether the order of the atoms decides about the last bits of a result."""
    rounds = any(v.type.dtype.kind in "fc" for v in accumulator.fields)
    return rounds and accumulator.op in ("sum", "product", "reduce")


def depends_on_tile(loop: ir.TileLoop, pass_: ir.Pass) -> bool:
    """Whether a pass reads its tile, or what the loop over tiles has computed for it."""
    inside = {v for x in walk.statements(pass_.body) for v in walk.assigned(x)}
    inside |= {pass_.atom, *(v for a in pass_.accumulators for v in a.fields)}
    outside = {v for x in walk.statements(loop.body) for v in walk.assigned(x)} | {loop.tile}
    return bool((walk.variables_read(pass_.body) - inside) & outside)


def _sizes(elements: Iterable[ir.Element]) -> Iterator[int]:
    return (INDEX if e.type is POS else e.type.dtype.itemsize for e in elements)


def _numbers(pass_: ir.Pass) -> list[Scalar]:
    """Return the type of each number that a pass accumulates, those in local arrays too."""
    fields = (v for a in pass_.accumulators for v in a.fields)
    return [v.type for v in fields for _ in range(v.length or 1)]


def _elsewhere(pass_: ir.Pass) -> bool:
    effects = any(isinstance(s, ir.Store | ir.Atomic) for s in walk.statements(pass_.body))
    return effects or gathers(pass_)


def fits(schedule: Any, task: Task) -> bool:
    """Whether what a block keeps in shared memory fits there."""
    return engine_of(schedule).shared_bytes(schedule, task.value_bytes) <= SHARED
