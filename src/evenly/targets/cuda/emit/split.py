"""Kernels of the split engines: main, finish, partition, and the sums of the grid."""

from __future__ import annotations

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
RULES = {"merge": "merge_rule", "nonzero": "nonzero_rule"}


def emit_split(unit: Unit, phase: Split, name: str) -> PhaseCode:
    schedule = unit.schedule
    block = schedule.block
    streaming = schedule.engine in ("merge", "nonzero", "flatten")
    text = unit.text(streaming)
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
    carries = [Parameter("buffer", "void*" if cast else "pos*", name=n) for cast, n in CARRIES]
    folds = bool(phase.pass_.accumulators) and bool(phase.leave) and schedule.engine != "flatten"
    extra = [
        *(carries if folds else []),
        *totals.parameters,
        *([Parameter("blocks", "int", name="all")] if phase.lane is not None else []),
    ]
    rule = RULES.get(schedule.engine) if not persistent else None
    stored = [Parameter("buffer", "const pos* __restrict__", name="first_tile")] if rule else []
    body = main_body(text, schedule, phase, folds, totals, persistent, lanes)
    kernels = [
        unit.kernel(
            name, block, "tiles", text.references, source, body, [*extra, *stored], views=False
        )
    ]
    if folds:
        last = [*extra, Parameter("blocks", "int", name="main")]
        body = finish_body(text, phase, totals, lanes)
        kernels.append(
            unit.kernel(
                f"{name}_finish",
                FINISH_BLOCK,
                "finish",
                text.references,
                source,
                body,
                last,
                views=False,
            )
        )
    kernels += totals.final(unit, name, FINISH_BLOCK)
    fields = sum(len(a.fields) for a in phase.pass_.accumulators)
    partition = _partition(unit, name, phase, text, source, rule) if rule else None
    return PhaseCode(
        tuple(kernels),
        schedule,
        phase.path,
        phase.lanes,
        persistent,
        fields if folds else 0,
        totals.fields,
        partition,
    )


def _partition(
    unit: Unit, name: str, phase: Split, text: Text, source: list[str], rule: str
) -> KernelCode:
    """The kernel that makes a stored partition."""
    share = unit.schedule.block * unit.schedule.items
    values = struct_values(text.references, False) + (", 0" if phase.lane is not None else "")
    body = [
        f"  const Phase phase{{{values}}};",
        f"  ev::thread_partition<Phase, {share}, ev::{rule}>(phase, first_tile, main_blocks);",
    ]
    extra = [
        Parameter("buffer", "pos*", name="first_tile"),
        Parameter("blocks", "int", name="main"),
    ]
    return unit.kernel(
        f"{name}_partition",
        FINISH_BLOCK,
        "partition",
        text.references,
        source,
        body,
        extra,
        views=False,
    )


# ---- the bodies ----------------------------------------------------------------------------
def main_body(
    text: Text,
    schedule: Any,
    phase: Split,
    folds: bool,
    totals: Totals,
    persistent: bool,
    lanes: str,
) -> list[str]:
    block = schedule.block
    lane = phase.lane is not None
    partials = totals.partials("lane * (pos)all_blocks" if lane else "")
    carries = (
        carries_value("lane * (pos)ev::block_count()" if lane else "")
        if folds
        else "ev::Carries<Phase>{}"
    )
    if schedule.engine in RULES:
        kind = f"{block}, {schedule.items}, ev::{RULES[schedule.engine]}, {str(persistent).lower()}"
        call = f"ev::split_block<Phase, {kind}>(phase, {carries}, {partials}{'' if persistent else ', first_tile'});"
    elif schedule.engine == "share":
        call = f"ev::share<Phase, Sched, {block}>(phase, sched, {carries}, {partials});"
    else:
        call = f"ev::flatten<Phase, {schedule.size}, {block}>(phase, {partials});"
    lines = [f"const Phase phase{{{struct_values(text.references, lane)}}};"]
    if schedule.engine == "share":
        lines.append(f"const Sched sched{{{struct_values(text.references, lane)}}};")
    return over_lanes([*lines, call], lanes)


def finish_body(text: Text, phase: Split, totals: Totals, lanes: str) -> list[str]:
    lane = phase.lane is not None
    partials = totals.partials("lane * (pos)all_blocks + main_blocks" if lane else "main_blocks")
    carries = carries_value("lane * (pos)main_blocks" if lane else "")
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


def carries_value(offset: str) -> str:
    add = f" + {offset}" if offset else ""
    values = [f"{cast}{name}{add}" for cast, name in CARRIES]
    return f"ev::Carries<Phase>{{{', '.join(values)}}}"
