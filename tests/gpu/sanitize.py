"""A small set of launches for compute-sanitizer: every schedule, the main kernels, nasty matrices.

    compute-sanitizer --tool memcheck  --report-api-errors no python -m tests.gpu.sanitize
    compute-sanitizer --tool racecheck python -m tests.gpu.sanitize 2/8

With a part, here the second of eight, only that of all pairs of a kernel and a schedule. So small a part takes 17 s on
an H200, most of which go into compiling.
Allocations are made one by one, not from a pool, so that the first byte beyond an array is seen.
"""

from __future__ import annotations

import itertools
import sys
import time

import cupy
import numpy as np

from evenly.layouts import convert
from tests.batteries import matrices
from tests.gpu.parts import part
from tests.kernels import CASES, SCHEDULES, reference, tolerance

MATRICES = ("power law", "a tile longer than a block", "many empty between", "no atoms")
KERNELS = ("spmv", "row_extremes", "weighted_by_tile", "spmv_dot", "softmax")


def main(which: str = "") -> None:
    cupy.cuda.set_allocator(None)
    for kernel, schedule in part(list(itertools.product(KERNELS, SCHEDULES)), which):
        start = time.perf_counter()
        for name in MATRICES:
            check(kernel, schedule, name)
        print(f"{kernel} {schedule} done in {time.perf_counter() - start:.2f} s", flush=True)


def check(kernel: str, schedule: str, name: str) -> None:
    case, matrix = CASES[kernel], matrices(np.float32)[name]
    host = convert(matrix, "csr")
    others = (cupy.asarray(a) for a in case.arguments(host, matrix, np.float32)[1:])
    args = [host.to("cuda"), *others]
    case.kernel[SCHEDULES[schedule]].on("cuda")(*args)
    expected = reference(case, name, matrix, "csr", np.float32)
    for place, want in zip(case.outputs, expected, strict=True):
        np.testing.assert_allclose(
            args[place].get(),
            want,
            **tolerance(np.float32),
            err_msg=f"{name} {kernel} {schedule}",
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
