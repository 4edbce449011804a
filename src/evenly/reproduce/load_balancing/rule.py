"""The paper's rule of choice (section 6.2), and what else chooses among its three schedules.

These are functions of times that were measured already: they choose a schedule, and have the time that it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from evenly.bench.record import Row

THREAD, GROUP, MERGE = "thread-mapped", "group-mapped", "merge-path"
ALPHA, BETA = 500, 10_000
RULE, AS_DATA, BEST = "rule", "rule, beta alone", "best of three"
CHOICE = "choice"  # the family of their rows
CHOOSERS = RULE, AS_DATA, BEST, "auto"


def by_rule(rows: int, columns: int, nonzeros: int) -> str:
    """Return the schedule for a matrix: merge-path, but for matrices that are small in both respects.

    The paper takes thread- or group-mapped for these, and does not say which; its data have the times of thread-mapped.
    """
    return THREAD if min(rows, columns) < ALPHA and nonzeros < BETA else MERGE


def as_data(nonzeros: int) -> str:
    """Return the schedule as the published data have it (published.py), where alpha plays no part.

    west2021, of 2,021 rows and 7,353 nonzeros, is not multiplied by merge-path there, and aa4, of 426 and 52,121, is.
    """
    return THREAD if nonzeros < BETA else MERGE


def choices(timed: Iterable[Row], names: dict[str, str]) -> Iterator[Row]:
    """Yield a row for each way to choose, with the times of what it chooses, unless that was not measured.

    timed: rows of one matrix. names: the contender of each of the paper's schedules.
    """
    three = {row.contender: row for row in timed if row.contender in names.values()}
    if not three:
        return
    any_of = next(iter(three.values()))
    wanted = {
        RULE: names[by_rule(any_of.rows, any_of.cols, any_of.nnz)],
        AS_DATA: names[as_data(any_of.nnz)],
        BEST: min(three.values(), key=lambda row: row.us).contender,
    }
    for name, contender in wanted.items():
        if contender in three:
            yield replace(three[contender], contender=name, family=CHOICE, detail=contender)
