"""The parts of the front page that are made of evenly's own tables, files and results."""

from __future__ import annotations

import ast
import html
import re
from typing import Any

import data
import numpy as np

import evenly as ev
from evenly.layouts import TABLE as LAYOUTS
from evenly.schedules import OF_TASKS
from evenly.schedules import TABLE as SCHEDULES

LENGTHS = (5, 2, 0, 9, 1, 3, 18, 2)  # of the rows in the first picture


def parts() -> dict[str, str]:
    """Return what fills the placeholders of pages/index.html."""
    return {
        "version": ev.__version__,
        "kernel": html.escape(data.KERNEL),
        "by_row": lanes(ev.ThreadMapped(), "A row for each thread"),
        "by_share": lanes(ev.WorkOriented(), "The same work under merge path"),
        "idle_by_row": f"{idle(ev.ThreadMapped()):.0%}",
        "idle_by_share": f"{idle(ev.WorkOriented()):.0%}",
        "layouts": table(LAYOUTS),
        "schedules": table(SCHEDULES),
        "of_tasks": table(OF_TASKS),
        "ready_made": ready_made(),
        "chart": chart(),
        "measured_on": measured_on(),
        "losses": losses(),
        "bibtex": html.escape(data.bibtex()),
    }


def table(of: dict[str, Any]) -> str:
    lines = [
        f"<tr><td><code>{name}</code></td><td>{marked(e.what)}</td>"
        f"<td>{marked(e.when)}</td><td>{marked(e.source)}</td></tr>"
        for name, e in of.items()
    ]
    return "\n".join(lines)


def marked(text: str) -> str:
    """Return text as HTML, with what is between backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))


def ready_made() -> str:
    """Return a line of a table for each namespace of functions: its name, what it is for, its functions, its page."""
    found = (
        ("ev.graph", "graph algorithms", ev.graph.__all__, "graph"),
        ("ev.linalg", "sparse products", ev.linalg.__all__, "linalg"),
        (
            "ev.ragged",
            "lists of unequal length",
            [n for n in vars(ev.ragged) if n[0] != "_"],
            "ragged",
        ),
        ("evenly.torch_operators", "operators of PyTorch, with gradients", of_torch(), "pytorch"),
    )
    lines = [
        f'<tr><td><a href="docs/{page}.html"><code>{name}</code></a></td><td>{what}</td>'
        f"<td>{', '.join(f'<code>{n}</code>' for n in sorted(names))}</td></tr>"
        for name, what, names, page in found
    ]
    return "\n".join(lines)


def of_torch() -> list[str]:
    """Return the functions of evenly.torch_operators. They are read, since importing them needs PyTorch."""
    text = (data.ROOT / "src" / "evenly" / "torch_operators" / "__init__.py").read_text()
    (names,) = [
        ast.literal_eval(n.value) for n in ast.parse(text).body if isinstance(n, ast.Assign)
    ]
    return [name for name in names if name.islower()]


# ---- the problem in one picture ------------------------------------------------------------------------
def taken(schedule: Any) -> list[list[int]]:
    """Return, for each of eight threads, the rows of the atoms that it takes, in order."""
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    parts = schedule.partition(ev.ragged(offsets), len(LENGTHS))
    return [[t for t in parts.tiles(p) for _ in parts.atoms(p, t)] for p in range(len(LENGTHS))]


def idle(schedule: Any) -> float:
    """The share of the threads' time without an atom, until the last of them is done."""
    counts = [len(rows) for rows in taken(schedule)]
    return 1 - sum(counts) / (max(counts) * len(counts))


def lanes(schedule: Any, title: str) -> str:
    """Draw time to the right and a thread a line: an atom is a square in its row's colour, idle time is a bar."""
    all_rows = taken(schedule)
    most, cell, left = max(map(len, all_rows)), 20, 72
    wide, high = left + 18 * cell + 4, len(all_rows) * (cell + 3) + 4
    shapes, hues = [], data.hues()
    for thread, rows in enumerate(all_rows):
        y = 2 + thread * (cell + 3)
        shapes.append(f'<text x="0" y="{y + 15}" class="axis">thread {thread}</text>')
        if len(rows) < most:
            x, width = left + len(rows) * cell, (most - len(rows)) * cell
            shapes.append(
                f'<rect x="{x}" y="{y}" width="{width - 1}" height="{cell}" class="idle"/>'
            )
        for step, row in enumerate(rows):
            place = f'x="{left + step * cell}" y="{y}" width="{cell - 1}" height="{cell}"'
            shapes.append(f'<rect {place} rx="2" fill="{hues[row % len(hues)]}"/>')
    said = f"{title}: eight threads, {sum(LENGTHS)} atoms, {most} steps, {idle(schedule):.0%} of the time idle"
    return (
        f'<svg viewBox="0 0 {wide} {high}" role="img" aria-label="{said}">{"".join(shapes)}</svg>'
    )


# ---- results -------------------------------------------------------------------------------------------
def chart() -> str:
    """Draw the speed of `auto` beside cuSPARSE's best, a family of matrices a line: mean, and least."""
    found = data.families()
    ticks = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75)
    shown = [number for _, numbers in found for number in numbers]
    left, top, each, wide, first, last = 128, 34, 26, 720, 0.5, max(*ticks, *shown)
    high = top + each * len(found) + 8

    def x(value: float) -> float:
        return left + (value - first) / (last - first) * (wide - left - 24)

    shapes = []
    for tick in ticks:
        kind = "one" if tick == 1 else "tick"
        shapes.append(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 8}" y2="{high - 6}" class="{kind}"/>'
        )
        shapes.append(
            f'<text x="{x(tick):.1f}" y="{top - 14}" text-anchor="middle" class="axis">{tick:g}x</text>'
        )
    for line, (name, (mean, least)) in enumerate(found):
        y = top + line * each
        weight = ' font-weight="700"' if name.startswith("all") else ""
        shapes.append(f'<text x="0" y="{y + 15}" class="axis"{weight}>{name}</text>')
        at = f'y1="{y + 11}" y2="{y + 11}"'
        shapes.append(f'<line x1="{x(least):.1f}" x2="{x(mean):.1f}" {at} class="single least"/>')
        shapes.append(f'<circle cx="{x(mean):.1f}" cy="{y + 11}" r="4.5" class="single"/>')
    said = "Speed of auto over the best of cuSPARSE, by family of matrices; the table in the docs has the numbers"
    return (
        f'<svg viewBox="0 0 {wide} {high}" role="img" aria-label="{said}">{"".join(shapes)}</svg>'
    )


def measured_on() -> str:
    """Return the GPU of the table of families, as docs/benchmarks.md has it."""
    text = (data.ROOT / "docs" / "benchmarks.md").read_text()
    found = re.search(r"One (\w+) and seed \d+,[^.]* whose fit had not seen this seed\.", text)
    if found is None:
        raise ValueError("docs/benchmarks.md no longer says where the families were measured")
    return found[1]


def losses() -> str:
    """Return the sentence of docs/benchmarks.md that says on how many matrices cuSPARSE is faster."""
    text = (data.ROOT / "docs" / "benchmarks.md").read_text()
    found = re.search(r"`auto` is slower than cuSPARSE on [^.]+\.", text)
    if found is None:
        raise ValueError("docs/benchmarks.md no longer says where auto is slower")
    return marked(" ".join(found[0].split()))
