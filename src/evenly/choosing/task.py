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
    scatters,
)
from evenly.language.combine import combined
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
    accumulators. width: bytes of the largest value in them. gathers: whether atoms read or write elsewhere than at
    their own place, as `x[A.column(k)]`. kept: whether it runs in an explicit plan, which stores what follows from a
    structure. runs: whether adjacent atoms read adjacent memory. scans: whether the kernel scans over atoms. items:
    whether it has a loop over items. splits: whether threads may then split tiles. emits: the path of the layout whose
    tiles emit (`out.emit`); (): none do. atom_bytes: bytes that an atom reads in order, in the pass that reads most.
    by_tile: whether what an atom contributes depends on its tile. axis: the dense axis around its passes. tasks:
    whether it has a loop over tasks. ranged: whether these have atoms. sums: whether it adds up floats over atoms of a
    frontier. again: whether several passes over a tile read the same, and none gathers. loops: whether atoms have loops
    of their own, such as searches, whose lengths follow from data. passes: over the atoms of a tile. stored: bytes that
    an atom stores in order. later: bytes that it reads in order in other passes. kernels: that a run launches under
    schedules that own whole tiles, and under those that split them. scatters: whether atoms write elsewhere than at
    their own place. reductions: how many of the passes reduce. operations: of two partial results, to make them one.
    located: whether a reduction tells where its result is, as argmax does.
    """

    whole_tiles: bool = False
    value_bytes: int = 8
    width: int = 4
    gathers: bool = True
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
    ranged: bool = False
    sums: bool = False
    again: bool = False
    loops: bool = False
    passes: int = 1
    stored: int = 0
    later: int = 0
    kernels: tuple[int, int] = (1, 1)
    scatters: bool = False
    reductions: int = 1
    operations: int = 1
    located: bool = False

    @property
    def streams(self) -> bool:
        """Whether the kernel reads atoms in the order of memory, and only reduces them."""
        return not (self.gathers or self.stored)

    @property
    def kind(self) -> str:
        """What the kernel is, for a report."""
        if self.gathers and self.reductions and self.passes == 1:
            return "an SpMV"
        more = [" that scans"] * self.scans + [f" of {self.passes} passes"] * (self.passes > 1)
        return f"a kernel{''.join(more)} {'with' if self.gathers else 'without'} gathers"

    @property
    def exchanged(self) -> int:
        """An upper bound of the bytes of a value that MergePath's lanes exchange: value_bytes are multiples of 8.

        A single number may be narrower. For a kernel without values, nothing depends on this.
        """
        return self.width if self.value_bytes <= 8 else self.value_bytes


LOCATED = ("argmin", "argmax")
CALL = 4  # operations that a call counts as
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
    from evenly.targets.gpu.emit.unit import device_counts

    loops = [step for step in program.pieces if isinstance(step, ir.TileLoop)]
    # What follows from tiles that are counted on the device, no plan keeps.
    kept = kept and not any(device_counts(loop.layout) for loop in loops)
    passes = [p for loop in loops for p in _passes(loop)]
    widths = [8 * struct_words(_numbers(p)) for p in passes]
    scattered = any(scatters(p, s) for p in passes for s in _effects(p))
    elsewhere = scattered or any(map(gathers, passes))
    whole = needs_whole_tiles(program) is not None
    types = [v.type for p in passes for a in p.accumulators for v in a.fields]
    width = max((t.dtype.itemsize for t in types if t != POS), default=4)  # of values, not of atoms
    written = {a.path for a in written_arrays(program)}
    runs = any(only_accumulates(p) and reads_contiguously(p, written) for p in passes)
    items = any(loop.layout.items for loop in loops)
    loop = loop_of(program)
    emits = () if loop is None else loop.path
    value_bytes = max(widths, default=0)
    in_order = [sum(_sizes(contiguous_reads(p, written))) for p in passes]
    atom_bytes = max(in_order, default=0) or INDEX + width
    by_tile = any(depends_on_tile(loop, p) for loop in loops for p in _passes(loop))
    of_tasks = [loop for loop in loops if loop.tasks is not None]
    over_lists = (p for loop in loops if _grows(loop.layout) for p in _passes(loop))
    again = any(read_again(loop.body, written) for loop in loops) and not any(map(gathers, passes))
    clears = sum(has_scans(p.body) for p in passes)  # what blocks of a scan leave to others
    return Task(
        whole_tiles=whole,
        value_bytes=value_bytes,
        width=width,
        gathers=elsewhere,
        kept=kept,
        runs=runs,
        scans=clears > 0,
        items=items,
        splits=items and can_split(program),
        emits=emits,
        atom_bytes=atom_bytes,
        by_tile=by_tile,
        axis=axis_of(program),
        tasks=bool(of_tasks),
        ranged=any(_passes(loop) for loop in of_tasks),
        sums=any(_sums_floats(a) for p in over_lists for a in p.accumulators),
        again=again,
        loops=any(_loops(p) for p in passes),
        passes=len(passes) or 1,
        stored=sum(map(_stored, passes)),
        later=sum(in_order) - max(in_order, default=0),
        kernels=(len(loops) or 1, max(len(passes) + clears, 1)),
        scatters=scattered,
        reductions=sum(bool(p.accumulators) for p in passes),
        operations=max((_operations(a) for p in passes for a in p.accumulators), default=1),
        located=any(a.op in LOCATED for p in passes for a in p.accumulators),
    )


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


def _effects(pass_: ir.Pass) -> list[ir.Store | ir.Atomic]:
    return [s for s in walk.statements(pass_.body) if isinstance(s, ir.Store | ir.Atomic)]


def _stored(pass_: ir.Pass) -> int:
    """Return the bytes that an atom stores in order."""
    own = (s.array for s in _effects(pass_) if not scatters(pass_, s))
    return sum(array.dtype.dtype.itemsize for array in own)


def _operations(accumulator: ir.Accumulator) -> int:
    """Return how many operations make two partial results one; a call, such as `exp`, counts as CALL of them."""
    fields = tuple(accumulator.fields)
    block, values = combined(accumulator, fields, fields)
    every = [*walk.expressions(block), *(e for v in values for e in walk.subexpressions(v))]
    weights = (
        CALL if isinstance(e, ir.Call) else 1 for e in every if not isinstance(e, ir.Var | ir.Const)
    )
    return max(sum(weights), 1)


def fits(schedule: Any, task: Task) -> bool:
    """Whether what a block keeps in shared memory fits there."""
    return engine_of(schedule).shared_bytes(schedule, task.value_bytes) <= SHARED
