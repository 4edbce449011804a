"""A case: what a kernel takes on a matrix under each schedule, and what the model looks at. Files of times."""

from __future__ import annotations

import ast
import csv
import functools
import gzip
import io
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import scipy.sparse

from evenly import schedules
from evenly.bench import record
from evenly.bench.contender import AUTO, KERNELS, OURS
from evenly.bench.families import of_families
from evenly.bench.matrices import Source, in_type, sources
from evenly.choosing.auto import work_of
from evenly.choosing.model import Numbers, Work, predicted
from evenly.choosing.statistics import Statistics, statistics
from evenly.errors import InputError
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import committed, of_user
from evenly.layouts import csr
from evenly.timing.rounds import WARM

from .tasks import SPMVS, Named, known

ABOUT = "gpu", "largest", "matrix", "lengths", "columns", "rows", "nnz"
HEAD = *ABOUT, "kernel", "dtype", "schedule", "us"


NOTHING = Work(Statistics(0, 0, 0.0, 0, 0.0, 0.0))


@dataclass
class Case:
    """A kernel on a matrix.

    largest: of the families' matrices that were drawn with it, in nonzeros. lengths, columns: the families it was drawn
    by, or "". size: rows and nonzeros. us: by schedule. work: what the model looks at.
    """

    gpu: Gpu
    largest: int
    matrix: str
    lengths: str
    columns: str
    size: tuple[int, int]
    task: Named
    us: dict[str, float] = field(default_factory=dict)
    work: Work = NOTHING

    @property
    def best(self) -> float:
        return min(self.us.values())

    @property
    def seed(self) -> int:
        """The seed of the families that the matrix was drawn by."""
        return int(self.matrix.partition("/")[0])

    def predictions(self, numbers: Numbers) -> dict[str, float]:
        """Return the predicted microseconds of the candidates that were measured."""
        found = predicted(self.work, numbers)
        return {str(s): cost.total for s, cost in found.items() if str(s) in self.us}

    def chosen(self, numbers: Numbers) -> str:
        """Return the schedule of the least predicted time among those that were measured."""
        found = self.predictions(numbers)
        return min(found, key=lambda schedule: found[schedule])

    def lost(self, numbers: Numbers) -> float:
        """Return the time of the best schedule over that of the chosen one."""
        return self.best / self.us[self.chosen(numbers)]


def looked_at(A: Any, task: Named) -> Work:
    """Return what the model looks at, of a kernel on a layout."""
    return work_of(statistics(A), known(task), A)


# ---- files -----------------------------------------------------------------------------------------
def written(cases: Iterable[Case]) -> bytes:
    """Return a file of times, compressed. It has the GPU's properties; from the names matrices can be made again."""
    text = io.StringIO(newline="")
    write = csv.writer(text, lineterminator="\n").writerow
    write(HEAD)
    for case in cases:
        gpu = json.dumps(asdict(case.gpu))
        about = gpu, case.largest, case.matrix, case.lengths, case.columns, *case.size
        for schedule, us in case.us.items():
            write((*about, *case.task, schedule, f"{us:.4f}"))
    return gzip.compress(text.getvalue().encode(), mtime=0)


def read(path: str) -> list[Case]:
    """Read a file of times. The cases do not know their matrices yet. Raises InputError for another file."""
    found: dict[tuple[str, Named], Case] = {}
    try:
        with gzip.open(path, "rt", newline="") as file:
            rows = csv.DictReader(file)
            if tuple(rows.fieldnames or ()) != HEAD:
                raise ValueError("other columns")
            for row in rows:
                task = Named(row["kernel"], row["dtype"])
                size = int(row["rows"]), int(row["nnz"])
                gpu = Gpu(**json.loads(row["gpu"]))
                about = gpu, int(row["largest"]), row["matrix"], row["lengths"]
                new = Case(*about, row["columns"], size, task)
                case = found.setdefault((row["matrix"], task), new)
                case.us[as_now(row["schedule"])] = float(row["us"])
    except (
        gzip.BadGzipFile,
        EOFError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        InputError,
    ):
        expected = "a file of times that `evenly fit --times` wrote"
        raise InputError(path, expected=expected, given="another one") from None
    return list(found.values())


def of_bench(path: str, largest: int) -> list[Case]:
    """Read the least times of our schedules from a file of `evenly bench spmv --families --csv`.

    largest: that of the run. Raises InputError for another file, and for a GPU that has no data file.
    """
    gpus = {known.gpu.name: known.gpu for known in (*of_user(), *committed())}
    found: dict[tuple[str, Named], Case] = {}
    for row in record.read(path, (record.FamilyRow,), "a file of a run over families"):
        if (
            row.family not in (AUTO, OURS)
            or (row.clock, row.cache) != (KERNELS, WARM)
            or not row.us
        ):
            continue
        if row.machine not in gpus:
            expected = f"times of a GPU that has a data file ({', '.join(gpus)})"
            raise InputError(path, expected=expected, given=row.machine)
        task = Named(SPMVS[0].kernel, row.dtype)
        about = gpus[row.machine], largest, row.matrix, row.lengths, row.columns
        case = found.setdefault((row.matrix, task), Case(*about, (row.rows, row.nnz), task))
        name = as_now(row.detail)
        case.us[name] = min(row.us_min, case.us.get(name, math.inf))
    return list(found.values())


def as_now(schedule: str) -> str:
    """Return the text of a schedule whose text may be from before it had all of its parameters."""
    return str(made_of(schedule))


@functools.cache
def made_of(schedule: str) -> schedules.Schedule:
    """Return the schedule of a text."""
    name, _, rest = schedule.removesuffix(")").partition("(")
    given = dict(parameter.split("=") for parameter in rest.split(", "))
    made: schedules.Schedule = getattr(schedules, name)(
        **{k: ast.literal_eval(v) for k, v in given.items()}
    )
    return made


def made_again(cases: list[Case], folder: str | None) -> Iterator[tuple[str, list[Case]]]:
    """Make the matrices again, and yield each one's name and its cases, which then know what the model looks at.

    Cases whose matrix is not known, as without the folder of files, are left out.
    """
    by_name: dict[str, list[Case]] = {}
    for case in cases:
        by_name.setdefault(case.matrix, []).append(case)
    for source in _known(cases, folder):
        here = by_name.get(source.name, [])
        if here:
            matrix = in_type(scipy.sparse.csr_array(source.make()), "float32")
            A = csr(matrix)
            size = A.num_tiles, A.num_atoms
            if size != here[0].size:
                expected = f"the matrix that was measured, of {here[0].size} rows and nonzeros"
                raise InputError(source.name, expected=expected, given=f"one of {size}")
            for case in here:
                case.work = looked_at(A, case.task)
            yield source.name, here


def _known(cases: list[Case], folder: str | None) -> Iterator[Source]:
    drawn = dict.fromkeys((case.seed, case.largest) for case in cases if case.lengths)
    for seed, largest in drawn:
        yield from of_families(seed, largest)
    if folder is not None:
        yield from sources(folder)
