"""The kernels that are measured: an SpMV, and others that are unlike it, each in another way."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.arguments import spec_of
from evenly.choosing.candidates import candidates, promising
from evenly.choosing.statistics import Statistics
from evenly.choosing.task import Task
from evenly.errors import EvenlyError
from evenly.layouts.equal import equal
from evenly.targets.cuda.compile import cubin


@ev.kernel
def row_argmax(A, where):
    for row in A.tiles():
        best = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)
        where[row] = best


@ev.kernel
def weighted(A, w, y):
    for row in A.tiles():
        scale = w[row]
        y[row] = sum(abs(A.value(k) - scale) for k in A.atoms(row))


@ev.kernel
def deviations(A, y):
    """Two passes."""
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            total += A.value(k)
        y[row] = sum(abs(A.value(k) - total) for k in A.atoms(row))


@ev.kernel
def scaled(A, w, out):
    """Stores at its atoms."""
    for row in A.tiles():
        scale = w[row]
        for k in A.atoms(row):
            out[k] = A.value(k) * scale


@ev.kernel
def ranks(A, out):
    """Scans."""
    for row in A.tiles():
        for k in A.atoms(row):
            out[k] = ev.rank(A.value(k) > 0)


@ev.kernel
def marks(A, mine, marked):
    """Gathers, and reduces nothing."""
    for row in A.tiles():
        for k in A.atoms(row):
            column = A.column(k)
            if mine[row] > marked[column]:
                ev.atomic_max(marked, column, mine[row])


class Named(NamedTuple):
    """A kernel and the type of its numbers, by name."""

    kernel: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.kernel} {self.dtype}"


SPMVS = Named("spmv", "float32"), Named("spmv", "float64")
OTHERS = row_argmax, weighted, deviations, scaled, ranks, marks
TASKS = *SPMVS, *(Named(kernel.name, "float32") for kernel in OTHERS)
SCHEDULES = tuple(candidates("cuda"))


def arguments(kernel: str, A: Any, put: Callable[[Any], Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return a kernel, and arguments of it where the layout is. put: copies an array of NumPy there."""
    (tiles, columns), dtype = A.shape, A.values.dtype
    if kernel == "spmv":
        return spmv_rows, (A, put(np.ones(columns, dtype)), put(np.empty(tiles, dtype)))
    found = next(made for made in OTHERS if made.name == kernel)
    made = {
        "where": lambda: np.empty(tiles, np.int32),
        "w": lambda: np.ones(tiles, dtype),
        "y": lambda: np.empty(tiles, dtype),
        "mine": lambda: np.ones(tiles, dtype),
        "marked": lambda: np.ones(columns, dtype),  # none is less, so nothing is stored
        "out": lambda: np.empty(A.num_atoms, np.int32 if found is ranks else dtype),
    }
    return found, (A, *(put(made[name]()) for name in found.signature.names[1:]))


def small(task: Named) -> tuple[Any, tuple[Any, ...]]:
    """Return a kernel, and arguments of its types in the memory of the CPU."""
    A = ev.csr(scipy.sparse.eye_array(8, format="csr", dtype=task.dtype))
    return arguments(task.kernel, A, np.asarray)


@functools.cache
def known(task: Named) -> Task:
    """Return what `auto` knows of a kernel in a plan."""
    kernel, given = small(task)
    found: Task = kernel.task(tuple(spec_of(value, "") for value in given), plans=True)
    return found


def tried(st: Statistics) -> Iterator[Any]:
    """Yield the schedules that may be the fastest for such tiles."""
    return (schedule for schedule in SCHEDULES if promising(schedule, st))


# ---- compiling -------------------------------------------------------------------------------------
def compiled(job: tuple[Named, Any, str]) -> None:
    """Compile a kernel under a schedule for an architecture, into the cache.

    For any rows, and for rows of equal length, whose offsets a plan under `auto` does not read. What a compiler refuses
    is left out when it is measured.
    """
    task, schedule, architecture = job
    kernel, given = small(task)
    with contextlib.suppress(EvenlyError):
        compile_ahead(kernel, given, schedule, architecture)
        compile_ahead(kernel, (equal(given[0], 1), *given[1:]), schedule, architecture)


def compile_ahead(kernel: Any, given: tuple[Any, ...], schedule: Any, architecture: str) -> None:
    specs = tuple(spec_of(value, "") for value in given)
    made = kernel.compiled(specs, schedule, "cuda", wide=False, debug=False)
    for code in (k for phase in made.executable.program.codes for k in phase.all_kernels):
        cubin(code.source, code.name, architecture)
