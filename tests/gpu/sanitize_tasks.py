"""Tasks for compute-sanitizer, as `tests.gpu.sanitize`:

compute-sanitizer --tool memcheck --report-api-errors no python -m tests.gpu.sanitize_tasks
"""

from __future__ import annotations

from typing import Any

import cupy

import evenly as ev
from tests.gpu.test_tasks import make
from tests.tasks import CASES, runs_fans

SCHEDULES = (
    *(ev.StaticList(), ev.TaskPool(), ev.TaskPool(8, 64), ev.TaskPool(64, 64)),
    *(ev.BlockingQueue(32), ev.LockFreeQueue(), ev.WorkStealing(), ev.WorkStealing(64, 64)),
)


def main() -> None:
    cupy.cuda.set_allocator(None)
    for schedule in SCHEDULES:

        def run(kernel: Any, *given: Any, schedule: Any = schedule) -> None:
            kernel[schedule].on("cuda")(*given)

        for case in CASES.values():
            case(make, run)
        runs_fans(make, run, 40, 2, 33)
        print(schedule, "done", flush=True)


if __name__ == "__main__":
    main()
