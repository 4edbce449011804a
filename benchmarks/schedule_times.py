"""What every schedule takes, for the model of costs that `auto` chooses by: the input of fit_auto.py.

    python benchmarks/schedule_times.py FOLDER times.csv [KERNEL ...]

An SpMV in float32 and float64, a row argmax and a sum whose terms depend on their tile (other_kernels.py), on the
matrices of the folder, those of the bench but the largest, bands of 3 to 100 a row and R-MAT of more sizes, under
whole tiles with several numbers of items, under shares and under bins. KERNEL: spmv, row_argmax or weighted, where not
all of them are wanted. Prints what `auto` takes now, and what that loses to the best. All is compiled first, by many
processes. Needs a GPU and CuPy.
"""

from __future__ import annotations

import csv
import itertools
import math
import multiprocessing
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
import scipy.sparse
from fit_matrices import matrices
from other_kernels import row_argmax, weighted

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.arguments import spec_of
from evenly.bench.matrices import in_type
from evenly.choosing.model import LANES, groups, most_in_flight, runs
from evenly.choosing.statistics import Statistics, statistics
from evenly.gpus.numbers import numbers
from evenly.targets.cuda.compile import cubin
from evenly.timing.graphs import GraphClock

TASKS = [("spmv", "float32"), ("spmv", "float64"), ("row_argmax", "float32")]
TASKS += [("weighted", "float32")]
MERGED = [ev.MergePath(*row[2:]) for row in numbers()["shares"]]
MERGED += [ev.MergePath(*row[2:]) for row in numbers()["streaming"]["shares"]]
OWNED = [schedule for lanes in LANES for schedule in groups(lanes)] + [*runs(4, 2)]
OTHERS = [ev.NonzeroSplit(), most_in_flight(numbers())]
BINS = [numbers()["bin_sizes"], numbers()["streaming"]["bin_sizes"]]
OTHERS += [ev.Lrb(*sizes, items=items) for sizes in BINS for items in (1, 4)]
SCHEDULES = list(dict.fromkeys([*OWNED, *MERGED, *OTHERS]))
ROUNDS, LONGEST = 6, 3000  # atoms of one lane: what takes longer is not tried


def arguments(kernel: str, A: Any, xp: Any) -> tuple[Any, tuple[Any, ...]]:
    """The kernel, and arguments of it from a module of arrays."""
    (tiles, columns), dtype = A.shape, A.values.dtype
    if kernel == "spmv":
        return spmv_rows, (A, xp.ones(columns, dtype), xp.empty(tiles, dtype))
    if kernel == "row_argmax":
        return row_argmax, (A, xp.empty(tiles, np.int32))
    return weighted, (A, xp.ones(tiles, dtype), xp.empty(tiles, dtype))


def compiled(job: tuple[tuple[str, str], Any]) -> None:
    task, schedule = job
    compile_ahead(*small(task), schedule)


def small(task: tuple[str, str]) -> tuple[Any, tuple[Any, ...]]:
    """A kernel, and arguments of its types in the memory of the CPU."""
    kernel, dtype = task
    return arguments(kernel, ev.csr(scipy.sparse.eye_array(8, format="csr", dtype=dtype)), np)


def compile_ahead(kernel: Any, given: tuple[Any, ...], schedule: Any) -> None:
    """Into the cache; no process that is forked may have touched the GPU before."""
    specs = tuple(spec_of(value, "") for value in given)
    executable, _ = kernel.executable(specs, schedule, "cuda", wide=False, debug=False)
    for code in (k for phase in executable.program.codes for k in phase.all_kernels):
        cubin(code.source, code.name, "sm_90")


def tried(st: Statistics) -> Iterator[Any]:
    for schedule in SCHEDULES:
        lanes = getattr(schedule, "size", 1) if schedule.engine == "owned" else 0
        near = st.greatest < LONGEST * lanes and st.mean / 40 <= lanes <= 8 * max(st.mean, 4)
        if not lanes or near:
            yield schedule


def times(kernel: Any, given: tuple[Any, ...], st: Statistics) -> tuple[dict[str, float], str]:
    """Microseconds by schedule, the least of some rounds, and the schedule that `auto` takes."""
    auto = kernel.plan(*given)
    plans = {str(s): kernel[s].plan_as_auto(*given) for s in tried(st)} | {str(auto.schedule): auto}
    clocks = {name: GraphClock(plan.launches) for name, plan in plans.items()}
    least = dict.fromkeys(clocks, math.inf)
    for _ in range(ROUNDS):
        for name, clock in clocks.items():
            least[name] = min(least[name], clock.warm())
    return least, str(auto.schedule)


def main(folder: str, out: str, *kernels: str) -> None:
    tasks = [task for task in TASKS if not kernels or task[0] in kernels]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        pool.map(compiled, list(itertools.product(tasks, SCHEDULES)), chunksize=2)
    loss = defaultdict(list)
    with open(out, "w", newline="") as file:
        write = csv.writer(file).writerow
        write(("matrix", "rows", "nnz", "kernel", "dtype", "schedule", "us"))
        for name, make in matrices(folder):
            matrix = scipy.sparse.csr_array(make())
            st = statistics(ev.csr(matrix))
            for task in tasks:
                A = ev.csr(in_type(matrix, task[1])).to("cuda")
                found, auto = times(*arguments(task[0], A, cp), st)
                best = min(found, key=lambda schedule: found[schedule])
                loss[task].append(found[auto] / found[best])
                for schedule, us in found.items():
                    write((name, *matrix.shape[:1], matrix.nnz, *task, schedule, f"{us:.4f}"))
                told = f"{auto} {found[auto]:.2f} us, {loss[task][-1]:.2f} of {best}"
                print(f"{name:24} {' '.join(task):18} {told}", flush=True)
    for task, lost in loss.items():
        mean = math.exp(sum(map(math.log, lost)) / len(lost))
        print(f"{' '.join(task):18} auto over best: {mean:.3f}, worst {max(lost):.2f}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
