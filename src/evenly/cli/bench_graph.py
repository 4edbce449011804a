"""Run `evenly bench graph`: searches through a corpus of graphs under every schedule."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenly import targets
from evenly.bench import plots, searches
from evenly.bench.record import Recorder
from evenly.cli.bench_run import PLACES, check_folder, deadline
from evenly.cli.failures import RIGHT, WRONG, check_range
from evenly.cli.progress import Progress
from evenly.errors import InputError, printable, unknown


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly bench graph`; its `--help` describes them."""

    folder: str | None = None
    algorithm: str = "all"
    csv: str | None = None
    plots: str | None = None
    only: tuple[str, ...] = ()
    seconds: int | None = None
    target: str = "auto"
    validate: bool = False


def run(options: Options) -> int:
    """Time the searches, print the results, and return the exit status. Raises InputError for bad input."""
    check(options)
    chosen = searches.sources(options.folder, options.only)
    names = [*searches.ALGORITHMS] if options.algorithm == "all" else [options.algorithm]
    target = targets.working(options.target)
    place = PLACES[target.place]()
    recorder = None if options.csv is None else Recorder(options.csv, searches.SearchRow)
    rows: list[searches.SearchRow] = []
    refused: list[InputError] = []
    with Progress("measuring") as progress, place.active():
        machine = place.machine()
        print(f"{machine[0]}; {machine[1]}", flush=True)
        bench = searches.Searches(target, machine, options.validate)
        end = None if options.seconds is None else time.monotonic() + options.seconds
        for at, source in enumerate(chosen):
            progress.say(f"{source.name} ({at + 1} of {len(chosen)})")
            if end is not None and time.monotonic() > end:
                print(f"out of time: {len(chosen) - at} graphs are left out", flush=True)
                break
            try:
                found = bench.on(source, names, deadline(end, len(chosen) - at))
            except InputError as error:  # go on with the other files
                print(f"{source.name:34} left out: {error}", flush=True)
                refused.append(error)
                continue
            for text in said(found):
                print(text, flush=True)
            rows += found
            if recorder is not None:
                recorder.add(found)
    if refused and not rows:
        raise refused[0]
    for text in searches.lines(rows):
        print(text)
    if options.plots is not None:
        print()
        for path in plots.write(figures(rows), Path(options.plots)):
            print(f"drawn: {printable(str(path))}")
    return WRONG if any(row.wrong for row in rows) else RIGHT


def check(options: Options) -> None:
    """Raise InputError for an option that is out of range or unknown, naming the nearest known one."""
    for option, given, known in (
        ("--algorithm", options.algorithm, ["all", *searches.ALGORITHMS]),
        ("--target", options.target, ["auto", *targets.timed()]),
    ):
        if given not in known:
            raise unknown(option, given, known)
    if options.seconds is not None:
        check_range("--seconds", options.seconds, 1)
    if options.csv == "":
        raise InputError("--csv", expected="a path", given="an empty one")
    if options.plots is not None:
        check_folder("--plots", options.plots)


def said(rows: list[searches.SearchRow]) -> Iterator[str]:
    """Yield a line for each algorithm: the time of `auto`, and the fastest contender."""
    for name in searches.ALGORITHMS:
        here = searches.of_algorithm(rows, name)
        if here:
            auto, best = here[0], min(here, key=lambda row: row.us)
            wrong = "".join(f"  WRONG: {row.contender} ({row.wrong})" for row in here if row.wrong)
            yield (
                f"{auto.matrix:34} {auto.nnz:>11,} edges  {name:4}  auto {auto.us:10.1f} us"
                f"  fastest {best.us:10.1f} us ({best.contender}){wrong}"
            )


def figures(rows: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, matplotlib Figure): the landscape of each algorithm, and the speedups of schedules."""
    for name in searches.ALGORITHMS:
        here = [row for row in searches.of_algorithm(rows, name) if not row.wrong]
        if here:
            yield f"{name}-landscape", plots.landscape(here)
            found = searches.speedups(here)
            yield f"{name}-speedup", plots.speedups({plots.bare(w): r for w, r in found.items()})
