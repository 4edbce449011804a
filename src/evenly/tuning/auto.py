"""The rule of `auto`: a schedule from the statistics of the tiles. A pure function of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenly import schedules as s
from evenly.language import walk
from evenly.language.ir import Pass, Program, TileLoop
from evenly.language.phases import needs_whole_tiles
from evenly.language.types import struct_words

from .model import predicted
from .numbers import numbers
from .statistics import Statistics, statistics


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen and why; `rejected`: the other schedules, each with its reason."""

    schedule: Any
    why: str
    statistics: Statistics
    rejected: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be run.

    whole_tiles: the kernel needs schedules that own whole tiles. value_bytes: of a tile's accumulators, at
    most. kept: in an explicit plan, which keeps what follows from a structure.
    """

    whole_tiles: bool = False
    value_bytes: int = 8
    kept: bool = True


def task_of(program: Program, kept: bool = True) -> Task:
    """The task of running a program."""
    loops = [step for step in program.steps if isinstance(step, TileLoop)]
    passes = [x for loop in loops for x in walk.statements(loop.body) if isinstance(x, Pass)]
    widths = [8 * struct_words(v.type for a in p.accumulators for v in a.fields) for p in passes]
    whole = needs_whole_tiles(program) is not None
    return Task(whole, max(widths, default=0), kept)


SPMV = Task()
SHARED = 47 * 1024  # bytes that the values of a block may take of its 48 KiB
STAGED = ("merge", "nonzero")  # engines that keep the values of a block in shared memory


def choose(layout: Any, target: str, task: Task = SPMV) -> Any:
    """The schedule for a layout on a target."""
    return consider(layout, target, task).schedule


def consider(layout: Any, target: str, task: Task = SPMV) -> Choice:
    st = statistics(layout) if layout is not None else Statistics(0, 0, 0.0, 0, 0.0, 0.0)
    if target in ("cuda", "simt"):
        return _on_gpu(st, task)
    return _elsewhere(st, task.whole_tiles)


def _on_gpu(st: Statistics, task: Task) -> Choice:
    """The candidate that the model of costs holds to be the fastest (tuning/model.py)."""
    times = {
        schedule: us
        for schedule, us in predicted(st, numbers(), task.whole_tiles, task.kept).items()
        if fits(schedule, task.value_bytes)
    }
    chosen, *others = sorted(times, key=lambda schedule: times[schedule])
    why = f"{_shape(st)}: {times[chosen]:.1f} us predicted for an SpMV, the least"
    rejected = [(str(other), f"{times[other]:.1f} us predicted") for other in others]
    if task.whole_tiles:
        rejected.append(("merge_path", "the kernel needs schedules that own whole tiles"))
    return Choice(chosen, why, st, tuple(rejected))


def fits(schedule: Any, value_bytes: int) -> bool:
    """Whether the values of a block fit into its shared memory, and a mark for each."""
    if schedule.engine not in STAGED:
        return True
    return bool(schedule.block * schedule.items * (max(value_bytes, 8) + 1) <= SHARED)


def _shape(st: Statistics) -> str:
    if st.spread <= numbers()["regular_spread"]:
        return f"tiles of about {st.mean:.1f} atoms"
    return f"tile lengths vary (spread {st.spread:.2f}, longest {st.greatest:,})"


def _elsewhere(st: Statistics, whole_tiles: bool) -> Choice:
    regular = st.spread <= numbers()["regular_spread"] and st.greatest <= max(8 * st.mean, 64)
    if regular or whole_tiles:
        why = "tiles of about equal length: equal numbers of tiles are equal work"
        return Choice(s.ThreadMapped(), why, st, _others(st, "thread_mapped"))
    why = f"tile lengths vary (spread {st.spread:.2f}): tiles + atoms are divided evenly"
    return Choice(s.MergePath(), why, st, _others(st, "merge_path"))


def _others(st: Statistics, chosen: str) -> tuple[tuple[str, str], ...]:
    reasons = {
        "thread_mapped": f"a worker would walk up to {st.greatest} atoms alone, {st.mean:.1f} on average",
        "group_mapped": "a worker of a CPU is one lane",
        "block_mapped": "a worker of a CPU is one lane",
        "work_oriented": "as merge_path, which takes whole workers' shares at once",
        "merge_path": "the search for equal shares costs more than these tiles need",
        "nonzero_split": f"divides atoms only; {st.empty:.0%} of the tiles are empty",
    }
    return tuple((name, reason) for name, reason in reasons.items() if name != chosen)
