"""Run `evenly spmv FILE` and `evenly spmm FILE`: multiply the matrix in a file, time it, check the result.

Source: the sanity check of the artifact of Osama, Porumbescu, Owens (PPoPP 2023), A.3.1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evenly as ev
from evenly import targets
from evenly.balance.pictures import check_path
from evenly.balance.sketch import sketch
from evenly.cli import dtypes
from evenly.cli.csv_file import CsvFile, Row
from evenly.cli.failures import RIGHT, WRONG, check_range
from evenly.cli.problem import Problem
from evenly.cli.progress import Progress
from evenly.cli.timing import medians
from evenly.errors import InputError, printable, unknown
from evenly.interop.matrix_market import check_memory, read_shape
from evenly.layouts import TABLE as LAYOUTS
from evenly.layouts import convert
from evenly.schedules import CHOSEN
from evenly.schedules import TABLE as SCHEDULES

INTERPRETED = 10_000_000  # tiles and atoms that target `python` walks in about a minute


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly spmv` and `evenly spmm`; their `--help` describes them. columns: None for a vector."""

    file: str
    schedule: str = "auto"
    layout: str = "csr"
    target: str = "auto"
    dtype: str = "float32"
    repeat: int | None = None
    csv: str | None = None
    validate: bool = False
    balance: bool = False
    picture: str | None = None
    seed: int = 0
    profile: bool = False
    columns: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one schedule: milliseconds, and the number of wrong entries if they were counted."""

    schedule: str
    elapsed: float
    errors: int | None


def run(options: Options) -> int:
    """Run the command, print the results, and return the exit status. Raises InputError for bad input."""
    check(options)
    csv = CsvFile(options.csv) if options.csv is not None else None
    with Progress(f"reading {printable(options.file)}") as progress:
        target = targets.working(options.target)
        matrix = read(options.file, options.dtype)
        progress.say(f"building {options.layout}")
        layout = build(matrix, options)
        more = options.dtype, options.seed, options.columns
        problem = Problem(matrix, layout, target, *more)
        names = list(SCHEDULES) if options.schedule == "all" else [options.schedule]
        repeat = options.repeat or (10 if target.clock else 1)
        if target.reference:
            check_interpreted(options, problem, len(names) * (repeat + 2))
        outcomes, notes = measure(problem, names, repeat, options.validate, progress)
        balance = profiled(options, problem, progress)
        counted = counter_lines(options, problem, names, progress)
    report(options, matrix, outcomes)
    if options.balance:
        print(f"\n{balance_lines(balance)}")
    for line in counted:
        print(line)
    for note in notes:
        print(f"evenly: {note}", file=sys.stderr)
    if csv is not None:
        dataset, (rows, columns) = dataset_of(options.file), matrix.shape
        csv.append(Row(o.schedule, dataset, rows, columns, matrix.nnz, o.elapsed) for o in outcomes)
    return WRONG if any(o.errors for o in outcomes) else RIGHT


def check(options: Options) -> None:
    """Raise InputError for an option that is out of range or unknown, naming the nearest known one."""
    layouts = [name for name, entry in LAYOUTS.items() if entry.of_matrix]
    if options.columns is not None:
        check_range("--columns", options.columns, 1)
        layouts = [
            name for name in layouts if name not in ("csc", "coo")
        ]  # whose tiles are no rows
    for option, given, known in (
        ("--schedule", options.schedule, [*SCHEDULES, "all", *CHOSEN]),
        ("--layout", options.layout, layouts),
        ("--target", options.target, [*targets.TABLE, "auto"]),
        ("--dtype", options.dtype, dtypes.DTYPES),
    ):
        if given not in known:
            raise unknown(option, given, known)
    if options.repeat is not None:
        check_range("--repeat", options.repeat, 1)
    check_range("--seed", options.seed, 0)
    counts = options.target != "auto" and targets.find(options.target).counts
    for option, wanted in (("--seed", options.seed > 0), ("--profile", options.profile)):
        if wanted and not counts:
            expected = "--target simt, which counts and can be repeated"
            raise InputError(option, expected=expected, given=f"--target {options.target}")
    paths = (("FILE", options.file), ("--csv", options.csv), ("--picture", options.picture))
    for option, path in paths:
        if path == "":
            raise InputError(option, expected="a path", given="an empty one")
    if options.picture is not None:
        check_path(options.picture, "--picture")


def read(file: str, dtype: str) -> Any:
    """Read the matrix in a file as csr_array, with values rounded to `dtype`. Raises InputError that names the file."""
    if not file.endswith(".npz"):  # a Matrix Market file tells its size in its header
        rows, columns = read_shape(file)
        # offsets, y, reference, bounds; x
        check_memory(file, rows, columns, 8 * (5 * rows + 3 * columns))
    return dtypes.read(file, dtype)


def build(matrix: Any, options: Options) -> Any:
    """Convert the matrix to the layout of the options. Raises InputError if that takes too much memory."""
    try:
        made = convert(matrix, options.layout, name=options.file)
        return dtypes.stored_layout(made, options.dtype)
    except InputError as error:
        if "max_bytes" in error.hint:  # the command line has no such option
            error.hint = "--layout csr"
        raise


def check_interpreted(options: Options, problem: Problem, runs: int) -> None:
    """Raise InputError if the interpreter would run for more than about a minute."""
    atoms = int(problem.A.max_tiles + problem.A.max_atoms) * runs * (problem.columns or 1)
    if atoms > INTERPRETED:
        given = f"{atoms:,} in {runs} runs"
        expected = f"at most {INTERPRETED:,} tiles and atoms on target 'python', which is slow"
        raise InputError(options.file, expected=expected, given=given, hint="--target cpu")


def measure(
    problem: Problem, names: list[str], repeat: int, validate: bool, progress: Progress
) -> tuple[list[Outcome], list[str]]:
    """Measure each schedule. Returns the outcomes, and a note on what "auto" or "tuned" chose."""
    clocks, errors, notes = {}, {}, []
    for name in names:
        progress.say(f"compiling {name}")
        plan = problem.plan(name)
        if name in CHOSEN:
            name, why = chosen(problem, plan, name)
            notes.append(why)
        if validate:
            progress.say(f"checking {name}")
            errors[name] = problem.reference.errors(problem.result(plan))
        clocks[name] = problem.clock(plan)
    progress.say("measuring")
    elapsed = medians(clocks, repeat)
    return [Outcome(name, ms, errors.get(name)) for name, ms in elapsed.items()], notes


def chosen(problem: Problem, plan: Any, by: str) -> tuple[str, str]:
    """Return the name of the schedule that "auto" or "tuned" chose, and a line that says why."""
    made = type(plan.schedule)
    name = next((n for n, entry in SCHEDULES.items() if entry.make is made), made.__name__)
    if plan.tuning is None:
        why = ev.explain(plan).choice.why
    else:
        before = (
            "that `evenly tune` measured"
            if by == "auto"
            else f"of {len(plan.tuning.times)} measured"
        )
        why = f"the fastest {before}, as {plan.schedule}"
    return name, f"{by} chose {name} on {problem.target.name}: {why}"


def profiled(options: Options, problem: Problem, progress: Progress) -> Any:
    """Profile the schedule of the options ("all": that of "auto"), and draw it if asked to. None if not asked to."""
    if not options.balance and options.picture is None:
        return None
    progress.say("counting atoms")
    schedule = "auto" if options.schedule == "all" else options.schedule
    return problem.plan(schedule).profile(path=options.picture)


def counter_lines(
    options: Options, problem: Problem, names: list[str], progress: Progress
) -> list[str]:
    """Return the tables of counters of each schedule's launches, or no lines without `--profile`."""
    lines: list[str] = []
    for name in names if options.profile else ():
        progress.say(f"counting {name}")
        plan = problem.plan(name)
        under = chosen(problem, plan, name)[0] if name in CHOSEN else name
        for counters in plan.counters():
            lines += ["", f"{counters.kernel} under {under}", str(counters)]
    return lines


def balance_lines(balance: Any) -> str:
    """Return the sketch, in ASCII if the output's encoding has nothing more."""
    lines = str(balance)
    try:
        lines.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return sketch(balance, plain=True)
    return lines


def report(options: Options, matrix: Any, outcomes: list[Outcome]) -> None:
    """Print the lines of the artifact's program. With "all", a table replaces the first line."""
    rows, columns = matrix.shape
    if options.schedule == "all":
        for line in table(outcomes):
            print(line)
    else:
        print(f"Elapsed (ms): {outcomes[0].elapsed:.6f}")
    print(f"Matrix: {printable(Path(options.file).name)}")
    print(f"Dimensions: {rows} x {columns} ({matrix.nnz})")
    if options.columns is not None:
        print(f"Columns: {options.columns}")
    if options.validate:
        print(f"Errors: {sum(o.errors or 0 for o in outcomes)}")


def table(outcomes: list[Outcome]) -> Iterable[str]:
    """Yield a line of titles, then a line for each schedule."""
    validated = outcomes[0].errors is not None
    wide = max(len(name) for name in SCHEDULES)
    yield f"{'Schedule':{wide}}  {'Elapsed (ms)':>12}" + "  Errors" * validated
    for o in outcomes:
        errors = f"  {o.errors:>6}" if validated else ""
        yield f"{o.schedule:{wide}}  {o.elapsed:>12.6f}{errors}"


def dataset_of(file: str) -> str:
    """Return the name of a matrix: its file's name, without folder and endings."""
    name = Path(file).name
    for ending in (".gz", ".bz2", ".mtx", ".npz"):
        name = name.removesuffix(ending)
    return printable(name or Path(file).name)
