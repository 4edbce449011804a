"""The rule of `auto`, which chooses a schedule from the statistics of the tiles. It is a pure function of them."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import partial

from evenly import schedules as s
from evenly import targets
from evenly.gpus.numbers import numbers
from evenly.layouts.contract import LayoutInstance

from .cost import Cost
from .look import look
from .model import Work, ordered, predicted, quickest
from .reuse import NOTHING, measured, reuse
from .rules import BESIDE_ROUNDS, prescribed
from .statistics import Statistics, judged_by, statistics
from .task import BY_COLUMNS, SPMV, Task, fits
from .whose import numbers_for

OWNERS = "the kernel needs schedules that own whole tiles"


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen and why. rejected: the other schedules, each with the reason.

    costs: whence the numbers are that times were predicted by; "" if none were.
    """

    schedule: s.Schedule
    why: str
    statistics: Statistics
    rejected: tuple[tuple[str, str], ...]
    costs: str = ""


def choose(layout: LayoutInstance | None, target: str, task: Task = SPMV) -> s.Schedule:
    """Choose a schedule for a layout on a target. The choice is remembered as long as the layout's statistics."""
    ruled = prescribed(layout, target, task)
    if ruled is not None:
        return ruled[0]
    if layout is None or not targets.find(target).gpu:
        return consider(layout, target, task).schedule
    look_for(layout, target, task)
    st = statistics(layout)
    known = _known.get(layout)
    if known is None or known[0] is not st:
        known = _known[layout] = st, {}
    found = known[1].get((target, task))
    if found is None:
        able = partial(fits, task=task)
        best = quickest(work_of(st, task, layout), numbers_for(layout), able)
        found = known[1][target, task] = best
    return found


def look_for(layout: LayoutInstance | None, target: str, task: Task) -> None:
    """Measure at once what a choice for this task needs of a layout on a GPU."""
    if layout is not None and task.gathers and targets.find(target).gpu:
        look(judged_by(layout), task.width)


_known: weakref.WeakKeyDictionary[
    LayoutInstance, tuple[Statistics, dict[tuple[str, Task], s.Schedule]]
] = weakref.WeakKeyDictionary()


def consider(layout: LayoutInstance | None, target: str, task: Task = SPMV) -> Choice:
    known = layout is not None and not task.tasks
    st = statistics(layout) if known else Statistics(0, 0, 0.0, 0, 0.0, 0.0)
    ruled = prescribed(layout, target, task)
    if ruled is not None:
        rounds = task.tasks and targets.find(target).gpu
        return Choice(*ruled, st, BESIDE_ROUNDS if rounds else ())
    if targets.find(target).gpu:
        return _on_gpu(st, task, layout)
    axis = task.axis
    around = axis is not None and (axis.both or not axis.inside) and axis.length > 1
    return _elsewhere(st, task.whole_tiles, around)


def _on_gpu(st: Statistics, task: Task, layout: LayoutInstance | None) -> Choice:
    """Choose the candidate with the least predicted time (choosing/model.py)."""
    work = work_of(st, task, layout)
    costs = _costs(work, layout)
    chosen, *others = costs
    # What is assumed is not said: nobody has looked.
    columns = f", {work.reuse}" if task.gathers and measured(work.reuse) else ""
    least = f"{costs[chosen].total:.1f} us predicted for {task.kind}, the least ({costs[chosen]})"
    why = f"{_shape(st)}{columns}: {least}"
    rejected = [
        (str(other), f"{costs[other].total:.1f} us predicted ({costs[other]})") for other in others
    ]
    if task.whole_tiles:
        rejected.append(("merge_path", OWNERS))
    return Choice(chosen, why, st, tuple(rejected), numbers_for(layout)["origin"])


def weighed(
    layout: LayoutInstance | None, target: str, task: Task = SPMV
) -> tuple[s.Schedule, ...]:
    """Return the choice of `auto`, then the others that it weighs, by their predicted times."""
    chosen = choose(layout, target, task)
    if layout is None or not targets.find(target).gpu or prescribed(layout, target, task):
        return (chosen,)
    found = ordered(work_of(statistics(layout), task, layout), numbers_for(layout))
    return tuple(schedule for schedule in found if fits(schedule, task))


def _costs(work: Work, layout: LayoutInstance | None) -> dict[s.Schedule, Cost]:
    """Predict the costs of each candidate that can run, the least total first."""
    found = predicted(work, numbers_for(layout))
    fitting = {schedule: cost for schedule, cost in found.items() if fits(schedule, work.task)}
    return dict(sorted(fitting.items(), key=lambda item: item[1].total))


def work_of(st: Statistics, task: Task, layout: LayoutInstance | None) -> Work:
    """Return what the model looks at. The columns are measured once for each layout."""
    looked = layout if layout is None else judged_by(layout)
    found = reuse(looked, task.width) if task.gathers else NOTHING
    columns = int(getattr(layout, "num_columns", st.tiles))
    return Work(st, task, found, columns, isinstance(layout, BY_COLUMNS))


def _shape(st: Statistics) -> str:
    if st.spread <= numbers()["regular_spread"]:
        return f"tiles of about {st.mean:.1f} atoms"
    return f"tile lengths vary (spread {st.spread:.2f}, longest {st.greatest:,})"


def _elsewhere(st: Statistics, whole_tiles: bool, columns: bool = False) -> Choice:
    regular = st.spread <= numbers()["regular_spread"] and st.greatest <= max(8 * st.mean, 64)
    if regular:
        why = "tiles of about equal length: equal numbers of tiles are equal work"
        return Choice(s.ThreadMapped(), why, st, _others(st, "thread_mapped"))
    if whole_tiles:
        splitting = dict.fromkeys(("work_oriented", "merge_path", "nonzero_split"), OWNERS)
        others = dict(_others(st, "thread_mapped")) | splitting
        return Choice(s.ThreadMapped(), OWNERS, st, tuple(others.items()))
    if columns:
        why = "workers that own tiles walk the atoms once for several columns"
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
