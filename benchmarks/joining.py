"""How tiles that cross blocks are joined: by a finish kernel, or by the blocks (`chained_blocks`, tuning/sm_90.toml).

    python benchmarks/joining.py

For matrices of growing size the time of both, in replayed CUDA graphs, interleaved, and the
blocks a multiprocessor. Needs a GPU and CuPy.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

import evenly as ev
from evenly.interop.generators import rmat
from evenly.targets.cuda import launching

CALLS, ROUNDS = 20, 15


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def graph_of(call: Callable[[], None], stream: Any) -> Any:
    stream.begin_capture()
    for _ in range(CALLS):
        call()
    return stream.end_capture()


def microseconds(graph: Any, stream: Any) -> float:
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(stream)
    graph.launch(stream)
    stop.record(stream)
    stop.synchronize()
    return float(cp.cuda.get_elapsed_time(start, stop)) / CALLS * 1e3


def plan_with(blocks: int, schedule: Any, A: Any, x: Any, y: Any) -> Any:
    """A plan that joins on the way up to so many blocks a multiprocessor."""
    given = launching.numbers
    launching.numbers = lambda: {**given(), "chained_blocks": blocks}
    try:
        plan = spmv.plan(A, x, y, schedule=schedule)
        plan(A, x, y)
        return plan
    finally:
        launching.numbers = given


def measure(matrix: Any, dtype: Any, schedule: Any, stream: Any) -> str:
    A = ev.csr(matrix.astype(dtype)).to("cuda")
    x, y = cp.ones(matrix.shape[1], dtype), cp.empty(matrix.shape[0], dtype)
    plans = {
        "finish": plan_with(0, schedule, A, x, y),
        "chained": plan_with(10**9, schedule, A, x, y),
    }
    stream.synchronize()
    graphs = {name: graph_of(lambda p=plan: p(A, x, y), stream) for name, plan in plans.items()}
    times: dict[str, list[float]] = {name: [] for name in graphs}
    for _ in range(ROUNDS):
        for name, graph in graphs.items():
            times[name].append(microseconds(graph, stream))
    found = {name: statistics.median(t) for name, t in times.items()}
    processors = cp.cuda.Device().attributes["MultiProcessorCount"]
    share = plans["finish"].launches[0].grid[0] / processors
    shown = "  ".join(f"{name} {t:7.2f} us" for name, t in found.items())
    return (
        f"{share:6.1f} blocks a multiprocessor  {shown}  {found['chained'] / found['finish']:.2f}"
    )


def main() -> None:
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        for scale in (10, 12, 13, 14, 15, 16, 17):
            matrix = rmat(scale)
            for dtype in (np.float32, np.float64):
                for schedule in (ev.MergePath(), ev.NonzeroSplit()):
                    line = measure(matrix, dtype, schedule, stream)
                    name = f"R-MAT {scale}, {matrix.nnz:,} {np.dtype(dtype).name} {type(schedule).__name__}"
                    print(f"{name:45} {line}", flush=True)


if __name__ == "__main__":
    main()
