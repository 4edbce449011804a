"""Reduces a run of the bench to the rows that its summary, its figures and the marks read: about a fourth of them.

    evenly bench spmv FOLDER --csv full.csv     # or --families
    python benchmarks/reduce_results.py full.csv benchmarks/results/spmv-h200-float32.csv

`evenly bench replot` and `benchmarks/marks.py` print the same for either file (tests/bench/test_results.py holds that).
Left out are schedules with parameters other than their own, unless one is the fastest on its matrix. Only the first row
has the `versions`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable

from evenly.bench.contender import HAND, OURS
from evenly.bench.hardwired import PREFIX
from evenly.bench.record import Recorder, Row, read
from evenly.schedules import TABLE
from evenly.timing.rounds import WARM


def reduced(rows: list[Row]) -> list[Row]:
    """The rows that something reads, in their order."""
    fastest = oracles(rows)
    by_hand = {row.contender.removeprefix(PREFIX) for row in rows if row.family == HAND}
    defaults = {str(entry.make()) for entry in TABLE.values()}

    def is_read(row: Row) -> bool:
        shown = row.contender in defaults and row.cache == WARM  # in the landscape
        compared = row.contender in by_hand
        return row.family != OURS or shown or compared or row in fastest

    kept = [row for row in rows if is_read(row)]
    return kept[:1] + [dataclasses.replace(row, versions="") for row in kept[1:]]


def oracles(rows: Iterable[Row]) -> set[Row]:
    """The fastest schedule of each matrix and state of the cache; of equal ones the first."""
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.family == OURS and row.rounds and not row.wrong:
            at = row.matrix, row.cache
            if at not in best or row.us < best[at].us:
                best[at] = row
    return set(best.values())


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    full, out = sys.argv[1:]
    rows = reduced(read(full))  # before `out` is replaced, which may be the same file
    Recorder(out, next(map(type, rows), Row)).add(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
