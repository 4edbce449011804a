"""What the model of costs is fitted to: measured times, and what `auto` knows of the matrices."""

from __future__ import annotations

import csv
import functools
import gzip
import math
import multiprocessing
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse
from fit_matrices import drawn, matrices
from schedule_times import TASKS, small

import evenly as ev
from evenly.arguments import spec_of
from evenly.bench.matrices import Source, in_type
from evenly.choosing.auto import work_of
from evenly.choosing.model import Work
from evenly.choosing.statistics import statistics
from evenly.choosing.task import Task
from evenly.interop.families import LARGEST

PEER = "cuSPARSE"


@dataclass
class Case:
    """A kernel on a matrix.

    task: the names of the kernel and of the type. lengths, columns: the families it was drawn by, or "". size: rows and
    nonzeros. us: by schedule, and `peer` by the fastest algorithm of cuSPARSE, nan if there is none. work: what the
    model looks at.
    """

    matrix: str
    task: tuple[str, str]
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
    """Read files that schedule_times.py wrote, also compressed ones."""
    found: dict[tuple[str, tuple[str, str]], Case] = {}
    for path in paths:
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rt", newline="") as file:
            for row in csv.DictReader(file):
                case = row["matrix"], (row["kernel"], row["dtype"])
                if case not in found:
                    about = row["lengths"], row["columns"], (int(row["rows"]), int(row["nnz"]))
                    found[case] = Case(*case, *about)
                found[case].add(row["schedule"], float(row["us"]))
    return list(found.values())


def prepared(paths: Iterable[str], folder: str | None, largest: dict[int, int]) -> list[Case]:
    """Return the cases whose matrices can be made again, with what the model looks at. Name the others.

    largest: of a seed's matrices.
    """
    cases = measured(paths)
    by_name = {case.matrix: case for case in cases}
    seeds = sorted({int(case.matrix.split("/")[0]) for case in cases if case.lengths})
    by_seed = (drawn([seed], largest.get(seed, LARGEST)) for seed in seeds)
    known = chain(*by_seed, matrices(folder) if folder else ())
    wanted = [source for source in known if source.name in by_name]
    works: dict[tuple[str, tuple[str, str]], Work] = {}
    with pool(wanted) as processes:
        for name, size, here in processes.imap(_works, range(len(wanted))):
            if size != by_name[name].size:
                given = f"rows and nonzeros {by_name[name].size} were measured, {size} were made"
                sys.exit(f"{name}: {given} (hint: --largest as for schedule_times.py)")
            works |= {(name, task): work for task, work in here.items()}
    for case in cases:
        case.work = works.get((case.matrix, case.task))
    left = sorted({case.matrix for case in cases if case.work is None})
    if left:
        print(f"left out, since --matrices has no such file: {', '.join(left)}")
    return [remembering(case) for case in cases if case.work is not None]


def remembering(case: Case) -> Case:
    """Let the case's sample of lengths remember how many rounds warps walk: a fit asks thousands of times."""
    walks: Any = case.work.walks
    walks.rounds = functools.cache(walks.rounds)
    return case


@functools.cache
def task(names: tuple[str, str]) -> Task:
    """Return what `auto` knows of a kernel in a plan."""
    kernel, given = small(names)
    return kernel.task(tuple(spec_of(value, "") for value in given), plans=True)


def _works(at: int) -> tuple[str, tuple[int, int], dict[tuple[str, str], Work]]:
    """Make a matrix, and return its name, its rows and nonzeros, and what the model looks at for each task."""
    source: Source = held[at]
    A = ev.csr(in_type(scipy.sparse.csr_array(source.make()), "float32"))
    found = {names: work_of(statistics(A), task(names), A) for names in TASKS}
    return source.name, (A.num_tiles, A.num_atoms), found


# ---- processes -------------------------------------------------------------------------------------
held: list[Any] = []  # what the processes of a pool are given once


def pool(things: list[Any]) -> Any:
    """Return a pool of processes that have these in `held`: the fork copies nothing."""
    return multiprocessing.get_context("fork").Pool(os.cpu_count(), _hold, (things,))


def _hold(things: list[Any]) -> None:
    held[:] = things
