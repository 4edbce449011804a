"""The share engine: consecutive threads share tiles, as the schedule's methods say (device/share.cuh)."""

from __future__ import annotations

from typing import Any

from evenly.language.schedule_code import ScheduleCode, schedule_code
from evenly.schedules.contract import ceil_div, check_groups
from evenly.schedules.work_oriented import WorkOriented

from ..emit.processor import define_processor
from ..emit.schedule_struct import ScheduleStruct
from ..engine import Counts
from .merge import along_path
from .split import SplitEngine, SplitKernels


class ShareEngine(SplitEngine):
    """The share engine. It carries partial results of a tile from thread to thread."""

    runs_methods = True
    on_cpu = "methods"
    streams = False

    def structs(self, made: SplitKernels) -> list[str]:
        code = self.code(made)
        check_groups(made.schedule, code.groups, *code.exchanging)
        block = made.schedule.block
        made_of = ScheduleStruct(
            made.text, code, lambda w, part: define_processor(w, part, 1, block)
        )
        return ["struct Sched {", *made.members(), *made_of.lines(), "};"]

    def code(self, made: SplitKernels) -> ScheduleCode:
        path = made.phase.path
        return schedule_code(made.schedule, made.unit.layouts[path], path)

    def body(self, made: SplitKernels, join: str, totals: str) -> list[str]:
        yields = "" if self.code(made).tiles.results else ", true"
        kind = f"Phase, Sched, {made.schedule.block}{yields}"
        return [
            f"const Sched sched{{{made.values()}}};",
            f"ev::share<{kind}>(phase, sched, {join}, {totals});",
        ]

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts] | None:
        if type(schedule) is not WorkOriented:
            return None
        threads, total = blocks * schedule.block, len(offsets) - 1 + int(offsets[-1])
        return 1, along_path(offsets, ceil_div(total, threads) if threads else 0, threads)
