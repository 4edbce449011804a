"""Tasks for compute-sanitizer, as `tests.gpu.sanitize`:

    compute-sanitizer --tool memcheck  --report-api-errors no python -m tests.gpu.sanitize_tasks
    compute-sanitizer --tool racecheck python -m tests.gpu.sanitize_tasks TaskPool 1/4

With a name, only the schedules of that class; with a part, only that of all pairs of a schedule and a case, here 15 s. The host
decides whether there is another round: where the device does, in a conditional node of a CUDA graph, kernels that
compute-sanitizer has changed end in errors that it does not explain.
"""

from __future__ import annotations

import itertools
import sys
import time
from functools import partial
from typing import Any
from unittest import mock

import cupy

import evenly as ev
from tests.gpu.parts import part
from tests.gpu.test_tasks import make
from tests.tasks import CASES, runs_fans

SCHEDULES = (
    *(ev.StaticList(), ev.TaskPool(blocks=8), ev.TaskPool(8, 64, blocks=8)),
    *(ev.TaskPool(64, 64, blocks=8), ev.BlockingQueue(32, blocks=4), ev.LockFreeQueue(blocks=4)),
    *(ev.WorkStealing(blocks=8), ev.WorkStealing(64, 64, blocks=8)),
)
ALL = {**CASES, "fans": partial(runs_fans, width=40, depth=2, capacity=33)}


def main(name: str = "", which: str = "") -> None:
    cupy.cuda.set_allocator(None)
    chosen = [s for s in SCHEDULES if name in type(s).__name__]
    for schedule, case in part(list(itertools.product(chosen, ALL)), which):
        start = time.perf_counter()
        ALL[case](make, partial(run, schedule))
        print(f"{schedule} {case} done in {time.perf_counter() - start:.2f} s", flush=True)


def run(schedule: Any, kernel: Any, *given: Any) -> None:
    kernel[schedule].on("cuda")(*given)


if __name__ == "__main__":
    with mock.patch("evenly.targets.cuda.looping.are_possible", return_value=False):
        main(*sys.argv[1:])
