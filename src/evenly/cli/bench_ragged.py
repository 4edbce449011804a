"""Run `evenly bench ragged`: print lines, write a CSV file."""

from __future__ import annotations

from dataclasses import dataclass

from evenly import targets
from evenly.bench.contender import AUTO
from evenly.bench.ragged.comparison import Case, RaggedRow, compare
from evenly.bench.ragged.lengths import LENGTHS
from evenly.bench.ragged.operations import OPERATIONS
from evenly.bench.record import Recorder
from evenly.cli.bench_linalg import OF_COPYING
from evenly.cli.bench_run import DTYPES, PLACES
from evenly.cli.corpus import check_corpus
from evenly.cli.failures import RIGHT, WRONG, check_range, check_timed
from evenly.cli.progress import Progress
from evenly.errors import unknown


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly bench ragged`; its `--help` describes them."""

    elements: int = 50_000_000
    dtype: str = "float32"
    csv: str | None = None
    only: tuple[str, ...] = ()
    rounds: int = 10
    target: str = "auto"


def run(options: Options) -> int:
    """Compare the contenders, print the results, and return the exit status. Raises InputError for bad input."""
    operations, lengths = chosen(options)
    place = PLACES[targets.working(options.target).place]()
    recorder = None if options.csv is None else Recorder(options.csv, RaggedRow)
    found: list[RaggedRow] = []
    with Progress("measuring the machine") as progress, place.active():
        rates = place.rates()
        name, versions = place.machine()
        print(f"{name}: copies {rates.copy / 1e9:,.0f} GB/s; {options.dtype}; {versions}")
        print(f"of copying: {OF_COPYING}", flush=True)
        for kind in lengths:
            cases: dict[int, Case] = {}
            for operation in operations:
                width = OPERATIONS[operation].width
                if width not in cases:
                    cases[width] = Case(place, kind, options.elements, options.dtype, width)
                case = cases[width]
                progress.say(f"{operation} of {kind}")
                rows = compare(place, rates, operation, case, options.rounds)
                print(line(rows), flush=True)
                found += rows
                if recorder is not None:
                    recorder.add(rows)
    return WRONG if any(row.wrong for row in found) else RIGHT


def chosen(options: Options) -> tuple[list[str], list[str]]:
    """Return the functions and the lengths to measure. Raises InputError for options out of range or unknown."""
    check_timed(options.target)
    if options.dtype not in DTYPES:
        raise unknown("--dtype", options.dtype, DTYPES)
    check_range("--elements", options.elements, 1000, 2**33)
    check_range("--rounds", options.rounds, 1, 1000)
    check_corpus(None, options.csv, None)
    for name in options.only:
        if name not in (*OPERATIONS, *LENGTHS):
            raise unknown("--only", name, [*OPERATIONS, *LENGTHS])
    operations, lengths = (
        [name for name in known if name in options.only] or list(known)
        for known in (OPERATIONS, LENGTHS)
    )
    return operations, lengths


def line(rows: list[RaggedRow]) -> str:
    """Describe one function on lists of one kind: the time of `auto`, and those of the others."""
    first = rows[0]
    parts = [f"{first.operation:12} {first.lengths:13} {first.lists:>10,} lists"]
    for row in rows:
        wrong = f" WRONG: {row.wrong}" if row.wrong else ""
        if row.family == AUTO:
            detail = f", {row.detail}" if row.detail else ""
            parts.append(f"auto {row.us:9.1f} us ({row.share:.0%} of copying{detail}){wrong}")
        elif row.rounds:
            call = ", whole calls" if row.clock != first.clock else ""
            parts.append(f"{row.contender} {row.us:.1f} us{call}{wrong}")
        elif not row.note.startswith("ValueError: lists of equal"):
            parts.append(f"left out: {row.contender} ({row.note[:60]})")
    return "; ".join(parts)
