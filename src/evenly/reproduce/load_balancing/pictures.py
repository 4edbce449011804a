"""Figures 2 to 4, drawn. Need Matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenly.bench import plots
from evenly.bench.hardwired import PREFIX
from evenly.bench.record import Row
from evenly.bench.summary import Sides, contender, ratios, rivals

from .rule import CHOOSERS
from .sweep import NAMES, SCHEDULES

Drawn = Iterator[tuple[str, Any]]


def usable(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.rounds and not row.wrong]


def overhead(rows: list[Row]) -> Drawn:
    """Yield Figure 2: the times of both, and their ratio."""
    right = usable(rows)
    hands = {row.contender for row in right if row.contender.startswith(PREFIX)}
    pairs = {
        plots.bare(name): ([r for r in right if r.contender == PREFIX + name], mine)
        for name in map(str, SCHEDULES)
        if PREFIX + name in hands and (mine := [r for r in right if r.contender == name])
    }
    yield from _made("figure-2", plots.times(pairs, ("by hand", "generated")))
    yield from _made("figure-2-ratio", plots.overhead(right))


def landscape(rows: list[Row]) -> Drawn:
    """Yield Figure 3: a panel a schedule, the paper's three first."""
    right = usable(rows)
    behind = plots.best_of(right, rivals(right))
    titles = {str(schedule): plots.bare(str(schedule)) for schedule in SCHEDULES}
    titles |= {contender: f"{plots.bare(contender)}, {name}" for name, contender in NAMES.items()}
    panels = {
        title: (behind, mine)
        for name, title in titles.items()
        if (mine := [row for row in right if row.contender == name])
    }
    yield from _made("figure-3", plots.times(panels, ("the library", "this schedule")))


def speedup(rows: list[Row]) -> Drawn:
    """Yield Figure 4: a panel for each way to choose."""
    right = usable(rows)
    found = {name: ratios(right, Sides("", contender(name), rivals(right))) for name in CHOOSERS}
    yield from _made("figure-4", plots.speedups(found))


def _made(name: str, figure: Any) -> Drawn:
    if figure is not None:
        yield name, figure
