"""Draw the figures of an experiment: a panel for each case or for all, a curve for each contender. Needs Matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenly.balance.pictures import available
from evenly.bench import plots

from .experiment import Experiment, Figure, Row
from .tables import UNITS

# These colours differ for colour-blind readers (Okabe, Ito 2008). The paper's curves are filled, the others dashed.
COLORS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#1a1a1a", "#7a7a7a", "#0072b2", "#56b4e9",
    "#b3261e", "#a08a00",
)  # fmt: skip
SHAPES = "os^vD*PXoDph"


def save(experiment: Experiment, found: dict[Figure, list[Any]], folder: Path) -> list[Path]:
    """Draw the figures that were measured, and return the files' paths: none without Matplotlib."""
    return plots.write(drawn(experiment, found), folder) if available() else []


def drawn(experiment: Experiment, found: dict[Figure, list[Any]]) -> Iterator[tuple[str, Any]]:
    """Yield (name, matplotlib Figure)."""
    for figure, rows in found.items():
        if figure.draw is not None:
            yield from figure.draw(rows)
        for value in figure.values:
            timed = [row for row in rows if row.rounds and not row.wrong]
            which = f"-{value.partition('_')[0]}" if len(figure.values) > 1 else ""
            if timed:
                yield f"{figure.file}{which}", draw(experiment, figure, value, timed)


def draw(experiment: Experiment, figure: Figure, value: str, rows: list[Row]) -> Any:
    """Draw one figure."""
    cases = list(dict.fromkeys(row.case for row in rows)) if figure.apart else [""]
    across = min(2, len(cases))
    height = 2.1 if len(cases) > 1 else 3.6
    made, axes = plots.panels(-(-len(cases) // across), across, height, UNITS[value], figure.axis)
    for ax, case in zip(axes, cases, strict=False):
        here = [row for row in rows if case in ("", row.case)]
        for place, curve in enumerate(experiment.curves):
            line(ax, place, curve, value, [row for row in here if row.curve == curve])
        plots.title(ax, case or figure.title)
    for ax in axes:
        ax.set_ylim(bottom=0)  # when all have been drawn: they share the axis
    for ax in axes[len(cases) :]:
        ax.set_visible(False)
    shown = {drawn.get_label(): drawn for ax in axes for drawn in ax.lines}
    names = [curve for curve in experiment.curves if curve in shown]
    handles = [shown[name] for name in names]
    made.legend(handles, names, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    return made


def line(ax: Any, place: int, curve: str, value: str, rows: list[Row]) -> None:
    """Draw one curve: the best of its contenders at each point."""
    best: dict[float, float] = {}
    for row in rows:
        best[row.x] = max(best.get(row.x, 0.0), float(getattr(row, value)))
    if not best:
        return
    points = sorted(best.items())
    ax.plot(
        [x for x, _ in points], [y for _, y in points], color=COLORS[place % len(COLORS)],
        marker=SHAPES[place % len(SHAPES)], markersize=3.5, linewidth=1,
        linestyle="-" if place < 6 else "--", label=curve,
    )  # fmt: skip
