"""Draw a Balance: one row for each schedule, with its threads, warps and blocks side by side.

The panels of a row share an axis of time (atoms that a thread takes one after the other). Dark is
time at an atom, light is time without one. Needs Matplotlib.
"""

from __future__ import annotations

import importlib.util
import io
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from evenly.errors import InputError, UnavailableError

from .balance import Balance, Level, Load, Numbers
from .sketch import percent, times

SUFFIXES = (".png", ".svg")
POINTS = 240  # the steps of a curve
DPI = 160
STEEP = 12  # the axis is logarithmic if the longest time is this many times a mean warp's
# Dark and light enough to be told apart in grey, and by colour-blind readers (Okabe, Ito 2008).
BUSY, IDLE, MEAN, TEXT, FAINT = "#0072b2", "#f6d58c", "#b3261e", "#1a1a1a", "#b8b8b8"


def available() -> bool:
    """Whether Matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def check_path(path: Any, name: str = "path") -> None:
    """Refuse a path that cannot be drawn to, before anything is computed."""
    if not isinstance(path, str | PathLike):
        raise InputError(name, expected="the path of a file", given=type(path).__name__)
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(name, expected="a file that ends in .png or .svg", given=repr(str(path)))
    if not Path(path).absolute().parent.is_dir():
        raise InputError(name, expected="a file in a folder that exists", given=repr(str(path)))
    if not available():
        raise UnavailableError(
            "a picture of the balance", "Matplotlib is not installed", "pip install 'evenly[plots]'"
        )


def text_of(figure: Any) -> str:
    """Return a figure as SVG text."""
    out = io.StringIO()
    figure.savefig(out, format="svg")
    return out.getvalue()


def figure(balance: Balance) -> Any:
    """Return the picture as a `matplotlib.figure.Figure` that belongs to no window."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    rows = len(balance.loads)
    apart = ConstrainedLayoutEngine(hspace=0.06, wspace=0.03)
    made = Figure(figsize=(11, 1.25 * rows + 1.7), facecolor="white", layout=apart)
    axes = made.subplots(rows, 3, sharey="row", squeeze=False)
    for row, load in zip(axes, balance.loads, strict=True):
        _row(row, load)
        _name(row[0], load, load is balance.chosen, _scale(row[0], load))
    _headings(made, axes, balance)
    return made


# ---- one schedule -----------------------------------------------------------------------------------
def _row(axes: Any, load: Load) -> None:
    threads, warps, blocks = load.threads, load.warps, load.blocks
    for ax, level in ((axes[0], threads), (axes[1], warps)):
        time, atoms = level.sampled(POINTS)
        _fill(ax, time, atoms / level.lanes, level)
    _fill(axes[2], *in_launch_order(blocks), blocks)
    notes = (
        f"threads: {threads.number:,}; longest {times(threads.skew)} mean",
        f"warps: {warps.number:,}; lanes idle {percent(load.idle_lanes)}",
        f"blocks: {blocks.number:,}; idle {percent(load.idle)}, longest {times(blocks.skew)} mean",
    )
    for ax, note in zip(axes, notes, strict=True):
        ax.set_title(note, loc="left", fontsize=8, color=TEXT, pad=3)


def _scale(ax: Any, load: Load) -> str:
    """Set the row's axis, logarithmic if its longest time would hide the rest, and return a note that says so."""
    most = load.threads.most
    if most > STEEP * max(load.warps.mean, 1):
        ax.set_yscale("symlog", linthresh=1, linscale=0.5)
        ax.set_ylim(0, most * 2)
        return "(log scale)"
    ax.set_ylim(0, max(most, 1) * 1.08)
    ax.yaxis.get_major_locator().set_params(integer=True, nbins=4)
    return ""


def _name(ax: Any, load: Load, chosen: bool, scale: str) -> None:
    lines = [*load.label.split(" "), *["chosen"] * chosen, *[scale] * bool(scale)]
    ax.set_ylabel(
        "\n".join(["▶ " * chosen + lines[0], *lines[1:]]), color=TEXT, rotation=0,
        ha="right", va="center", labelpad=8, fontweight="bold" if chosen else "normal",
    )  # fmt: skip


def in_launch_order(level: Level) -> tuple[Numbers, Numbers]:
    """Return (greatest time, mean busy time) of successive blocks, in at most POINTS pieces."""
    pieces = min(level.number, POINTS)
    starts = np.arange(pieces) * level.number // max(pieces, 1)
    if pieces == 0:
        return level.time, level.atoms / level.lanes
    sizes = np.diff(np.append(starts, level.number))
    busy = np.add.reduceat(level.atoms, starts) / sizes / level.lanes
    return np.maximum.reduceat(level.time, starts), busy


def steps(heights: Numbers) -> tuple[Numbers, Numbers]:
    """Return (heights, edges) of equally wide bars from 0 to 1. Neighbours of one height become one bar."""
    starts = np.flatnonzero(np.diff(heights, prepend=-1))
    edges = np.append(starts, len(heights)) / max(len(heights), 1)
    return heights[starts], edges


def _fill(ax: Any, time: Numbers, busy: Numbers, level: Level) -> None:
    for heights, color in ((time, IDLE), (busy, BUSY)):
        ax.stairs(*steps(heights), fill=True, color=color, linewidth=0)
    ax.axhline(level.mean, color=MEAN, linewidth=1, linestyle=(0, (4, 2)))
    ax.set_xlim(0, 1)
    ax.set_xticks([])
    ax.grid(axis="y", color=FAINT, linewidth=0.4)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", labelsize=7, color=FAINT, labelcolor=TEXT)


# ---- all of them --------------------------------------------------------------------------------------
ORDERS = ("in order, the longest first",) * 2 + ("in the order of the launch",)


def _headings(figure: Any, axes: Any, balance: Balance) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure.suptitle(
        f"{balance.kernel}, {balance.layout}: {balance.tiles:,} tiles, {balance.atoms:,} atoms",
        fontsize=12, color=TEXT,
    )  # fmt: skip
    for ax, order in zip(axes[-1], ORDERS, strict=True):
        ax.set_xlabel(order, fontsize=9, color=TEXT)
    entries = [
        Patch(color=BUSY, label="at an atom"),
        Patch(color=IDLE, label="idle, beside the longest thread of the warp or block"),
        Line2D([], [], color=MEAN, linewidth=1, linestyle=(0, (4, 2)), label="mean time"),
    ]
    figure.legend(
        handles=entries, loc="outside lower center", ncols=3, fontsize=9, frameon=False,
        title="Height: time, in atoms that a thread takes one after the other", title_fontsize=9,
    )  # fmt: skip
