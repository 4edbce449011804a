"""Run `evenly bench graph`: searches through a corpus of graphs under every schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenly import targets
from evenly.bench import plots, searches
from evenly.bench.gunrock import Gunrock
from evenly.bench.matrices import sources
from evenly.bench.record import Recorder
from evenly.cli.bench_run import PLACES
from evenly.cli.corpus import check_corpus, measured
from evenly.cli.failures import RIGHT, WRONG, check_timed
from evenly.cli.progress import Progress
from evenly.errors import printable, unknown


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
    gunrock: str | None = None


def run(options: Options) -> int:
    """Time the searches, print the results, and return the exit status. Raises InputError for bad input."""
    check(options)
    chosen = sources(options.folder, options.only, searches.SYNTHETIC)
    names = [*searches.ALGORITHMS] if options.algorithm == "all" else [options.algorithm]
    gunrock = None if options.gunrock is None else Gunrock(options.gunrock, names)
    target = targets.working(options.target)
    place = PLACES[target.place]()
    recorder = None if options.csv is None else Recorder(options.csv, searches.SearchRow)
    rows: list[searches.SearchRow] = []
    with Progress("measuring") as progress, place.active():
        machine = place.machine()
        print(f"{machine[0]}; {machine[1]}", flush=True)
        bench = searches.Searches(target, machine, options.validate, gunrock)
        for found in measured(
            chosen,
            "graphs",
            options.seconds,
            progress,
            lambda source, deadline: bench.on(source, names, deadline),
        ):
            for text in said(found):
                print(text, flush=True)
            rows += found
            if recorder is not None:
                recorder.add(found)
    for text in searches.lines(rows):
        print(text)
    if options.plots is not None:
        print()
        for path in plots.write(figures(rows), Path(options.plots)):
            print(f"drawn: {printable(str(path))}")
    return WRONG if any(row.wrong for row in rows) else RIGHT


def check(options: Options) -> None:
    """Raise InputError for an option that is out of range or unknown, naming the nearest known one."""
    known = ["all", *searches.ALGORITHMS]
    if options.algorithm not in known:
        raise unknown("--algorithm", options.algorithm, known)
    check_timed(options.target)
    check_corpus(options.seconds, options.csv, options.plots)


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
