"""Kernels of the split engines: main (in two kinds), finish, partition, and the sums of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenly.language.phases import Split
from evenly.language.schedule_code import schedule_code

from .code import FINISH_BLOCK, KernelCode, PhaseCode
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
    schedule = unit.schedule
    block = schedule.block
    streaming = schedule.engine in ("merge", "nonzero", "flatten")
    text = unit.text(phase, streaming)
    totals = Totals(text, phase.grid)
    lanes = "" if phase.lanes is None else text.expr(phase.lanes)
    body = PhaseStruct(text, phase, totals).lines()
    code = (
        schedule_code(schedule, unit.layouts[phase.path], phase.path)
        if schedule.engine == "share"
        else None
    )
    sched = schedule_struct(text, code, block) if code else []
    # Engines ask for Phase::pos; it comes first, since members are of that type.
    position = f"  using pos = {'long long' if unit.wide else 'int'};"
    members = [
        position,
        *struct_members(text.references, unit.written, phase.lane is not None),
    ]
    source = [*totals.structs, "struct Phase {", *members, *body, "};"]
    if code:
        source += ["struct Sched {", *members, *sched, "};"]
    persistent = device_counts(phase.layout)
    folds = bool(phase.pass_.accumulators) and bool(phase.leave) and schedule.engine != "flatten"
    carries = [Parameter("buffer", "void*" if cast else "pos*", name=n) for cast, n in CARRIES]
    chain = [Parameter("buffer", t, name=n) for t, n in CHAIN]
    more = [
        *totals.parameters,
        *([Parameter("blocks", "int", name="all")] if phase.lane is not None else []),
    ]
    extra = [*(carries if folds else []), *more]
    rule = RULES.get(schedule.engine) if not persistent else None
    stored = [Parameter("buffer", "const pos* __restrict__", name="first_tile")] if rule else []

    def kernel(
        suffix: str, size: int, grid: str, body: list[str], parameters: list[Parameter]
    ) -> KernelCode:
        return unit.kernel(
            f"{name}{suffix}", size, grid, text.references, source, body, parameters, views=False
        )

    joint = Joint(folds, persistent, chained=False)
    body = main_body(text, schedule, phase, joint, totals, lanes)
    kernels = [kernel("", block, "tiles", body, [*extra, *stored])]
    chained = None
    if folds and rule:
        body = main_body(text, schedule, phase, Joint(folds, persistent, True), totals, lanes)
        chained = kernel("_chain", block, "tiles", body, [*chain, *more, *stored])
    if folds:
        body = finish_body(text, phase, totals, lanes)
        last = [*extra, Parameter("blocks", "int", name="main")]
        kernels.append(kernel("_finish", FINISH_BLOCK, "finish", body, last))
    kernels += totals.final(unit, name, FINISH_BLOCK)
    fields = sum(len(a.fields) for a in phase.pass_.accumulators)
    partition = None
    if rule:
        body = partition_body(unit, phase, text, rule)
        parameters = [
            Parameter("buffer", "pos*", name="first_tile"),
            Parameter("blocks", "int", name="main"),
        ]
        partition = kernel("_partition", FINISH_BLOCK, "partition", body, parameters)
    return PhaseCode(
        tuple(kernels),
        schedule,
        phase.path,
        phase.lanes,
        persistent,
        fields if folds else 0,
        totals.fields,
        partition,
        chained,
    )


@dataclass(frozen=True, slots=True)
class Joint:
    """How tiles that cross blocks are joined: not at all, by a finish kernel, or on the way."""

    folds: bool
    persistent: bool
    chained: bool


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
