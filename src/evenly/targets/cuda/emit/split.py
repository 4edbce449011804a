"""Kernels of the split engines: main (in two kinds), finish, partition, and the sums of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenly.language.phases import Split
from evenly.language.schedule_code import schedule_code

from .code import FINISH_BLOCK, KernelCode, PhaseCode, words
from .expressions import Text
from .parameters import Parameter, struct_members, struct_values
from .phase_struct import PhaseStruct, schedule_struct
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
# Where blocks join the tiles that they share on the way, in one kernel.
CHAIN = (("long long*", "blocks_begun"), ("long long*", "links"))
RULES = {"merge": "merge_rule", "nonzero": "nonzero_rule"}


def emit_split(unit: Unit, phase: Split, name: str) -> PhaseCode:
    made = SplitKernels(unit, phase, name)
    finish = [made.finish()] if made.folds else []
    return PhaseCode(
        (made.main(), *finish, *made.totals.final(unit, name, FINISH_BLOCK)),
        unit.schedule,
        phase.path,
        phase.lanes,
        made.persistent,
        words([v for a in phase.pass_.accumulators for v in a.fields]) if made.folds else 0,
        made.totals.words,
        made.partition() if made.rule else None,
        made.chained() if made.folds and made.rule else None,
    )


@dataclass(frozen=True, slots=True)
class Joint:
    """How tiles that cross blocks are joined: not at all, by a finish kernel, or on the way."""

    folds: bool
    persistent: bool
    chained: bool


class SplitKernels:
    """The kernels of one phase. rule: how blocks cut, where they take a stored partition."""

    def __init__(self, unit: Unit, phase: Split, name: str) -> None:
        schedule = unit.schedule
        self.unit, self.phase, self.name, self.schedule = unit, phase, name, schedule
        self.text = unit.text(phase, schedule.engine in ("merge", "nonzero", "flatten"))
        self.totals = Totals(self.text, phase.grid)
        self.lanes = "" if phase.lanes is None else self.text.expr(phase.lanes)
        self.source = self.structs()
        self.persistent = device_counts(phase.layout)
        has_value = bool(phase.pass_.accumulators) and bool(phase.leave)
        self.folds = has_value and schedule.engine != "flatten"
        self.rule = None if self.persistent else RULES.get(schedule.engine)

    def structs(self) -> list[str]:
        """What the engines take: the phase, and a user's schedule."""
        unit, phase, text = self.unit, self.phase, self.text
        body = PhaseStruct(text, phase, self.totals).lines()
        sched: list[str] = []
        if self.schedule.engine == "share":
            code = schedule_code(self.schedule, unit.layouts[phase.path], phase.path)
            sched = schedule_struct(text, code, self.schedule.block)
        # Engines ask for Phase::pos; it comes first, since members are of that type.
        position = f"  using pos = {'long long' if unit.wide else 'int'};"
        lane = phase.lane is not None
        members = [position, *struct_members(text.references, unit.written, lane)]
        source = [*self.totals.structs, "struct Phase {", *members, *body, "};"]
        return [*source, "struct Sched {", *members, *sched, "};"] if sched else source

    def main(self) -> KernelCode:
        body = self.main_body(Joint(self.folds, self.persistent, chained=False))
        return self.kernel("", "tiles", body, [*self.carries(), *self.more(), *self.stored()])

    def chained(self) -> KernelCode:
        body = self.main_body(Joint(self.folds, self.persistent, chained=True))
        chain = [Parameter("buffer", t, name=n) for t, n in CHAIN]
        return self.kernel("_chain", "tiles", body, [*chain, *self.more(), *self.stored()])

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
    def main_body(self, joint: Joint) -> list[str]:
        return main_body(self.text, self.schedule, self.phase, joint, self.totals, self.lanes)

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

    def kernel(
        self, suffix: str, grid: str, body: list[str], parameters: list[Parameter]
    ) -> KernelCode:
        block = self.schedule.block if grid == "tiles" else FINISH_BLOCK
        name, references = f"{self.name}{suffix}", self.text.references
        return self.unit.kernel(
            name, block, grid, references, self.source, body, parameters, views=False
        )


# ---- the bodies ----------------------------------------------------------------------------
def partition_body(unit: Unit, phase: Split, text: Text, rule: str) -> list[str]:
    """A stored partition is made."""
    share = unit.schedule.block * unit.schedule.items
    values = struct_values(text.references, False) + (", 0" if phase.lane is not None else "")
    return [
        f"  const Phase phase{{{values}}};",
        f"  ev::thread_partition<Phase, {share}, ev::{rule}>(phase, first_tile, main_blocks);",
    ]


def main_body(
    text: Text, schedule: Any, phase: Split, joint: Joint, totals: Totals, lanes: str
) -> list[str]:
    block = schedule.block
    lane = phase.lane is not None
    partials = totals.partials("lane * (pos)all_blocks" if lane else "")
    join = joint_value(joint, "lane * (pos)ev::block_count()" if lane else "")
    if schedule.engine in RULES:
        kind = f"Phase, {block}, {schedule.items}, ev::{RULES[schedule.engine]}"
        call = (
            f"ev::split_persistent<{kind}>(phase, {join}, {partials});"
            if joint.persistent
            else f"ev::split_block<{kind}>(phase, {join}, {partials}, first_tile);"
        )
    elif schedule.engine == "share":
        call = f"ev::share<Phase, Sched, {block}>(phase, sched, {join}, {partials});"
    else:
        call = f"ev::flatten<Phase, {schedule.size}, {block}>(phase, {partials});"
    lines = [f"const Phase phase{{{struct_values(text.references, lane)}}};"]
    if schedule.engine == "share":
        lines.append(f"const Sched sched{{{struct_values(text.references, lane)}}};")
    body = over_lanes([*lines, call], lanes)
    if not joint.chained:
        return body
    head = "  const long long begun = ev::read_begun(blocks_begun);"
    return [head, *body, "  ev::count_block(blocks_begun);"]


def finish_body(text: Text, phase: Split, totals: Totals, lanes: str) -> list[str]:
    lane = phase.lane is not None
    partials = totals.partials("lane * (pos)all_blocks + main_blocks" if lane else "main_blocks")
    carries = joint_value(Joint(True, False, False), "lane * (pos)main_blocks" if lane else "")
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


def joint_value(joint: Joint, offset: str) -> str:
    """What the engine joins tiles with. offset: of a lane's, in blocks."""
    if not joint.folds:
        return "ev::Carries<Phase>{}"
    if joint.chained:
        words = "2 * ev::words_of<Phase::Value>()"  # of a block
        return f"ev::Chain<Phase>{{begun, links{f' + {words} * {offset}' if offset else ''}}}"
    add = f" + {offset}" if offset else ""
    values = [f"{cast}{name}{add}" for cast, name in CARRIES]
    return f"ev::Carries<Phase>{{{', '.join(values)}}}"
