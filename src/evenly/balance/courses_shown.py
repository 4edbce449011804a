"""A TaskBalance as text, of at most 80 columns, and as a picture over time. The picture needs Matplotlib."""

from __future__ import annotations

from typing import Any

from evenly.layouts.task_results import STEPS, Counts, drawn

from .balance import Numbers
from .courses import Course, TaskBalance
from .pictures import BUSY, FAINT, IDLE, POINTS, TEXT, steps
from .sketch import PLAIN_STEPS, WIDTH, percent

LEGEND = (
    "A task takes a step, and one for each atom that its threads do not take at once.",
    "idle     workers without a task, of all their time",
    "tasks    the most tasks of a worker",
    "waiting  the most tasks that wait at a time",
    "curve    busy workers over time, all of them at full height",
)


def sketch(balance: TaskBalance, plain: bool = False) -> str:
    """Return the balance in lines of at most 80 columns. plain: in ASCII only."""
    names = [load.label for load in balance.loads]
    rows: list[tuple[str, ...]] = [("", "workers", "steps", "idle", "tasks", "waiting")]
    rows += [_row(load, name) for load, name in zip(balance.loads, names, strict=True)]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    points = max(WIDTH - 2 - sum(wide) - len(wide), 8)
    marks = PLAIN_STEPS if plain else STEPS
    curves = ["", *(drawn(load.busy(points) / load.workers, marks) for load in balance.loads)]
    lines = [f"{balance.kernel}, {balance.tasks}: {balance.number:,} tasks in {balance.rounds} rounds", ""]  # fmt: skip
    for number, ((name, *cells), line) in enumerate(zip(rows, curves, strict=True)):
        mark = ">" if number == 1 else " "
        shown = " ".join(f"{cell:>{w}}" for cell, w in zip(cells, wide[1:], strict=True))
        lines.append(f"{mark} {name:{wide[0]}} {shown} {line}".rstrip())
    return "\n".join([*lines, "", *LEGEND, *measured(balance.counts, marks)])


def measured(counts: Counts | None, marks: str) -> list[str]:
    """Return the lines of what workers have really done."""
    if counts is None:
        return []
    said = [
        "",
        f"measured: {counts.tasks:,} tasks, {counts.fewest:,} to {counts.most:,} each of {counts.of_round:,} workers;",
        f"{counts.handed:,} came from others, {counts.failed:,} swaps failed, {counts.in_vain:,} in vain",
    ]
    if counts.there:
        said[-1] += f", idle {percent(counts.idle_share)}"
    return [*said, counts.curve(WIDTH, marks)] if counts.lasted else said


def _row(load: Course, name: str) -> tuple[str, ...]:
    numbers = load.workers, load.steps, load.most, load.most_waiting
    workers, took, most, waiting = (f"{n:,}" for n in numbers)
    return name, workers, took, percent(load.idle), most, waiting


# ---- pictures ----------------------------------------------------------------------------------
def figure(balance: TaskBalance) -> Any:
    """Return a `matplotlib.figure.Figure`: for each schedule the busy workers and the waiting tasks, over time."""
    from matplotlib.figure import Figure

    rows = len(balance.loads)
    size = 9, 1.25 * rows + 1.2
    whole: Any = Figure(figsize=size, facecolor="white", layout="constrained")
    made = whole
    if balance.counts is not None and balance.counts.lasted:
        whole.set_size_inches(9, 1.25 * (rows + 1) + 1.6)
        made, last = whole.subfigures(2, 1, height_ratios=(rows, 1.3))
        _measured(last, balance.counts)
    axes = made.subplots(rows, 2, sharex=True, squeeze=False)
    longest = max((load.steps for load in balance.loads), default=0)
    for (left, right), load in zip(axes, balance.loads, strict=True):
        _curve(left, load.steps, load.busy(POINTS), load.workers)
        _curve(right, load.steps, load.waiting(POINTS), None)
        left.set_title(
            f"{load.workers:,} workers, idle {percent(load.idle)}", loc="left", fontsize=8
        )
        right.set_title(f"at most {load.most_waiting:,} waiting", loc="left", fontsize=8)
        name = load.label.replace(" ", "\n")
        bold = "bold" if load is balance.chosen else "normal"
        left.set_ylabel(name, rotation=0, ha="right", va="center", color=TEXT, fontweight=bold)
        left.set_xlim(0, max(longest, 1))
    for ax, said in zip(
        axes[-1], ("busy workers, over steps", "waiting tasks, over steps"), strict=True
    ):
        ax.set_xlabel(said, fontsize=9, color=TEXT)
    made.suptitle(f"{balance.kernel}, {balance.tasks}: {balance.number:,} tasks", color=TEXT)
    return whole


def _measured(made: Any, counts: Counts) -> None:
    """Draw what workers of a GPU have really done: how many were busy over time, and the tasks that each has run."""
    left, right = made.subplots(1, 2)
    _curve(left, 1e3 * counts.lasted, counts.busy(POINTS), counts.of_round)
    idle = f"{counts.of_round:,} workers, idle {percent(counts.idle_share)}"
    left.set_title(idle, loc="left", fontsize=8)
    left.set_ylabel("measured", rotation=0, ha="right", va="center", color=TEXT)
    left.set_xlabel("busy workers, over ms", fontsize=9, color=TEXT)
    right.bar(range(len(counts.by_tasks)), counts.by_tasks, color=BUSY)
    right.set_title(f"{counts.fewest:,} to {counts.most:,} tasks each", loc="left", fontsize=8)
    right.set_xlabel("workers, by the bits of their number of tasks", fontsize=9, color=TEXT)
    right.tick_params(labelsize=7, color=FAINT, labelcolor=TEXT)


def _curve(ax: Any, length: float, values: Numbers, most: int | None) -> None:
    heights, edges = steps(values)
    if most is not None:
        ax.fill_between([0, length], most, color=IDLE, linewidth=0)
    ax.stairs(heights, edges * length, fill=True, color=BUSY, linewidth=0)
    ax.set_ylim(0, max(most or values.max(initial=0), 1) * 1.08)
    ax.grid(axis="y", color=FAINT, linewidth=0.4)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=7, color=FAINT, labelcolor=TEXT)
