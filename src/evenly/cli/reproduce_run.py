"""Run `evenly reproduce NAME`: print tables, write CSV files, draw figures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenly import targets
from evenly.bench.place import Bench
from evenly.bench.record import Recorder, read
from evenly.cli.bench_run import PLACES
from evenly.cli.failures import RIGHT, WRONG, check_timed
from evenly.cli.progress import Progress
from evenly.errors import InputError, printable, unknown
from evenly.reproduce import curves, find, tables
from evenly.reproduce.experiment import Experiment, Figure, Site
from evenly.timing.busy import busy_machine


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly reproduce`; its `--help` describes them."""

    name: str
    matrices: str | None = None
    figures: tuple[int, ...] = ()
    out: str | None = None
    quick: bool = False
    target: str = "auto"
    resume: bool = False


def run(options: Options) -> int:
    """Run an experiment and return the exit status. Raises InputError for bad input."""
    experiment = find(options.name)
    chosen = figures(experiment, options.figures)
    check_timed(options.target)
    if options.resume:
        check_resumed(options, experiment)
    out = None if options.out is None else folder(options.out)
    there = targets.working(options.target).place
    busy = busy_machine()
    found: dict[Figure, list[Any]] = {}
    with Progress("reading the matrices") as progress:
        place = PLACES[there]()
        rows = earlier(experiment, out, place) if options.resume and out is not None else {}
        site = Site(place, options.matrices, options.quick, progress.say, rows)
        with place.active():
            for text in header(options.name, experiment, site):
                print(text)
            if busy and there == "cpu":
                print(busy)
            for figure in chosen:
                start = time.monotonic()
                found[figure] = rows[figure.number] = measured(site, figure, out)
                for text in tables.table(experiment, figure, found[figure]):
                    print(text)
                print(f"  measured in {time.monotonic() - start:.0f} s", flush=True)
    every = [row for some in rows.values() for row in some]
    for text in tables.verdict(experiment.conclusions(site, every)):
        print(text)
    if out is not None:
        written(experiment, found, out)
    return WRONG if any(row.wrong for row in every) else RIGHT


def check_resumed(options: Options, experiment: Experiment) -> None:
    """Raise InputError for an experiment that cannot go on with an earlier run, and without the folder of one."""
    if not experiment.goes_on:
        expected = "an experiment that goes on with earlier runs, such as dynamic-load-balancing"
        raise InputError("--resume", expected=expected, given=options.name)
    if options.out is None:
        raise InputError("--resume", expected="--out, the folder of the earlier run", given="none")


def earlier(experiment: Experiment, out: Path, place: Bench) -> dict[int, list[Any]]:
    """Return the rows in the CSV files of a folder, by the number of their figure.

    Raises InputError for files of another experiment, or of another machine.
    """
    machine, versions = place.machine()
    here = machine, versions, place.target
    found = {}
    for figure in experiment.figures:
        path = csv_of(figure, out)
        if not path.exists():
            continue
        rows = read(str(path), (figure.row,), "a CSV file of the same experiment")
        for row in rows:
            if (row.machine, row.versions, row.target) != here:
                expected = f"points of this machine, {'; '.join(here)}"
                given = "; ".join((row.machine, row.versions, row.target))
                hint = "without --resume all is measured anew"
                raise InputError(str(path), expected=expected, given=given, hint=hint)
        found[figure.number] = rows
    return found


def figures(experiment: Experiment, numbers: tuple[int, ...]) -> list[Figure]:
    """Return the figures with these numbers; all, if there are none. Raises InputError for unknown ones."""
    known = [str(figure.number) for figure in experiment.figures]
    for number in numbers:
        if str(number) not in known:
            raise unknown("--figure", str(number), known)
    return [f for f in experiment.figures if not numbers or f.number in numbers]


def header(name: str, experiment: Experiment, site: Site) -> list[str]:
    machine, versions = site.place.machine()
    return [f"{name}: {experiment.paper}", f"{machine}; {versions}", *experiment.remarks(site)]


def measured(site: Site, figure: Figure, out: Path | None) -> list[Any]:
    """Measure one figure. Its rows are written as they come."""
    recorder = None if out is None else Recorder(str(csv_of(figure, out)), figure.row)
    rows = []
    for some in figure.measure(site):
        rows += some
        if recorder is not None:
            recorder.add(some)
    return rows


def written(experiment: Experiment, found: dict[Figure, list[Any]], out: Path) -> None:
    """Draw the figures, and say which files there are."""
    print()
    drawn = curves.save(experiment, found, out)
    for path in (*(csv_of(figure, out) for figure in found), *drawn):
        print(f"written: {printable(str(path))}")
    if not drawn:
        print("no figures are drawn: Matplotlib is not installed (pip install 'evenly[plots]')")


def csv_of(figure: Figure, out: Path) -> Path:
    return out / f"{figure.file}.csv"


def folder(given: str) -> Path:
    """Return the folder for results, and make it if need be. Raises InputError if that cannot be."""
    try:
        if not given:
            raise InputError("--out", expected="a folder for results", given="an empty path")
        path = Path(given)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        raise InputError("--out", expected="a folder for results", given=found) from None
    return path
