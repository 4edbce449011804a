"""A small set of launches for compute-sanitizer: every schedule, the main kernels, nasty matrices.

    compute-sanitizer --tool memcheck  --report-api-errors no python -m tests.gpu.sanitize
    compute-sanitizer --tool racecheck python -m tests.gpu.sanitize

Allocations are made one by one, not from a pool, so that the first byte beyond an array is seen.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from evenly.layouts import convert
from tests.batteries import matrices
from tests.kernels import CASES, SCHEDULES, reference, tolerance

MATRICES = ("power law", "a tile longer than a block", "many empty between", "no atoms")
KERNELS = ("spmv", "row_extremes", "weighted_by_tile", "spmv_dot", "softmax")


def main() -> None:
    cupy.cuda.set_allocator(None)
    run(matrices(np.float32))


def run(battery: dict[str, Any]) -> None:
    for name in MATRICES:
        for kernel in KERNELS:
            case = CASES[kernel]
            for schedule in SCHEDULES.values():
                host = convert(battery[name], "csr")
                args = [
                    host.to("cuda"),
                    *(cupy.asarray(a) for a in case.arguments(host, battery[name], np.float32)[1:]),
                ]
                case.kernel[schedule].on("cuda")(*args)
                expected = reference(case, name, battery[name], "csr", np.float32)
                for place, want in zip(case.outputs, expected, strict=True):
                    np.testing.assert_allclose(
                        args[place].get(),
                        want,
                        **tolerance(np.float32),
                        err_msg=f"{name} {kernel} {schedule}",
                    )
        print(name, "done", flush=True)


if __name__ == "__main__":
    main()
