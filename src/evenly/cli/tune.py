"""Run `evenly tune FILE`: measure every schedule on one matrix, and remember the fastest."""

from __future__ import annotations

from pathlib import Path

from evenly import targets
from evenly.cli.failures import RIGHT, check_range, check_timed
from evenly.cli.problem import Problem
from evenly.cli.progress import Progress
from evenly.cli.spmv import Options, build, check, read
from evenly.errors import printable, unknown
from evenly.schedules import TABLE


def run(
    options: Options,
    schedules: list[str],
    seconds: int | None,
    save: bool,
    locality: bool = False,
) -> int:
    """Measure, print the times, and return the exit status. Raises InputError for bad input.

    schedules: names of schedules. If empty, all of them, with several parameters each.
    locality: see `Plan.tune`.
    """
    check(options)
    check_timed(options.target)
    for name in schedules:
        if name not in TABLE:
            raise unknown("--schedule", name, TABLE)
    if seconds is not None:
        check_range("--seconds", seconds, 1)
    with Progress(f"reading {printable(options.file)}") as progress:
        target = targets.working(options.target)
        matrix = read(options.file, options.dtype)
        problem = Problem(matrix, build(matrix, options), target, options.dtype)
        progress.say("compiling and measuring")
        plan = problem.plan("auto")
        tuned = plan.tune(
            candidates=schedules or None, seconds=seconds, save=save, locality=locality
        )
    rows, columns = matrix.shape
    print(f"Matrix: {printable(Path(options.file).name)}")
    print(f"Dimensions: {rows} x {columns} ({matrix.nnz})")
    print(tuned.tuning)
    return RIGHT
