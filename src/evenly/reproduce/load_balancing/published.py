"""What the authors published for single matrices, and means of it over the matrices of a run.

published.csv has times in milliseconds on the authors' GPU. In github.com/gunrock/loops these are
docs/data/heuristics.csv at commit 651da0c (the three schedules, what the rule chose, cuSPARSE) and
plots/data/versus_cub.csv at 597ae24 (CUB). Only some of their matrices are here, and of fewer the times of CUB.
A matrix of a run is one of these if its name, its rows and its nonzeros agree.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

from evenly.bench.record import Row
from evenly.bench.summary import geomean

from ..tables import NONE
from .rule import AS_DATA, BEST, GROUP, MERGE, RULE, THREAD

CUSPARSE, CUB = "cusparse", "cub"
THREE = THREAD, GROUP, MERGE
SOURCE = "means of the times beside the authors' code (gunrock/loops) over the same matrices, and of how many that is"


@dataclass(frozen=True, slots=True)
class Published:
    """A line of the file. ms: the time of each schedule that has one, of the rule, the best of three, and of CUB."""

    rows: int
    nonzeros: int
    ms: dict[str, float]

    def speedup(self, name: str, over: str = CUSPARSE) -> float | None:
        """Return how many times as fast something was; None if there is no time."""
        return self.ms[over] / self.ms[name] if {name, over} <= self.ms.keys() else None


@functools.cache
def table() -> dict[str, Published]:
    """Return the lines of the file by the names of their matrices."""
    text = resources.files(__package__).joinpath("published.csv").read_text()
    return {line["matrix"]: _line(line) for line in csv.DictReader(text.splitlines())}


def _line(line: dict[str, str]) -> Published:
    ms = {name: float(line[name]) for name in (*THREE, RULE, CUSPARSE, CUB) if line[name]}
    ms |= {AS_DATA: ms[RULE], BEST: min(ms[name] for name in THREE if name in ms)}
    return Published(int(line["rows"]), int(line["nonzeros"]), ms)


def named(matrix: str) -> Published | None:
    """Return what was published for the matrix of this name, which may have a folder before it."""
    return table().get(matrix.rpartition("/")[2])


def of(row: Row) -> Published | None:
    """Return what was published for the matrix of a row."""
    found = named(row.matrix)
    same = found is not None and (found.rows, found.nonzeros) == (row.rows, row.nnz)
    return found if same else None


def speedups(rows: Iterable[Row], name: str, over: str = CUSPARSE) -> list[float]:
    """Return what was published for the matrices of these rows."""
    known = {row.matrix: of(row) for row in rows}
    found = (line.speedup(name, over) for line in known.values() if line is not None)
    return [value for value in found if value is not None]


def mean(found: list[float]) -> str:
    """Return the geometric mean, and of how many matrices it is; "-" of none."""
    return f"{geomean(found):.2f} ({len(found)})" if found else NONE
