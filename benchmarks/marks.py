"""Holds runs of the bench on a GPU to marks: ratios of times of one run, since times differ from machine to machine.

    evenly bench spmv FOLDER --csv float32.csv
    evenly bench spmv FOLDER --csv float64.csv --dtype float64
    python benchmarks/marks.py float32.csv float64.csv

A run over families, in either type, is held to marks of its own:

    evenly bench spmv --families --seed 1 --csv families.csv
    python benchmarks/marks.py families.csv

The exit status is 1 where a mark is missed. What can be held without a GPU, tests hold: registers and spills
(tests/targets/cuda/test_compile.py), sectors and wavefronts (tests/targets/simt/test_counters_against_ncu.py).
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

Run = dict[str, dict[str, dict[str, str]]]  # by matrix and contender: its row; kernels, warm


class Mark(NamedTuple):
    """what: for whom it reads. least, most: between which the value must lie."""

    what: str
    value: Callable[[Run], float]
    least: float = 0.0
    most: float = math.inf


def geomean(values: Iterable[float]) -> float:
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def worst(values: Iterable[float]) -> float:
    return min(values, default=math.nan)


def us(row: dict[str, str]) -> float:
    return float(row["us"])


def faster(
    run: Run,
    others: str,
    chosen: Callable[[dict[str, str]], bool],
    over_all: Callable[[Iterable[float]], float] = geomean,
) -> float:
    """How many times as fast `auto` is as the best of the others, over the matrices that are chosen.

    over_all: the mean of all matrices, or the worst.
    """
    found = []
    for rows in run.values():
        times = [us(row) for name, row in rows.items() if others in name]
        if times and chosen(rows["auto"]):
            found.append(min(times) / us(rows["auto"]))
    return over_all(found)


def generated(row: dict[str, str]) -> bool:
    return row["origin"] != "file"


def file(row: dict[str, str]) -> bool:
    return row["origin"] == "file"


def large(row: dict[str, str]) -> bool:
    return file(row) and int(row["nnz"]) > 100_000


def of_oracle(run: Run, over_all: Callable[[Iterable[float]], float] = geomean) -> float:
    ours = (
        ([us(r) for r in rows.values() if r["family"] == "ours"], rows) for rows in run.values()
    )
    return over_all(min(times) / us(rows["auto"]) for times, rows in ours if times)


def over(chosen: Callable[[dict[str, str]], bool]) -> Callable[[dict[str, str]], bool]:
    """Those of the chosen rows whose matrices have more than 100 k nonzeros."""
    return lambda row: int(row["nnz"]) > 100_000 and chosen(row)


def every(row: dict[str, str]) -> bool:
    return True


def streams(row: dict[str, str]) -> bool:
    return row["stream"] == "1"


def gathers(row: dict[str, str]) -> bool:
    return row["stream"] == "0"


def by_hand(
    schedule: str, over_all: Callable[[Iterable[float]], float] = geomean
) -> Callable[[Run], float]:
    """Time of a generated kernel over that of the same by hand. over_all: the mean of all matrices, or the worst."""

    def value(run: Run) -> float:
        pairs = (
            (us(rows[name]), us(rows[f"hand: {name}"]))
            for rows in run.values()
            for name in rows
            if name.startswith(schedule) and f"hand: {name}" in rows
        )
        return over_all(a / b for a, b in pairs)

    return value


MARKS = {
    "float32": (
        Mark("best of CSR, files", lambda run: faster(run, "CSR", file), least=2.3),
        Mark("best of CSR, files over 100 k", lambda run: faster(run, "CSR", large), least=1.55),
        Mark("best of CSR and COO, generated", lambda run: faster(run, "cuSPARSE", generated), least=1.3),
        Mark("best of CSR and COO, files", lambda run: faster(run, "cuSPARSE", file), least=1.8),
        Mark("best of CSR and COO, files over 100 k", lambda run: faster(run, "cuSPARSE", large), least=1.28),
        Mark("the oracle", of_oracle, least=0.96),
        Mark("ThreadMapped over by hand", by_hand("ThreadMapped"), most=1.01),
        Mark("WarpMapped over by hand", by_hand("WarpMapped"), most=1.01),
        Mark("MergePath over by hand", by_hand("MergePath"), most=1.01),
        Mark("ThreadMapped over by hand, at worst", by_hand("ThreadMapped", max), most=1.05),
        Mark("WarpMapped over by hand, at worst", by_hand("WarpMapped", max), most=1.05),
        Mark("MergePath over by hand, at worst", by_hand("MergePath", max), most=1.03),
    ),
    "float64": (
        Mark("best of CSR and COO, generated", lambda run: faster(run, "cuSPARSE", generated), least=1.29),
        Mark("best of CSR and COO, files", lambda run: faster(run, "cuSPARSE", file), least=1.7),
        Mark("the oracle", of_oracle, least=0.96),
    ),
    "families": (
        Mark("best of CSR and COO", lambda run: faster(run, "cuSPARSE", every), least=1.35),
        Mark("the same, streams over 100 k", lambda run: faster(run, "cuSPARSE", over(streams)), least=1.05),
        Mark("the same, others over 100 k", lambda run: faster(run, "cuSPARSE", over(gathers)), least=1.25),
        Mark("the same, the least over 100 k", lambda run: faster(run, "cuSPARSE", over(every), worst), least=0.95),
        Mark("the oracle", of_oracle, least=0.96),
        Mark("the oracle, at worst", lambda run: of_oracle(run, worst), least=0.85),
    ),
}  # fmt: skip


def read(path: str) -> tuple[str, Run]:
    """Which marks the run is held to, and the rows of kernels, warm."""
    run: Run = {}
    marks = ""
    with open(path, newline="") as rows:
        for row in csv.DictReader(rows):
            if row["clock"] == "kernels" and row["cache"] == "warm" and row["us"]:
                run.setdefault(row["matrix"], {})[row["contender"]] = row
                marks = "families" if "lengths" in row else row["dtype"]
    return marks, run


def main() -> int:
    missed = 0
    for path in sys.argv[1:]:
        marks, run = read(path)
        for mark in MARKS[marks]:
            value = mark.value(run)
            holds = mark.least <= value <= mark.most
            asked = f"at least {mark.least:g}" if mark.least else f"at most {mark.most:g}"
            print(f"{'  ' if holds else '! '}{marks}  {mark.what:40} {value:6.3f}  {asked}")
            missed += not holds
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
