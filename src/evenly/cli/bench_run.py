"""Run `evenly bench spmv` and `evenly bench replot`: print lines, write a CSV file, draw figures."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evenly import targets
from evenly.bench import by_family, plots, record, summary
from evenly.bench.comparison import Comparison
from evenly.bench.contender import AUTO
from evenly.bench.cpu import CpuBench
from evenly.bench.families import of_families
from evenly.bench.gpu import GpuBench
from evenly.bench.matrices import Source, sources
from evenly.bench.place import Bench
from evenly.bench.record import FamilyRow, Recorder, Row
from evenly.cli.corpus import check_corpus, check_folder, measured
from evenly.cli.failures import RIGHT, WRONG, check_range, check_timed
from evenly.cli.progress import Progress
from evenly.errors import InputError, printable, unknown
from evenly.interop.families import LARGEST, MOST
from evenly.timing.busy import busy_machine

DTYPES = ("float32", "float64")
PLACES: dict[str, type[Bench]] = {"cuda": GpuBench, "cpu": CpuBench}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly bench spmv`; its `--help` describes them."""

    folder: str | None = None
    dtype: str = "float32"
    csv: str | None = None
    plots: str | None = None
    only: tuple[str, ...] = ()
    seconds: int | None = None
    target: str = "auto"
    families: bool = False
    seed: int | None = None
    largest: int | None = None


def run(options: Options) -> int:
    """Compare the contenders, print the results, and return the exit status. Raises InputError for bad input."""
    check(options)
    chosen = chosen_sources(options)
    there = targets.working(options.target).place
    place: Bench = PLACES[there]()
    kind = FamilyRow if options.families else Row
    recorder = Recorder(options.csv, kind) if options.csv is not None else None
    busy = busy_machine()
    rows: list[Row] = []
    told: set[tuple[str, str]] = set()
    with Progress("measuring the machine") as progress, place.active():
        comparison = Comparison(place, options.dtype, place.rates(), brief=options.families)
        print(comparison.described(), flush=True)
        if busy and there == "cpu":
            print(busy)
        for found in measured(chosen, "matrices", options.seconds, progress, comparison.on):
            print(line(found, told), flush=True)
            rows += found
            if recorder is not None:
                recorder.add(found)
    finish(rows, options.plots)
    return WRONG if any(row.wrong for row in rows) else RIGHT


def replot(csv: str, folder: str) -> int:
    """Draw the figures of a CSV file and print its summary."""
    check_folder("FOLDER", folder)
    finish(record.read(csv), folder)
    return RIGHT


def check(options: Options) -> None:
    """Raise InputError for an option that is out of range or unknown, naming the nearest known one."""
    if options.dtype not in DTYPES:
        raise unknown("--dtype", options.dtype, DTYPES)
    check_timed(options.target)
    check_corpus(options.seconds, options.csv, options.plots)


def chosen_sources(options: Options) -> list[Source]:
    """Return the matrices to measure. Raises InputError for options that do not fit together, or out of range."""
    if not options.families:
        for option, number in (("--seed", options.seed), ("--largest", options.largest)):
            if number is not None:
                raise InputError(option, expected="--families beside it", given=str(number))
        return sources(options.folder, options.only)
    if options.folder is not None:
        given = printable(options.folder)
        raise InputError("FOLDER", expected="none beside --families", given=given)
    seed = 0 if options.seed is None else options.seed
    largest = LARGEST if options.largest is None else options.largest
    check_range("--seed", seed, 0, 2**32 - 1)
    check_range("--largest", largest, 1000, MOST)
    return of_families(seed, largest, options.only)


def finish(rows: list[Row], folder: str | None) -> None:
    """Print the summary, and draw the figures if there is a folder for them."""
    for text in chain(summary.lines(rows), by_family.lines(rows)):
        print(text)
    if folder is not None:
        print()
        for path in plots.save(rows, Path(folder)):
            print(f"drawn: {printable(str(path))}")


def line(rows: list[Row], told: set[tuple[str, str]]) -> str:
    """Describe one matrix in a line: the time of `auto`, the fastest contender, which ones are wrong or left out.

    told: the (contender, reason) pairs that earlier lines have named. They are not repeated.
    """
    about = f"{rows[0].matrix:34} {rows[0].nnz:>11,} nonzeros"
    timed = [row for row in rows if row.cache == "warm" and row.rounds]
    best = sorted(timed, key=lambda row: row.us)
    auto = next((row for row in timed if row.family == AUTO), None)
    mine = f"  auto {auto.us:9.2f} us ({auto.detail})" if auto else "  auto was left out"
    first = f"  fastest {best[0].us:9.2f} us ({best[0].contender})" if best else ""
    wrong = "".join(f"  WRONG: {row.contender} ({row.wrong})" for row in timed if row.wrong)
    absent = [(row.contender, row.note) for row in rows if row.note]
    left: dict[str, list[str]] = {}
    for who, why in absent:
        if (who, why) not in told:
            left.setdefault(why[:60], []).append(who)
    told.update(absent)
    return about + mine + first + wrong + "".join(map(left_out, left, left.values()))


def left_out(why: str, who: list[str]) -> str:
    """Say why contenders have no times: their names, or how many if they are more than a reader would read."""
    return f"  left out: {', '.join(who) if len(who) <= 3 else f'{len(who)} contenders'} ({why})"
