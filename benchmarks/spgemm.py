"""Sparse times sparse, C = A A: ev.linalg.spgemm beside CuPy's product, which is cuSPARSE's, in one run.

    python benchmarks/spgemm.py [--matrices stencil,uniform,rmat]

Needs a GPU, CuPy and cuda-cccl. Whole calls are timed, with what they allocate, since both wait for the device. CuPy's
result is sorted, too.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import cupy as cp
import cupyx.scipy.sparse
import numpy as np

import evenly as ev
from evenly.interop import generators

ROUNDS = 5
MATRICES: dict[str, Callable[[], Any]] = {
    "stencil": lambda: generators.stencil(1024),
    "uniform": lambda: generators.uniform(200_000, 16),
    "rmat": lambda: generators.rmat(15),
}


def clock(call: Callable[[], Any]) -> float:
    """Milliseconds of a call."""
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return (time.perf_counter() - start) * 1e3


def theirs(A: Any) -> Any:
    C = A @ A
    C.sort_indices()
    return C


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--matrices", default=",".join(MATRICES))
    given = parser.parse_args()
    print(cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    for name in given.matrices.split(","):
        matrix = cupyx.scipy.sparse.csr_matrix(MATRICES[name]().astype(np.float32))
        A = ev.csr(matrix)
        calls: dict[str, Callable[[], Any]] = {
            "evenly": lambda A=A: ev.linalg.spgemm(A, A),
            "counting alone": lambda A=A: ev.linalg.spgemm.estimate(A, A),
            "CuPy": lambda A=matrix: theirs(A),
        }
        mine, wanted = calls["evenly"](), calls["CuPy"]()
        cp.testing.assert_array_equal(mine.indices, wanted.indices)
        cp.testing.assert_allclose(mine.values, wanted.data, rtol=1e-3, atol=1e-4)
        times: dict[str, list[float]] = {title: [] for title in calls}
        for _ in range(ROUNDS):
            for title, call in calls.items():
                times[title].append(clock(call))
        size = ev.linalg.spgemm.estimate(A, A)
        print(f"{name}: {size.products:,} products, {size.nonzeros:,} nonzeros", flush=True)
        for title, each in times.items():
            print(f"  {statistics.median(each):9.2f} ms  {title}", flush=True)


if __name__ == "__main__":
    main()
