"""Run `evenly bench linalg`: products with a corpus of matrices, beside other libraries."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from evenly import targets
from evenly.bench.contender import AUTO
from evenly.bench.linalg.comparison import LinalgComparison, LinalgRow
from evenly.bench.linalg.products import PRODUCTS
from evenly.bench.matrices import sources
from evenly.bench.record import Recorder
from evenly.cli.bench_run import DTYPES, PLACES
from evenly.cli.corpus import check_corpus, measured
from evenly.cli.failures import RIGHT, WRONG, check_range, check_timed
from evenly.cli.progress import Progress
from evenly.errors import unknown


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly bench linalg`; its `--help` describes them."""

    folder: str | None = None
    product: str = "spmm"
    columns: tuple[int, ...] = ()
    dtype: str = "float32"
    csv: str | None = None
    only: tuple[str, ...] = ()
    seconds: int | None = None
    rounds: int = 10
    target: str = "auto"


COLUMNS = 8, 32, 128  # if none are asked for
OF_COPYING = (
    "the time in which a copy moves each byte of operands and results once, over that of auto"
)


def run(options: Options) -> int:
    """Compare the contenders, print the results, and return the exit status. Raises InputError for bad input."""
    check(options)
    generated = PRODUCTS[options.product].generated
    chosen = sources(options.folder, options.only, generated, real_part=False)
    place = PLACES[targets.working(options.target).place]()
    recorder = None if options.csv is None else Recorder(options.csv, LinalgRow)
    rows: list[LinalgRow] = []
    with Progress("measuring the machine") as progress, place.active():
        bench = LinalgComparison(place, options.dtype, place.rates(), options.rounds)
        name, versions = bench.machine
        print(
            f"{name}: copies {bench.rates.copy / 1e9:,.0f} GB/s; {options.dtype}; {versions}",
            flush=True,
        )
        print(f"{options.product}; of copying: {OF_COPYING}", flush=True)
        for found in measured(
            chosen,
            "matrices",
            options.seconds,
            progress,
            lambda source, deadline: bench.on(
                source, options.product, options.columns or COLUMNS, deadline
            ),
        ):
            for _, these in groupby(found, lambda row: row.columns):
                print(line(list(these)), flush=True)
            rows += found
            if recorder is not None:
                recorder.add(found)
    for text in means(rows):
        print(text)
    return WRONG if any(row.wrong for row in rows) else RIGHT


def check(options: Options) -> None:
    """Raise InputError for an option that is out of range or unknown, naming the nearest known one."""
    if options.product not in PRODUCTS:
        raise unknown("--product", options.product, PRODUCTS)
    if options.dtype not in DTYPES:
        raise unknown("--dtype", options.dtype, DTYPES)
    for width in options.columns:
        check_range("--columns", width, 1, 4096)
    check_range("--rounds", options.rounds, 1, 1000)
    check_timed(options.target)
    check_corpus(options.seconds, options.csv, None)


def line(rows: list[LinalgRow]) -> str:
    """Describe one matrix and width: the time of `auto`, and those of the others."""
    first = rows[0]
    width = f", {columns_of(first.columns)}" if first.columns else ""
    parts = [f"{first.matrix:24} {first.nnz:>11,} nonzeros{width}"]
    for row in rows:
        wrong = f" WRONG: {row.wrong}" if row.wrong else ""
        if row.family == AUTO:
            detail = f", {row.detail}" if row.detail else ""
            parts.append(f"auto {row.us:.1f} us ({row.share:.0%} of copying{detail}){wrong}")
        elif row.rounds:
            parts.append(f"{row.contender} {row.us:.1f} us{wrong}")
        else:
            parts.append(f"left out: {row.contender} ({row.note[:60]})")
    return "; ".join(parts)


def columns_of(width: int) -> str:
    return f"{width} column" + ("" if width == 1 else "s")


def means(rows: list[LinalgRow]) -> Iterator[str]:
    """Yield for each width how many times as fast as the best of the others `auto` is, in the mean and at least."""
    for width in dict.fromkeys(row.columns for row in rows):
        found = []
        for matrix in dict.fromkeys(row.matrix for row in rows):
            here = [r for r in rows if (r.columns, r.matrix) == (width, matrix) and r.rounds]
            auto = [r.us for r in here if r.family == AUTO]
            others = [r.us for r in here if r.family != AUTO]
            if auto and others:
                found.append((min(others) / auto[0], matrix))
        if found:
            mean = statistics.geometric_mean(ratio for ratio, _ in found)
            least, matrix = min(found)
            columns = f"{columns_of(width)}: " if width else ""
            yield (
                f"{columns}auto is {mean:.2f} times as fast as the best of the others in the geometric mean of "
                f"{len(found)}, and at least {least:.2f} times ({matrix})"
            )
