"""How large MergePath's shares are, and how much of fast memory caches what an SpMV gathers: `shares` of the data file.

    python benchmarks/carveout.py [FOLDER]

R-MAT of 2**15 to 2**22 rows and the skewed matrices of a folder, float32 and float64, under every share that
`auto` or `tune()` may take: the microseconds of each, the one that `auto` takes, and what that loses to the best.
Needs a GPU and CuPy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import cupy as cp
import numpy as np
import scipy.sparse

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.bench.matrices import in_type, sources
from evenly.choosing.auto import choose
from evenly.choosing.candidates import candidates
from evenly.choosing.statistics import statistics
from evenly.choosing.task import product_of
from evenly.gpus.numbers import numbers
from evenly.interop.generators import rmat
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import measure

SCALES = range(15, 23)
LEAST = 40_000  # nonzeros: below, a launch is nearly all
ROUNDS = 7


def matrices(folder: str | None) -> Iterator[tuple[str, Any]]:
    made = {f"rmat-{scale}": partial(rmat, scale) for scale in SCALES}
    files = {source.name: source.make for source in sources(folder)} if folder else {}
    for name, make in (files | made).items():
        matrix = scipy.sparse.csr_array(make())
        skewed = statistics(ev.csr(matrix)).spread > numbers()["regular_spread"]
        if matrix.nnz >= LEAST and skewed:
            yield name, matrix


def compare(name: str, matrix: Any) -> None:
    A = ev.csr(matrix).to("cuda")
    x, y = (cp.ones(n, matrix.dtype) for n in reversed(matrix.shape))
    chosen = choose(A, "cuda", product_of(A))
    shares = [s for s in candidates("cuda") if isinstance(s, ev.MergePath)]
    plans = {s: spmv_rows.plan(A, x, y, schedule=s) for s in dict.fromkeys([chosen, *shares])}
    samples = measure({str(s): GraphClock(p.launches) for s, p in plans.items()}, rounds=ROUNDS)
    times = {s: samples[str(s), "warm"].median for s in plans}
    print(f"{name:16} {matrix.dtype} {matrix.nnz:>11,} nonzeros")
    for schedule, us in sorted(times.items(), key=lambda item: item[1]):
        mark = f"auto, {us / min(times.values()):.2f} of the best" if schedule == chosen else ""
        print(f"    {us:8.2f} us  {schedule}  {mark}", flush=True)


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    for name, matrix in matrices(folder):
        for dtype in (np.float32, np.float64):
            compare(name, in_type(matrix, dtype))


if __name__ == "__main__":
    main()
