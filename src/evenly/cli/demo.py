"""Run `evenly demo`: check and time every schedule on two generated matrices, beside SciPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from evenly import targets
from evenly.cli.failures import RIGHT, WRONG, check_range, check_timed
from evenly.cli.problem import Problem
from evenly.cli.progress import Progress
from evenly.cli.timing import host_clock, medians
from evenly.interop.generators import rmat, stencil
from evenly.layouts import csr
from evenly.schedules import TABLE as SCHEDULES
from evenly.targets import best_target
from evenly.targets.contract import Target
from evenly.timing.busy import busy_machine
from evenly.version import __version__

SCIPY = "SciPy's A @ x"
DTYPE = "float32"
WIDTH = 80  # fixed, so that a narrower terminal wraps the table and does not cut it


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: milliseconds, largest relative error, wrong entries."""

    name: str
    elapsed: float
    error: float
    wrong: int


def run(target: str, scale: int, repeat: int) -> int:
    """Run the demo, print the table, and return the exit status. Raises InputError for an unknown target."""
    check_timed(target)
    check_range("--scale", scale, 4, 24)
    check_range("--repeat", repeat, 1)
    busy = busy_machine()
    sections: list[tuple[str, Any, list[Line]]] = []
    with Progress("generating matrices") as progress:
        found, missing = best_target() if target == "auto" else (target, "")
        there = targets.get(found)
        matrices = {
            "R-MAT (power law)": rmat(scale, dtype=DTYPE),
            "5-point stencil": stencil(math.isqrt(1 << scale), dtype=DTYPE),
        }
        for name, matrix in matrices.items():
            lines = compare(name, matrix, there, repeat, progress)
            sections.append((name, matrix, lines))
    console = Console(highlight=False, markup=False)
    console.width = max(console.width, WIDTH)
    where = f"{found} ({there.device()})"
    console.print(f"evenly {__version__}: SpMV, y = A x, in {DTYPE}\non {where}\n")
    console.print(table(sections))
    console.print(legend(there, repeat))
    if busy and there.place == "cpu":
        console.print(busy)
    if missing:
        console.print(f"Not on a GPU: {missing} (`evenly info` says more).", soft_wrap=True)
    wrong = [
        f"{line.name} on {name}" for name, _, lines in sections for line in lines if line.wrong
    ]
    count = sum(len(lines) for _, _, lines in sections)
    if wrong:
        console.print(f"WRONG: {', '.join(wrong)}.", soft_wrap=True)
        return WRONG
    console.print(
        f"All {count} results are right: every row is within its bound of rounding errors."
    )
    return RIGHT


def compare(name: str, matrix: Any, target: Target, repeat: int, progress: Progress) -> list[Line]:
    """Run SciPy and each schedule on one matrix."""
    problem = Problem(matrix, csr(matrix), target, DTYPE)
    results = {SCIPY: matrix @ problem.x}
    clocks = {SCIPY: host_clock(lambda: matrix @ problem.x)}
    for schedule in SCHEDULES:
        progress.say(f"{name}: compiling {schedule}")
        plan = problem.plan(schedule)
        results[schedule] = problem.result(plan)
        clocks[schedule] = problem.clock(plan)
    progress.say(f"{name}: measuring")
    elapsed = medians(clocks, repeat)
    known = problem.reference
    return [Line(n, elapsed[n], known.largest(y), known.errors(y)) for n, y in results.items()]


def table(sections: list[tuple[str, Any, list[Line]]]) -> Table:
    """Make the table, with a section for each matrix."""
    made = Table()
    for title in ("matrix", "schedule"):
        made.add_column(title, no_wrap=True)
    for title in ("time (ms)", "x SciPy", "largest error"):
        made.add_column(title, justify="right", no_wrap=True)
    for name, matrix, lines in sections:
        about = iter([name, f"{matrix.shape[0]:,} rows", f"{matrix.nnz:,} nonzeros"])
        scipy = next(line.elapsed for line in lines if line.name == SCIPY)
        for line in lines:
            wrong = "  WRONG" if line.wrong else ""
            cells = f"{line.elapsed:.4f}", f"{line.elapsed / scipy:.4f}", f"{line.error:.1e}{wrong}"
            made.add_row(next(about, ""), line.name, *cells)
        made.add_section()
    return made


def legend(target: Target, repeat: int) -> str:
    """Explain the numbers of the table."""
    lines = [
        f"time           of {target.clock}, median of {repeat} runs",
        f"x SciPy        that over SciPy's (CPU, {DTYPE}): below 1 is faster",
        "largest error  of a row, |y - y64| / |A||x|; y64 is SciPy's in float64",
    ]
    if not target.gpu:
        lines.append("schedule       those that share no tile do the same on a CPU")
    return "\n".join(lines)
