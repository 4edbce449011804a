"""Draw the figures of a run, after Figures 2, 3 and 4 of Osama, Porumbescu, Owens (PPoPP 2023).

    overhead   time of generated kernels relative to the same kernels by hand
    landscape  time over nonzeros, one panel for each schedule
    speedup    how many times as fast `auto` is as the best of the other libraries

The figures are SVG on white, also in a dark theme. Kinds of points differ in shape as well as in colour.
Needs Matplotlib.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evenly.balance.pictures import available
from evenly.errors import InputError, UnavailableError
from evenly.schedules import TABLE as SCHEDULES
from evenly.timing.rounds import WARM

from .contender import AUTO, OURS
from .record import Row
from .summary import Ratio, Sides, family, geomean, overheads, ratios, rivals

# These colours differ in grey too, and for colour-blind readers (Okabe, Ito 2008).
MINE, OTHER, LINE, TEXT, FAINT = "#0072b2", "#e69f00", "#b3261e", "#1a1a1a", "#c8c8c8"
SHAPES = {"synthetic": "^", "family": "v", "file": "o"}
NAMES = {
    "synthetic": "generated matrices",
    "family": "matrices drawn by families",
    "file": "matrices from files",
}


def require() -> None:
    """Raise UnavailableError if Matplotlib is not installed."""
    if not available():
        remedy = "pip install 'evenly[plots]'"
        raise UnavailableError("the figures", "Matplotlib is not installed", remedy)


def save(rows: list[Row], folder: Path) -> list[Path]:
    """Draw the figures for which there are rows. Makes the folder if need be, and returns the paths of the files."""
    require()
    return write(figures(rows), folder)


def write(drawn: Iterable[tuple[str, Any]], folder: Path) -> list[Path]:
    """Write (name, matplotlib Figure) as SVG. Makes the folder if need be, and returns the paths of the files."""
    from matplotlib import rc_context

    made = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with rc_context({"svg.hashsalt": "evenly"}):  # the same rows give the same bytes
            for name, figure in drawn:
                made.append(folder / f"{name}.svg")
                figure.savefig(made[-1], metadata={"Date": None})
    except OSError as error:
        given = (error.strerror or str(error)).lower()
        raise InputError(str(folder), expected="a folder for figures", given=given) from None
    return made


def figures(rows: list[Row]) -> Iterator[tuple[str, Any]]:
    """Yield (name, matplotlib Figure) of the figures that have points."""
    usable = [row for row in rows if row.cache == WARM and row.rounds and not row.wrong]
    for name, draw in (("overhead", overhead), ("landscape", landscape), ("speedup", speedup)):
        figure = draw(usable)
        if figure is not None:
            yield name, figure


# ---- Figure 2 ----------------------------------------------------------------------------------------
def overhead(rows: list[Row]) -> Any:
    """Draw one panel for each kernel by hand. None if there are none."""
    found = [(c, ratios(rows, c)) for c in overheads(rows)]
    found = [(c, points) for c, points in found if points]
    if not found:
        return None
    figure, axes = panels(len(found), 1, 2.1, "time of the generated kernel / by hand")
    for ax, (comparison, points) in zip(axes, found, strict=True):
        mean = scatter_and_mean(ax, points)
        reach = max(0.1, *(abs(math.log(point.value)) for point in points)) * 1.1
        ax.set_yscale("log")
        ax.set_ylim(math.exp(-reach), math.exp(reach))
        plain_ticks(ax)
        title(ax, f"{bare(comparison.name)}: geometric mean {mean:.3f}")
    legend(figure, axes[0])
    return figure


# ---- Figure 3 ----------------------------------------------------------------------------------------
def landscape(rows: list[Row]) -> Any:
    """Draw one panel for each schedule with its default parameters, in front of the best of the other libraries."""
    defaults = [str(entry.make()) for entry in SCHEDULES.values()]
    by_name: dict[str, list[Row]] = {name: [] for name in defaults}
    for row in rows:
        if row.family == OURS and row.contender in defaults:
            by_name[row.contender].append(row)
    others = best_of(rows, rivals(rows))
    labels = "the fastest of the other libraries", "this schedule"
    # parameters are the defaults, and too long for a title
    return times({bare(name): (others, mine) for name, mine in by_name.items() if mine}, labels)


def times(found: Mapping[str, tuple[list[Row], list[Row]]], labels: tuple[str, str]) -> Any:
    """Draw a panel for each title: the times of rows, in front of those of others. None if there are none."""
    if not found:
        return None
    columns = min(2, len(found))
    figure, axes = panels(-(-len(found) // columns), columns, 2.1, "microseconds")
    for ax, (name, (others, mine)) in zip(axes, found.items(), strict=False):
        points(ax, others, OTHER, "s", 12, labels[0])
        points(ax, mine, MINE, "o", 10, labels[1])
        ax.set_yscale("log")
        title(ax, name)
    for place, ax in enumerate(axes[len(found) :], len(found)):
        ax.set_visible(False)
        axes[place - columns].tick_params(labelbottom=True)  # no panel below it
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    return figure


# ---- Figure 4 ----------------------------------------------------------------------------------------
def speedup(rows: list[Row]) -> Any:
    """Draw the speedup of `auto` over the best of the other libraries. None if no matrix has both."""
    return speedups({"auto": ratios(rows, Sides("", family(AUTO), rivals(rows)))})


def speedups(found: Mapping[str, list[Ratio]]) -> Any:
    """Draw a panel for each name: how many times as fast it is. None if there are no points."""
    found = {name: points for name, points in found.items() if points}
    if not found:
        return None
    height = 3.6 if len(found) == 1 else 2.1
    figure, axes = panels(len(found), 1, height, "times as fast as the best of the others")
    for ax, (name, points) in zip(axes, found.items(), strict=True):
        mean = scatter_and_mean(ax, points)
        ax.set_yscale("log")
        plain_ticks(ax)
        slower = sum(point.value < 1 for point in points)
        rest = f"slower on {slower} of {len(points)} matrices"
        title(ax, f"{name}: geometric mean {mean:.2f}, {rest}")
    legend(figure, axes[0])
    return figure


def best_of(rows: Iterable[Row], chooses: Any) -> list[Row]:
    """Return the fastest of the chosen rows of each matrix."""
    best: dict[str, Row] = {}
    for row in rows:
        if chooses(row) and (row.matrix not in best or row.us < best[row.matrix].us):
            best[row.matrix] = row
    return list(best.values())


# ---- pieces ------------------------------------------------------------------------------------------
def panels(
    rows: int, columns: int, height: float, label: str, below: str = "nonzeros"
) -> tuple[Any, list[Any]]:
    """Make a white figure of panels with a shared logarithmic axis, of nonzeros or of what `below` says."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, height * rows + 0.9), facecolor="white", layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=columns > 1, squeeze=False)
    figure.supxlabel(below, fontsize=9, color=TEXT)
    figure.supylabel(label, fontsize=9, color=TEXT)
    for ax in axes.flat:
        ax.set_xscale("log")
        ax.grid(color=FAINT, linewidth=0.4)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8, color=FAINT, labelcolor=TEXT)
    return figure, list(axes.flat)


def plain_ticks(ax: Any) -> None:
    """Label a logarithmic axis of ratios with plain numbers, such as 0.5 and 2."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = ax.get_ylim()
    if high / low < 4:
        ax.set_yscale("linear")
        return
    subs = (1, 1.5, 2, 3, 5, 7) if high / low < 30 else (1,)
    ax.yaxis.set_major_locator(LogLocator(subs=subs))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_locator(NullLocator())


def title(ax: Any, text: str) -> None:
    ax.set_title(text, loc="left", fontsize=9, color=TEXT, pad=4, parse_math=False)


def bare(text: str) -> str:
    """Remove the parameters of a schedule: "WarpMapped" for "WarpMapped(block=256, items=4)"."""
    return re.sub(r"\([^()]*\)", "", text)


def points(ax: Any, rows: list[Row], color: str, shape: str, size: int, label: str) -> None:
    """Draw times over nonzeros."""
    at = [row.nnz for row in rows], [row.us for row in rows]
    ax.scatter(*at, s=size, c=color, marker=shape, alpha=0.8, linewidths=0, label=label)


def scatter(ax: Any, found: list[Ratio]) -> None:
    """Draw ratios over nonzeros, with one kind of point for generated matrices and one for files."""
    for origin, shape in SHAPES.items():
        here = [ratio for ratio in found if ratio.ours.origin == origin]
        if here:
            at = [ratio.ours.nnz for ratio in here], [ratio.value for ratio in here]
            color = MINE if origin == "file" else OTHER
            ax.scatter(
                *at, s=18, c=color, marker=shape, edgecolors=TEXT, linewidths=0.3,
                label=NAMES[origin],
            )  # fmt: skip


def scatter_and_mean(ax: Any, found: list[Ratio]) -> float:
    """Draw ratios, a line at 1 and one at their geometric mean, which is returned."""
    scatter(ax, found)
    mean = geomean(ratio.value for ratio in found)
    ax.axhline(1, color=TEXT, linewidth=0.8)
    ax.axhline(mean, color=LINE, linewidth=1.2, linestyle=(0, (4, 2)))
    return mean


def legend(figure: Any, ax: Any) -> None:
    """Draw the legend of the points and the dashed line."""
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    dashed = Line2D([], [], color=LINE, linewidth=1.2, linestyle=(0, (4, 2)))
    figure.legend(
        [*handles, dashed], [*labels, "geometric mean"], loc="outside upper center", ncols=3,
        frameon=False, fontsize=8,
    )  # fmt: skip
