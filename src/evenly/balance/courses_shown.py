"""A TaskBalance as text, of at most 80 columns, and as a picture over time. The picture needs Matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from .balance import Numbers
from .courses import Course, TaskBalance
from .pictures import BUSY, FAINT, IDLE, POINTS, TEXT, steps
from .sketch import PLAIN_STEPS, STEPS, WIDTH, percent

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
    curves = ["", *(curve(load, points, marks) for load in balance.loads)]
    lines = [f"{balance.kernel}, {balance.tasks}: {balance.number:,} tasks in {balance.rounds} rounds", ""]  # fmt: skip
    for number, ((name, *cells), drawn) in enumerate(zip(rows, curves, strict=True)):
        mark = ">" if number == 1 else " "
        shown = " ".join(f"{cell:>{w}}" for cell, w in zip(cells, wide[1:], strict=True))
        lines.append(f"{mark} {name:{wide[0]}} {shown} {drawn}".rstrip())
    return "\n".join([*lines, "", *LEGEND])


def _row(load: Course, name: str) -> tuple[str, ...]:
    numbers = load.workers, load.steps, load.most, load.most_waiting
    workers, took, most, waiting = (f"{n:,}" for n in numbers)
    return name, workers, took, percent(load.idle), most, waiting


def curve(load: Course, points: int, marks: str) -> str:
    """Draw how many workers are busy over time; none as a blank."""
    heights = np.ceil(load.busy(points) / load.workers * len(marks) - 1e-9).astype(int)
    return "".join(" " if h <= 0 else marks[min(h, len(marks)) - 1] for h in heights)


# ---- pictures ----------------------------------------------------------------------------------
def figure(balance: TaskBalance) -> Any:
    """Return a `matplotlib.figure.Figure`: for each schedule the busy workers and the waiting tasks, over time."""
    from matplotlib.figure import Figure

    rows = len(balance.loads)
    made = Figure(figsize=(9, 1.25 * rows + 1.2), facecolor="white", layout="constrained")
    axes = made.subplots(rows, 2, sharex=True, squeeze=False)
    longest = max((load.steps for load in balance.loads), default=0)
    for (left, right), load in zip(axes, balance.loads, strict=True):
        _over_time(left, load, load.busy(POINTS), load.workers)
        _over_time(right, load, load.waiting(POINTS), None)
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
    return made


def _over_time(ax: Any, load: Course, values: Numbers, most: int | None) -> None:
    heights, edges = steps(values)
    if most is not None:
        ax.fill_between([0, load.steps], most, color=IDLE, linewidth=0)
    ax.stairs(heights, edges * load.steps, fill=True, color=BUSY, linewidth=0)
    ax.set_ylim(0, max(most or values.max(initial=0), 1) * 1.08)
    ax.grid(axis="y", color=FAINT, linewidth=0.4)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=7, color=FAINT, labelcolor=TEXT)
