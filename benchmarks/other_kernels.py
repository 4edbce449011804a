"""Kernels other than SpMV, beside it: does the speed belong to the schedules, or to one product?

    python benchmarks/other_kernels.py

A row argmax and a sum whose terms depend on their tile, on the same matrices, each under `auto`. Every
kernel has its own floor: the bytes that it has to move at the rate of a copy; what is shown is the share
of it, over SpMV's share of its own. Needs a GPU and CuPy.
"""

from __future__ import annotations

import statistics
from typing import Any

import cupy as cp
import numpy as np

import evenly as ev
from evenly.fitting.tasks import row_argmax, weighted
from evenly.interop.generators import banded, rmat, stencil

CALLS, ROUNDS = 5, 9


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def graph_of(plan: Any, args: tuple[Any, ...], stream: Any) -> Any:
    plan(*args)
    stream.begin_capture()
    for _ in range(CALLS):
        plan(*args)
    return stream.end_capture()


def microseconds(graph: Any, stream: Any) -> float:
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(stream)
    graph.launch(stream)
    stop.record(stream)
    stop.synchronize()
    return float(cp.cuda.get_elapsed_time(start, stop)) / CALLS * 1e3


def main() -> None:
    stream = cp.cuda.Stream(non_blocking=True)
    matrices = {
        "stencil-2048": stencil(2048),
        "band-64": banded(500_000, 64),
        "rmat-18": rmat(18),
        "rmat-20": rmat(20),
    }
    for name, matrix in matrices.items():
        A = ev.csr(matrix.astype(np.float32)).to("cuda")
        n, m = matrix.shape
        x, w, y = cp.ones(m, np.float32), cp.ones(n, np.float32), cp.empty(n, np.float32)
        where = cp.empty(n, np.int32)
        offsets, values = 4 * (n + 1), 4 * matrix.nnz
        kernels = {  # and the bytes that each has to move
            "spmv": (spmv, (A, x, y), offsets + 2 * values + 4 * m + 4 * n),
            "row argmax": (row_argmax, (A, where), offsets + values + 4 * n),
            "weighted": (weighted, (A, w, y), offsets + values + 8 * n),
        }
        cp.cuda.Device().synchronize()
        with stream:
            plans = {k: kernel.plan(*args) for k, (kernel, args, _) in kernels.items()}
            graphs = {k: graph_of(plans[k], kernels[k][1], stream) for k in kernels}
        times: dict[str, list[float]] = {k: [] for k in kernels}
        for _ in range(ROUNDS):
            for k, graph in graphs.items():
                times[k].append(microseconds(graph, stream))
        found = {k: statistics.median(t) for k, t in times.items()}
        base = kernels["spmv"][2] / found["spmv"]
        for k, us in found.items():
            rate = kernels[k][2] / us
            shown = f"{us:8.1f} us  {rate / 1e3:6.0f} GB/s  {rate / base:5.2f} of SpMV's"
            print(f"{name:13} {k:11} {shown}  {plans[k].schedule}")


if __name__ == "__main__":
    main()
