"""Tasks for compute-sanitizer, as `tests.gpu.sanitize`:

    compute-sanitizer --tool memcheck  --report-api-errors no python -m tests.gpu.sanitize_tasks
    compute-sanitizer --tool racecheck python -m tests.gpu.sanitize_tasks TaskPool

With a name, only the schedules of that class. The host decides whether there is another round: where the device does, in a
conditional node of a CUDA graph, kernels that compute-sanitizer has changed end in errors that it does not explain.
"""

from __future__ import annotations

import sys
from typing import Any
from unittest import mock

import cupy

import evenly as ev
from tests.gpu.test_tasks import make
from tests.tasks import CASES, runs_fans

SCHEDULES = (
    *(ev.StaticList(), ev.TaskPool(blocks=8), ev.TaskPool(8, 64, blocks=8)),
    *(ev.TaskPool(64, 64, blocks=8), ev.BlockingQueue(32, blocks=4), ev.LockFreeQueue(blocks=4)),
    *(ev.WorkStealing(blocks=8), ev.WorkStealing(64, 64, blocks=8)),
)


def main(name: str = "") -> None:
    cupy.cuda.set_allocator(None)
    for schedule in SCHEDULES:
        if name in type(schedule).__name__:
            check(schedule)
            print(schedule, "done", flush=True)


def check(schedule: Any) -> None:
    def run(kernel: Any, *given: Any) -> None:
        kernel[schedule].on("cuda")(*given)

    for case in CASES.values():
        case(make, run)
    runs_fans(make, run, 40, 2, 33)


if __name__ == "__main__":
    with mock.patch("evenly.targets.cuda.looping.are_possible", return_value=False):
        main(*sys.argv[1:])
