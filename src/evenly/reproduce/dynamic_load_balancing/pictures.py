"""Figures 2 to 5, drawn as the paper draws them. Need Matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from evenly.bench import plots

from ..curves import COLORS, SHAPES
from .particles import DISTRIBUTIONS
from .sweep import EVERY, Point

Drawn = Iterator[tuple[str, Any]]


def launches(rows: list[Point]) -> Drawn:
    """Yield Figure 2: the best time over threads a block, and over blocks."""
    yield from _by_method("figure-2-threads", rows, "threads", "threads a block")
    yield from _by_method("figure-2-blocks", rows, "blocks", "blocks")


def blocks(rows: list[Point]) -> Drawn:
    """Yield Figure 3."""
    yield from _by_method("figure-3", rows, "blocks", "blocks that run at a time")


def particles(rows: list[Point]) -> Drawn:
    """Yield Figure 4."""
    yield from _by_method("figure-4", rows, "particles", "particles")


def tasks(rows: list[Point]) -> Drawn:
    """Yield Figure 5: a curve for each distribution."""
    found = {d: [r for r in rows if r.distribution == d] for d in DISTRIBUTIONS}
    yield from _drawn("figure-5", {"": found}, "particles", "particles", "tasks", lambda r: r.tasks)


def _by_method(name: str, rows: list[Point], key: str, axis: str) -> Drawn:
    found = {
        d: {m: [r for r in rows if (r.distribution, r.method) == (d, m)] for m in EVERY}
        for d in DISTRIBUTIONS
    }
    yield from _drawn(name, found, key, axis, "ms", lambda r: r.us / 1e3)


def _drawn(
    name: str,
    panels: dict[str, dict[str, list[Point]]],
    key: str,
    axis: str,
    unit: str,
    value: Callable[[Point], float],
) -> Drawn:
    """Yield a figure with a panel for each distribution, a curve for each name: the least value at each place."""
    usable = [
        r for some in panels.values() for mine in some.values() for r in mine if r.rounds and not r.wrong
    ]  # fmt: skip
    if not usable:
        return
    made, axes = plots.panels(1, len(panels), 3.6, unit, axis)
    for ax, (title, some) in zip(axes, panels.items(), strict=False):
        for place, (label, mine) in enumerate(some.items()):
            least: dict[float, float] = {}
            for r in (r for r in mine if r.rounds and not r.wrong):
                at = getattr(r, key)
                least[at] = min(least.get(at, value(r)), value(r))
            if least:
                xs, ys = zip(*sorted(least.items()), strict=True)
                style = {"color": COLORS[place], "marker": SHAPES[place], "markersize": 3.5}
                ax.plot(xs, ys, linewidth=1, label=label, **style)
        ax.set_xscale("linear" if key == "threads" else "log")
        ax.set_yscale("log")
        plots.title(ax, title)
    axes[0].legend(frameon=False, fontsize=8)
    yield name, made
