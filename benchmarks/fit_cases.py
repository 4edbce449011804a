"""What the model of costs is fitted to: measured times, and what `auto` knows of the matrices."""

from __future__ import annotations

import csv
import functools
import math
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse
from fit_matrices import drawn, matrices

import evenly as ev
from evenly.bench.matrices import Source, in_type
from evenly.choosing.model import Work
from evenly.choosing.reuse import reuse
from evenly.choosing.statistics import statistics
from evenly.choosing.task import INDEX, Task

WIDTHS = {"float32": 4, "float64": 8}
PEER = "cuSPARSE"


@dataclass
class Case:
    """An SpMV of a matrix in a type.

    lengths, columns: the families it was drawn by, or "". size: rows and nonzeros. us: by schedule, and `peer` by the
    fastest algorithm of cuSPARSE, nan if there is none. work: what the model looks at.
    """

    matrix: str
    dtype: str
    lengths: str
    columns: str
    size: tuple[int, int]
    us: dict[str, float] = field(default_factory=dict)
    peer: float = math.nan
    work: Work | None = None

    @property
    def best(self) -> float:
        return min(self.us.values())

    def add(self, schedule: str, us: float) -> None:
        if schedule.startswith(PEER):
            self.peer = float(np.fmin(self.peer, us))
        else:
            self.us[schedule] = us


def measured(paths: Iterable[str]) -> list[Case]:
    """Read the SpMVs of files that schedule_times.py wrote."""
    found: dict[tuple[str, str], Case] = {}
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                if row["kernel"] != "spmv":
                    continue
                case = row["matrix"], row["dtype"]
                if case not in found:
                    about = row["lengths"], row["columns"], (int(row["rows"]), int(row["nnz"]))
                    found[case] = Case(*case, *about)
                found[case].add(row["schedule"], float(row["us"]))
    return list(found.values())


def prepared(paths: Iterable[str], folder: str | None, largest: int) -> list[Case]:
    """Return the cases whose matrices can be made again, with what the model looks at. Name the others."""
    cases = measured(paths)
    by_name = {case.matrix: case for case in cases}
    seeds = sorted({int(case.matrix.split("/")[0]) for case in cases if case.lengths})
    known = chain(drawn(seeds, largest), matrices(folder) if folder else ())
    wanted = [source for source in known if source.name in by_name]
    works: dict[tuple[str, str], Work] = {}
    with pool(wanted) as processes:
        for name, size, here in processes.imap(_works, range(len(wanted))):
            if size != by_name[name].size:
                given = f"rows and nonzeros {by_name[name].size} were measured, {size} were made"
                sys.exit(f"{name}: {given} (hint: --largest as for schedule_times.py)")
            works |= {(name, dtype): work for dtype, work in here.items()}
    for case in cases:
        case.work = works.get((case.matrix, case.dtype))
    left = sorted({case.matrix for case in cases if case.work is None})
    if left:
        print(f"left out, since --matrices has no such file: {', '.join(left)}")
    return [remembering(case) for case in cases if case.work is not None]


def remembering(case: Case) -> Case:
    """Let the case's sample of lengths remember how many rounds warps walk: a fit asks thousands of times."""
    walks: Any = case.work.walks
    walks.rounds = functools.cache(walks.rounds)
    return case


def works_of(matrix: Any) -> Iterator[tuple[str, Work]]:
    """Yield what the model looks at, for each type."""
    A = ev.csr(matrix)
    for dtype, width in WIDTHS.items():
        task = Task(width=width, atom_bytes=INDEX + width)
        yield dtype, Work(statistics(A), task, reuse(A, width), A.num_columns)


def _works(at: int) -> tuple[str, tuple[int, int], dict[str, Work]]:
    source: Source = held[at]
    matrix = in_type(
        scipy.sparse.csr_array(source.make()), "float32"
    )  # in any type: only its structure counts
    return source.name, (matrix.shape[0], matrix.nnz), dict(works_of(matrix))


# ---- processes -------------------------------------------------------------------------------------
held: list[Any] = []  # what the processes of a pool are given once


def pool(things: list[Any]) -> Any:
    """Return a pool of processes that have these in `held`: the fork copies nothing."""
    return multiprocessing.get_context("fork").Pool(os.cpu_count(), _hold, (things,))


def _hold(things: list[Any]) -> None:
    held[:] = things
