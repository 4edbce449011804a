"""What the engines share that split tiles: the phase as a struct, and the tiles that go on in another block.

A phase is a main kernel, and a finish kernel where the main one does not join the tiles that cross blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from evenly.gpus.gpu import LARGEST, Gpu
from evenly.language.phases import Split
from evenly.language.types import struct_words
from evenly.schedules.contract import Sizes, ceil_div

from ..emit.code import KernelCode, PartitionCode, PhaseCode
from ..emit.early_loads import Loads
from ..emit.parameters import Parameter, struct_members, struct_values
from ..emit.phase_struct import PhaseStruct
from ..emit.statements import fields_of
from ..emit.totals import Totals, partials
from ..emit.unit import Unit, device_counts
from ..engine import Engine
from ..sizing import ONE, Buffer, Sizing

FINISH_BLOCK = 256  # threads a block of the kernels that follow a main kernel
MAX_LANES = 65_535  # of a grid's y axis; kernels walk the rest
MEETING_FAN = 128  # `ev::meeting_fan`
PERSISTENT_BLOCKS = 8  # a multiprocessor, where only the device knows how much work there is
CARRIES = (
    ("", "out_tile"),
    ("(Phase::Value*)", "out_value"),
    ("", "head_tile"),
    ("(Phase::Value*)", "head_value"),
)


class SplitEngine(Engine):
    """folds: whether parts of a tile are joined. streams: whether lanes read consecutive atoms, each once."""

    owners = ("share",)
    folds: ClassVar[bool] = True
    streams: ClassVar[bool] = True

    def emit(self, unit: Unit, phase: Split, name: str) -> PhaseCode:
        made = SplitKernels(self, unit, phase, name)
        finish = [made.finish()] if made.folds and not made.meets else []
        kernels = (made.main(), *finish, *made.totals.final(unit, name, FINISH_BLOCK))
        partition = self.partition(made)
        return PhaseCode(kernels, made.launch(), phase.path, phase.lanes, partition)

    def meets(self, phase: Split) -> bool:
        """Whether the main kernel joins the tiles that its blocks share (device/meet.cuh)."""
        return False

    def early_loads(self, phase: Split, unit: Unit) -> tuple[Split, Loads]:
        """The phase, and what its atoms read that is loaded while tiles are marked (emit/early_loads.py)."""
        return phase, {}

    def structs(self, made: SplitKernels) -> list[str]:
        """What the kernels need beside `Phase`."""
        return []

    def parameters_of(self, made: SplitKernels) -> list[Parameter]:
        """What the main kernel takes beside what every such kernel does."""
        return []

    def partition(self, made: SplitKernels) -> PartitionCode | None:
        """How a partition is made that plans keep, where there is one."""
        return None

    def body(self, made: SplitKernels, join: str, totals: str) -> list[str]:
        """The lines of the main kernel behind `phase`: the call of the engine."""
        raise NotImplementedError


class SplitKernels:
    """The kernels of one phase under such an engine. persistent: blocks stay until there is no more to do."""

    def __init__(self, engine: SplitEngine, unit: Unit, phase: Split, name: str) -> None:
        self.engine, self.unit, self.name, self.schedule = engine, unit, name, unit.schedule
        self.persistent = device_counts(phase.layout)
        fields = fields_of(phase.pass_.accumulators)
        self.value_words = struct_words(v.type for v in fields)
        self.folds = engine.folds and bool(fields) and bool(phase.leave)
        self.meets = self.folds and not self.persistent and engine.meets(phase)
        self.loads: Loads = {}
        if self.meets and self.value_words == 1:  # few registers are taken by what tiles become
            phase, self.loads = engine.early_loads(phase, unit)
        self.phase, self.lane = phase, phase.lane is not None
        self.text = unit.text(phase, engine.streams)
        self.totals = Totals(self.text, phase.grid)
        self.lanes = "" if phase.lanes is None else self.text.expr(phase.lanes)
        self.source = self.structs()

    def launch(self) -> Launch:
        return Launch(
            self.engine,
            self.schedule,
            self.value_words if self.folds else 0,
            self.totals.words,
            self.unit.position,
            self.meets,
            self.persistent,
        )

    def structs(self) -> list[str]:
        """What the kernels of the engine take."""
        body = PhaseStruct(self.text, self.phase, self.totals, self.loads).lines()
        more = self.engine.structs(self)
        return [*self.totals.structs, "struct Phase {", *self.members(), *body, "};", *more]

    def members(self) -> list[str]:
        """The arguments of the kernel as members. Engines ask for Phase::pos; it comes first, for the members."""
        position = f"  using pos = {'long long' if self.unit.wide else 'int'};"
        return [position, *struct_members(self.text.references, self.unit.written, self.lane)]

    def values(self, lane: str = "lane") -> str:
        """The values of `members`. lane: of a dense axis, where there is one."""
        return struct_values(self.text.references, lane if self.lane else "")

    # ---- kernels ---------------------------------------------------------------------------------
    def main(self) -> KernelCode:
        schedule, totals = self.schedule, self.totals
        join = joint(self.folds, self.meets, "ev::block_count()" if self.lane else "")
        partial_totals = totals.partials("lane * (pos)all_blocks" if self.lane else "")
        body = self.engine.body(self, join, partial_totals)
        cells = [Parameter("buffer", "long long*", name="cells")]
        joins = cells if self.meets else self.carries()
        extra = [*joins, *self.more(), *self.engine.parameters_of(self)]
        full = LARGEST.at_once(schedule.block) if self.loads else 0  # all is loaded at once
        return self.unit.kernel(
            self.name, schedule.block, "tiles", self.text.references, self.source,
            over_lanes([self.phase_value(), *body], self.lanes), extra, views=False,
            min_blocks=getattr(schedule, "min_blocks", 0) or full,
            carveout=getattr(schedule, "carveout", -1),
        )  # fmt: skip

    def finish(self) -> KernelCode:
        blocks = "main_blocks" if self.lane else ""
        totals = self.totals.partials(
            "lane * (pos)all_blocks + main_blocks" if self.lane else "main_blocks"
        )
        call = f"ev::finish<Phase, {FINISH_BLOCK}>(phase, {joint(True, False, blocks)}, main_blocks, {totals});"
        extra = [*self.carries(), *self.more(), Parameter("blocks", "int", name="main")]
        return self.following("finish", over_lanes([self.phase_value(), call], self.lanes), extra)

    def following(self, what: str, body: list[str], extra: list[Parameter]) -> KernelCode:
        """A kernel that is no main one, of a grid of its own."""
        return self.unit.kernel(
            f"{self.name}_{what}", FINISH_BLOCK, what, self.text.references, self.source,
            body, extra, views=False,
        )  # fmt: skip

    # ---- parts -----------------------------------------------------------------------------------
    def phase_value(self) -> str:
        return f"const Phase phase{{{self.values()}}};"

    def carries(self) -> list[Parameter]:
        found = [Parameter("buffer", "void*" if cast else "pos*", name=n) for cast, n in CARRIES]
        return found if self.folds else []

    def more(self) -> list[Parameter]:
        blocks = [Parameter("blocks", "int", name="all")] if self.lane else []
        return [*self.totals.parameters, *blocks]


@dataclass(frozen=True, slots=True)
class Launch:
    """How such a phase is launched.

    value_words, grid_words: of 64 bits, that the values of a tile that blocks share and the grid's take.
    position: bytes of one.
    """

    engine: SplitEngine
    schedule: Any
    value_words: int
    grid_words: int
    position: int
    meets: bool
    persistent: bool

    def __call__(self, sizes: Sizes, lanes: int, gpu: Gpu) -> Sizing:
        blocks = self.engine.blocks(self.schedule, sizes, gpu)
        if self.persistent:
            blocks = min(blocks, gpu.multiprocessors * PERSISTENT_BLOCKS)
        if self.meets and sizes.num_tiles == 0:
            lanes = 0  # nothing to leave, and blocks that meet look at tiles
        finishes = self.value_words and not self.meets and blocks > 1
        finish = ceil_div(blocks, FINISH_BLOCK) if finishes else 0
        along = min(lanes, MAX_LANES)
        return Sizing(
            {
                "tiles": (blocks if lanes else 0, along),
                "finish": (finish if lanes else 0, along),
                "partition": (ceil_div(blocks + 1, FINISH_BLOCK), 1),
                "one": ONE,
            },
            {"main": blocks, "all": blocks + finish, "all_lanes": (blocks + finish) * lanes},
            (*self.joins(blocks, lanes), *partials((blocks + finish) * lanes, self.grid_words)),
        )

    def joins(self, blocks: int, lanes: int) -> tuple[Buffer, ...]:
        """What parts of tiles are joined by, and a partition."""
        position, value = self.position, 8 * self.value_words
        first = Buffer("first_tile", (blocks + 1) * position, position, "partition")
        if self.meets:
            # A link of 8 bytes to meet, and one for every 4 bytes of two parts, at most.
            cell = 8 + 2 * 2 * value
            return first, Buffer("cells", cells(blocks) * lanes * cell, 8, "zeros")
        if not value:
            return (first,)
        return (
            first,
            *(Buffer(name, blocks * lanes * position, position) for name in CARRIED_TILES),
            *(Buffer(name, blocks * lanes * value) for name in CARRIED_VALUES),
        )


CARRIED_TILES = [name for cast, name in CARRIES if not cast]
CARRIED_VALUES = [name for cast, name in CARRIES if cast]


def cells(blocks: int) -> int:
    """`ev::cells_of`: the cells where so many blocks meet; none where there is nobody to meet."""
    total = blocks if blocks > 1 else 0
    while blocks > MEETING_FAN:
        blocks = blocks // MEETING_FAN + 2
        total += blocks
    return total


def over_lanes(lines: list[str], lanes: str) -> list[str]:
    """One round a lane of the dense axis; shared memory is used again after a barrier."""
    if not lanes:
        return [f"  {line}" for line in lines]
    return [
        f"  for (pos lane = ev::block_y(); lane < (pos)({lanes}); lane += ev::block_y_count()) {{",
        *(f"    {line}" for line in lines),
        "    ev::barrier();",
        "  }",
    ]


def joint(folds: bool, meets: bool, blocks: str) -> str:
    """What tiles that cross blocks are joined with: nothing, where they meet, or what a finish kernel is left.

    blocks: of each lane of a dense axis, where there is one.
    """
    if not folds:
        return "ev::Carries<Phase>{}"
    if meets:
        add = f" + lane * ev::cells_of({blocks}) * ev::cell_links<Phase::Value>()" if blocks else ""
        return f"ev::Meeting<Phase>{{cells{add}}}"
    add = f" + lane * (pos){blocks}" if blocks else ""
    values = [f"{cast}{name}{add}" for cast, name in CARRIES]
    return f"ev::Carries<Phase>{{{', '.join(values)}}}"
