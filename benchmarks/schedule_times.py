"""What every schedule takes, for the model of costs that `auto` chooses by: the input of fit_auto.py.

    python benchmarks/schedule_times.py FOLDER times.csv [--kernels spmv,row_argmax,weighted]
    python benchmarks/schedule_times.py --families 1,2,3 [--largest NNZ] families.csv

The first: an SpMV in float32 and float64, a row argmax and a sum whose terms depend on their tile (kernels.py), on
the matrices of the folder, those of the bench but the largest, bands of 3 to 100 a row and R-MAT of more sizes. The
second: the SpMVs, on the matrices that these seeds draw by families (evenly.interop.families).

Every schedule that may be the fastest, and cuSPARSE for SpMV, interleaved, all by one clock. A row of the file has the
matrix, its families, the statistics of its tiles, and the least and the median microseconds of one schedule; `auto`
is 1 for the one that `auto` takes. Prints what that loses to the best. All is compiled first, by many processes.

--seconds S: about how long to measure; matrices that are left then are left out. --dry: everything but compiling and
the clock, without a GPU; all times are 1. Needs a GPU and CuPy otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import itertools
import math
import multiprocessing
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from fit_matrices import drawn, matrices

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.arguments import spec_of
from evenly.bench.contender import Contender
from evenly.bench.gpu import GpuBench, KernelClock
from evenly.bench.matrices import Source, in_type
from evenly.bench.peers import cusparse_peers
from evenly.bench.place import Live
from evenly.choosing.auto import choose
from evenly.choosing.candidates import candidates, promising
from evenly.choosing.statistics import Statistics, statistics
from evenly.interop.families import LARGEST
from evenly.layouts.equal import equal
from evenly.targets.cuda.compile import cubin
from evenly.timing.rounds import WARM, Clock, measure
from kernels import row_argmax, weighted

SPMVS = [("spmv", "float32"), ("spmv", "float64")]
TASKS = [*SPMVS, ("row_argmax", "float32"), ("weighted", "float32")]
SCHEDULES = list(candidates("cuda"))
ROUNDS = 6
LENGTHS = ("mean", "greatest", "deviation", "empty", "moment")  # of Statistics
HEAD = ("matrix", "lengths", "columns", "stream", "rows", "cols", "nnz")
HEAD += LENGTHS
HEAD += ("kernel", "dtype", "schedule", "us", "median", "auto")


def arguments(kernel: str, A: Any, xp: Any) -> tuple[Any, tuple[Any, ...]]:
    """The kernel, and arguments of it from a module of arrays."""
    (tiles, columns), dtype = A.shape, A.values.dtype
    if kernel == "spmv":
        return spmv_rows, (A, xp.ones(columns, dtype), xp.empty(tiles, dtype))
    if kernel == "row_argmax":
        return row_argmax, (A, xp.empty(tiles, np.int32))
    return weighted, (A, xp.ones(tiles, dtype), xp.empty(tiles, dtype))


# ---- compiling -------------------------------------------------------------------------------------
def compiled(job: tuple[tuple[str, str], Any]) -> None:
    """Compile for any rows, and for rows of equal length, whose offsets a plan under `auto` does not read."""
    task, schedule = job
    kernel, given = small(task)
    compile_ahead(kernel, given, schedule)
    compile_ahead(kernel, (equal(given[0], 1), *given[1:]), schedule)


def small(task: tuple[str, str]) -> tuple[Any, tuple[Any, ...]]:
    """A kernel, and arguments of its types in the memory of the CPU."""
    kernel, dtype = task
    return arguments(kernel, ev.csr(scipy.sparse.eye_array(8, format="csr", dtype=dtype)), np)


def compile_ahead(kernel: Any, given: tuple[Any, ...], schedule: Any) -> None:
    """Into the cache; no process that is forked may have touched the GPU before."""
    specs = tuple(spec_of(value, "") for value in given)
    made = kernel.compiled(specs, schedule, "cuda", wide=False, debug=False)
    for code in (k for phase in made.executable.program.codes for k in phase.all_kernels):
        cubin(code.source, code.name, "sm_90")


# ---- places ----------------------------------------------------------------------------------------
Clocks = dict[str, Clock]


class Gpu:
    """Where schedules are timed, by graphs that CuPy captures, as in the bench."""

    def __init__(self) -> None:
        self.bench = GpuBench()
        self.active = self.bench.active

    def clocks(self, task: tuple[str, str], matrix: Any, st: Statistics) -> tuple[Clocks, str]:
        """A clock for each schedule by its name, and the schedule that `auto` takes."""
        put = self.bench.cupy.asarray
        offsets, columns, values = map(put, (matrix.indptr, matrix.indices, matrix.data))
        A = ev.csr((values, columns, offsets), shape=matrix.shape)
        kernel, given = arguments(task[0], A, self.bench.cupy)
        auto = kernel.plan(*given)
        plans = {str(s): kernel[s].plan_as_auto(*given) for s in tried(st)}
        plans[str(auto.schedule)] = auto
        found: Clocks = {n: KernelClock(self.bench, partial(p, *given)) for n, p in plans.items()}
        if task[0] == "spmv":
            found |= self.cusparse(Live(A, offsets, columns, values, *given[1:], ()))
        return found, str(auto.schedule)

    def cusparse(self, live: Live) -> Clocks:
        """A clock for each algorithm of cuSPARSE, preprocessed; none for one that refuses the matrix."""
        peers = [peer for peer in cusparse_peers(live) if isinstance(peer, Contender)]
        return {peer.name: self.bench.clock_of(peer) for peer in peers}


@dataclass(frozen=True)
class Still:
    """A clock that stands still, for a dry run."""

    estimate: float = 1.0

    def warm(self) -> float:
        return self.estimate

    def flushed(self) -> None:
        return None


class Dry:
    """The same without a GPU."""

    active = contextlib.nullcontext

    def clocks(self, task: tuple[str, str], matrix: Any, st: Statistics) -> tuple[Clocks, str]:
        kernel, given = arguments(task[0], ev.csr(matrix), np)
        specs = tuple(spec_of(value, "") for value in given)
        auto = str(choose(given[0], "cuda", kernel.task(specs, plans=True)))
        return {name: Still() for name in [*map(str, tried(st)), auto]}, auto


def tried(st: Statistics) -> Iterator[Any]:
    return (schedule for schedule in SCHEDULES if promising(schedule, st))


# ---- all of them -----------------------------------------------------------------------------------
class Times:
    """Writes the file, and keeps what the choices of `auto` lose."""

    def __init__(self, place: Gpu | Dry, file: Any) -> None:
        self.place, self.write = place, csv.writer(file).writerow
        self.write(HEAD)
        self.lost: dict[tuple[str, str], list[float]] = defaultdict(list)

    def on(self, source: Source, task: tuple[str, str], matrix: Any, end: float) -> None:
        """Measure one task on a matrix. end: of time.monotonic(), after which there are as few rounds as may be."""
        st = statistics(ev.csr(matrix))
        clocks, auto = self.place.clocks(task, matrix, st)
        samples = measure(clocks, deadline=end, rounds=ROUNDS, flushed=False)
        families = source.lengths, source.columns, int(source.stream)
        lengths = (getattr(st, name) for name in LENGTHS)
        about = source.name, *families, *matrix.shape, matrix.nnz, *lengths
        least = {name: min(samples[name, WARM].times) for name in clocks}
        for name, us in least.items():
            median = samples[name, WARM].median
            self.write((*about, *task, name, f"{us:.4f}", f"{median:.4f}", int(name == auto)))
        ours = {name: us for name, us in least.items() if not name.startswith("cuSPARSE")}
        best = min(ours, key=lambda name: ours[name])
        self.lost[task].append(least[auto] / least[best])
        told = f"{auto} {least[auto]:.2f} us, {self.lost[task][-1]:.2f} of {best}"
        theirs = min((us for name, us in least.items() if name not in ours), default=math.nan)
        print(f"{source.name:36} {' '.join(task):18} {told}; cuSPARSE {theirs:.2f} us", flush=True)

    def summary(self) -> None:
        for task, lost in self.lost.items():
            mean = math.exp(sum(map(math.log, lost)) / len(lost))
            print(f"{' '.join(task):18} auto over best: {mean:.3f}, worst {max(lost):.2f}")


def run(place: Gpu | Dry, found: list[Source], tasks: Any, out: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    with open(out, "w", newline="") as file, place.active():
        times = Times(place, file)
        for at, source in enumerate(found):
            left, now = len(found) - at, time.monotonic()
            if now > end:
                print(f"out of time: {left} matrices are left out")
                break
            try:
                matrix = scipy.sparse.csr_array(source.make())
                for task in tasks:
                    of_type = in_type(matrix, task[1])
                    times.on(source, task, of_type, now + (end - now) / left)
            except Exception as error:  # as no memory; the others are measured
                print(f"{source.name:36} left out: {type(error).__name__}: {error}", flush=True)
            file.flush()
        times.summary()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="a folder of matrices")
    parser.add_argument("out", help="the CSV file")
    parser.add_argument("--families", metavar="SEEDS", help="as 1,2,3, in place of a folder")
    parser.add_argument("--largest", type=int, default=LARGEST, metavar="NNZ")
    parser.add_argument("--kernels", help="with commas; of families: spmv alone")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--dry", action="store_true", help="without a GPU; all times are 1")
    given = parser.parse_args()
    if (given.folder is None) == (given.families is None):
        parser.error("expected either a folder or --families")
    seeds = [int(seed) for seed in (given.families or "").split(",") if seed]
    found = list(drawn(seeds, given.largest) if seeds else matrices(given.folder))
    usual = "spmv" if seeds else "spmv,row_argmax,weighted"
    kernels = (given.kernels or usual).split(",")
    tasks = [task for task in TASKS if task[0] in kernels]
    if not given.dry:
        with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
            pool.map(compiled, list(itertools.product(tasks, SCHEDULES)), chunksize=2)
    run(Dry() if given.dry else Gpu(), found, tasks, given.out, given.seconds)


if __name__ == "__main__":
    main()
