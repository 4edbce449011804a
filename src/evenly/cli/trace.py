"""Run `evenly trace FILE`: write who takes which nonzero of a matrix, and when."""

from __future__ import annotations

from pathlib import Path

from evenly import targets
from evenly.balance.trace import check_path, check_processors
from evenly.cli.failures import RIGHT
from evenly.cli.problem import Problem
from evenly.cli.progress import Progress
from evenly.cli.spmv import Options, build, check, dataset_of, read
from evenly.errors import printable, unknown
from evenly.schedules import TABLE


def run(options: Options, output: str | None, processors: int | None = None) -> int:
    """Write the trace, say where, and return the exit status. Raises InputError for bad input."""
    if options.schedule not in TABLE:
        raise unknown("--schedule", options.schedule, TABLE)
    check(options)
    path = output or f"{dataset_of(options.file)}-{options.schedule}.json.gz"
    check_path(path, "--output")
    if processors is not None:
        check_processors(processors, "--processors")
    with Progress(f"reading {printable(options.file)}") as progress:
        matrix = read(options.file, options.dtype)
        problem = Problem(matrix, build(matrix, options), targets.find(options.target), "float32")
        progress.say("following the schedule")
        plan = problem.plan(options.schedule)
        plan.trace(path, processors=processors)
    rows, columns = matrix.shape
    print(f"Matrix: {printable(Path(options.file).name)}")
    print(f"Dimensions: {rows} x {columns} ({matrix.nnz})")
    print(f"Schedule: {plan.schedule}")
    print(
        f"Trace: {printable(path)} (to see it, drop it on the site's explorer: `make site-serve`)"
    )
    return RIGHT
