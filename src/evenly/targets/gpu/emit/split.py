"""Kernels of the split engines: main (in two kinds), finish, partition, and the sums of the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly.language.phases import Split
from evenly.language.schedule_code import schedule_code
from evenly.language.types import struct_words
from evenly.schedules.contract import MOST_THREADS, check_groups

from .asked import Asked, asked_apart
from .code import FINISH_BLOCK, KernelCode, PartitionCode, PhaseCode
from .expressions import Text
from .meeting import rereads
from .parameters import Parameter, struct_members, struct_values
from .phase_struct import PhaseStruct, schedule_struct
from .statements import fields_of
from .totals import Totals
from .unit import device_counts

if TYPE_CHECKING:
    from .unit import Unit

# The engines that split by block, and how they cut.
CARRIES = (
    ("", "out_tile"),
    ("(Phase::Value*)", "out_value"),
    ("", "head_tile"),
    ("(Phase::Value*)", "head_value"),
)
RULES = {"merge": "merge_rule", "nonzero": "nonzero_rule"}


def emit_split(unit: Unit, phase: Split, name: str) -> PhaseCode:
    made = SplitKernels(unit, phase, name)
    finish = [made.finish()] if made.folds and not made.meets else []
    return PhaseCode(
        (made.main(), *finish, *made.totals.final(unit, name, FINISH_BLOCK)),
        unit.schedule,
        phase.path,
        phase.lanes,
        made.persistent,
        made.value_words if made.folds else 0,
        made.totals.words,
        PartitionCode((made.partition(),)) if made.rule else None,
        made.meets,
    )


class SplitKernels:
    """The kernels of one phase. rule: how blocks cut, where they take a stored partition."""

    def __init__(self, unit: Unit, phase: Split, name: str) -> None:
        schedule = unit.schedule
        self.persistent = device_counts(phase.layout)
        fields = fields_of(phase.pass_.accumulators)
        self.value_words = struct_words(v.type for v in fields)
        has_value = bool(fields) and bool(phase.leave)
        self.folds = has_value and schedule.engine != "flatten"
        self.rule = None if self.persistent else RULES.get(schedule.engine)
        # Of the blocks that share a tile the last to come leaves it: totals of the grid depend on who leaves what, and
        # what leaving stores no other block may have read just before.
        self.meets = self.folds and self.rule is not None and not phase.grid and not rereads(phase)
        self.asked: Asked = {}
        if self.meets and self.value_words == 1:  # few registers are taken by what tiles become
            phase, self.asked = asked_apart(phase, schedule, unit.written, unit.wide)
        self.unit, self.phase, self.name, self.schedule = unit, phase, name, schedule
        self.text = unit.text(phase, schedule.engine in ("merge", "nonzero", "flatten"))
        self.totals = Totals(self.text, phase.grid)
        self.lanes = "" if phase.lanes is None else self.text.expr(phase.lanes)
        self.source = self.structs()

    def structs(self) -> list[str]:
        """What the engines take: the phase, and a user's schedule."""
        unit, phase, text = self.unit, self.phase, self.text
        body = PhaseStruct(text, phase, self.totals, self.asked).lines()
        sched: list[str] = []
        if self.schedule.engine == "share":
            code = schedule_code(self.schedule, unit.layouts[phase.path], phase.path)
            check_groups(self.schedule, code.groups)
            sched = schedule_struct(text, code, self.schedule.block)
        # Engines ask for Phase::pos; it comes first, since members are of that type.
        position = f"  using pos = {'long long' if unit.wide else 'int'};"
        lane = phase.lane is not None
        members = [position, *struct_members(text.references, unit.written, lane)]
        source = [*self.totals.structs, "struct Phase {", *members, *body, "};"]
        return [*source, "struct Sched {", *members, *sched, "};"] if sched else source

    def main(self) -> KernelCode:
        body = main_body(self)
        joins = [Parameter("buffer", "long long*", name="cells")] if self.meets else self.carries()
        return self.kernel("", "tiles", body, [*joins, *self.more(), *self.stored()])

    def finish(self) -> KernelCode:
        body = finish_body(self.text, self.phase, self.totals, self.lanes)
        parameters = [*self.carries(), *self.more(), Parameter("blocks", "int", name="main")]
        return self.kernel("_finish", "finish", body, parameters)

    def partition(self) -> KernelCode:
        body = partition_body(self.unit, self.phase, self.text, str(self.rule))
        made = Parameter("buffer", "pos*", name="first_tile")
        count = Parameter("blocks", "int", name="main")
        return self.kernel("_partition", "partition", body, [made, count])

    # ---- parts -----------------------------------------------------------------------------------
    def carries(self) -> list[Parameter]:
        found = [Parameter("buffer", "void*" if cast else "pos*", name=n) for cast, n in CARRIES]
        return found if self.folds else []

    def more(self) -> list[Parameter]:
        lane = self.phase.lane is not None
        blocks = [Parameter("blocks", "int", name="all")] if lane else []
        return [*self.totals.parameters, *blocks]

    def stored(self) -> list[Parameter]:
        first = Parameter("buffer", "const pos* __restrict__", name="first_tile")
        return [first] if self.rule else []

    def min_blocks(self) -> int:
        """Where all is asked for at once, as many as a multiprocessor can hold."""
        full = MOST_THREADS // self.schedule.block if self.asked else 0
        return getattr(self.schedule, "min_blocks", 0) or full

    def kernel(
        self, suffix: str, grid: str, body: list[str], parameters: list[Parameter]
    ) -> KernelCode:
        main = grid == "tiles"
        block = self.schedule.block if main else FINISH_BLOCK
        name, references = f"{self.name}{suffix}", self.text.references
        return self.unit.kernel(
            name, block, grid, references, self.source, body, parameters, views=False,
            min_blocks=self.min_blocks() if main else 0,
            carveout=getattr(self.schedule, "carveout", -1) if main else -1,
        )  # fmt: skip


# ---- the bodies ----------------------------------------------------------------------------
def partition_body(unit: Unit, phase: Split, text: Text, rule: str) -> list[str]:
    """A stored partition is made."""
    share = unit.schedule.block * unit.schedule.items
    values = struct_values(text.references, False) + (", 0" if phase.lane is not None else "")
    return [
        f"  const Phase phase{{{values}}};",
        f"  ev::thread_partition<Phase, {share}, ev::{rule}>(phase, first_tile, main_blocks);",
    ]


def main_body(made: SplitKernels) -> list[str]:
    text, schedule, phase = made.text, made.schedule, made.phase
    block, lane = schedule.block, phase.lane is not None
    partials = made.totals.partials("lane * (pos)all_blocks" if lane else "")
    join = joint(made.folds, made.meets, "ev::block_count()" if lane else "")
    if schedule.engine in RULES:
        apart = ", true" if made.asked else ""
        kind = f"Phase, {block}, {schedule.items}, ev::{RULES[schedule.engine]}{apart}"
        call = (
            f"ev::split_persistent<{kind}>(phase, {join}, {partials});"
            if made.persistent
            else f"ev::split_block<{kind}>(phase, {join}, {partials}, first_tile);"
        )
    elif schedule.engine == "share":
        call = f"ev::share<Phase, Sched, {block}>(phase, sched, {join}, {partials});"
    else:
        call = f"ev::flatten<Phase, {schedule.size}, {block}>(phase, {partials});"
    lines = [f"const Phase phase{{{struct_values(text.references, lane)}}};"]
    if schedule.engine == "share":
        lines.append(f"const Sched sched{{{struct_values(text.references, lane)}}};")
    return over_lanes([*lines, call], made.lanes)


def finish_body(text: Text, phase: Split, totals: Totals, lanes: str) -> list[str]:
    lane = phase.lane is not None
    partials = totals.partials("lane * (pos)all_blocks + main_blocks" if lane else "main_blocks")
    carries = joint(True, False, "main_blocks" if lane else "")
    lines = [
        f"const Phase phase{{{struct_values(text.references, lane)}}};",
        f"ev::finish<Phase, {FINISH_BLOCK}>(phase, {carries}, main_blocks, {partials});",
    ]
    return over_lanes(lines, lanes)


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
