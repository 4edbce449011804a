"""What making a plan costs, and the first call of a new kernel.

    python benchmarks/plan_time.py

For a matrix of 100 M nonzeros: the time from the call until the plan can be used (the median of nine), its kernels
compiled before, over that of one SpMV, and the bytes that it keeps over the matrix's. For a kernel that nobody
has compiled: the time of a first call, with nothing cached and with its machine code on disk, each in a
process of its own. Needs a GPU and CuPy.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cupy as cp
import numpy as np

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows

ROWS, A_ROW, PLANS = 5_000_000, 20, 9
FIRST = """
import time
import cupy as cp, numpy as np, scipy.sparse as sp
import evenly as ev
A = ev.csr(sp.random_array((1000, 1000), density=0.01, format="csr", dtype=np.float32)).to("cuda")
x, y = cp.ones(1000, np.float32), cp.empty(1000, np.float32)
@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
cp.cuda.Device().synchronize()
start = time.perf_counter()
spmv[ev.MergePath()](A, x, y)
cp.cuda.Device().synchronize()
print(time.perf_counter() - start)
"""


def matrix(skewed: bool) -> ev.Layout:
    """100 M nonzeros: 20 a row, or a power law of row lengths."""
    rng = np.random.default_rng(0)
    lengths = np.full(ROWS, A_ROW, np.int64)
    if skewed:
        lengths = (rng.pareto(1.2, ROWS) * 6).astype(np.int64).clip(0, ROWS // 2)
        lengths = (lengths * (ROWS * A_ROW / lengths.sum())).astype(np.int64)
    offsets = cp.asarray(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    atoms = int(lengths.sum())
    columns = cp.random.default_rng(0).integers(0, ROWS, atoms, dtype=np.int32)
    values = cp.ones(atoms, np.float32)
    return ev.csr((values, columns, offsets), shape=(ROWS, ROWS))


def seconds(call) -> float:
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - start


def main() -> None:
    x, y = cp.ones(ROWS, np.float32), cp.empty(ROWS, np.float32)
    for name in ("regular", "skewed"):
        A = matrix(name == "skewed")
        plan = spmv_rows.plan(A, x, y)  # compiled
        same = [ev.csr((A.values, A.indices, A.offsets), shape=A.shape) for _ in range(PLANS)]
        # Of these layouts nothing is known yet.
        took = statistics.median(seconds(lambda L=L: spmv_rows.plan(L, x, y)) for L in same)
        plan(A, x, y)
        one = min(seconds(lambda A=A, plan=plan: plan(A, x, y)) for _ in range(10))
        whole = A.offsets.nbytes + A.indices.nbytes + A.values.nbytes
        print(
            f"{name}: {plan.schedule}, plan {took * 1e3:.2f} ms, SpMV {one * 1e3:.2f} ms: {took / one:.1f} of it; "
            f"{plan.workspace / whole:.2%} of the matrix's bytes"
        )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "EVENLY_CACHE_DIR": cache}
        program = Path(cache) / "first.py"  # a kernel's text is read from its file
        program.write_text(FIRST)
        for what in ("nothing cached", "cached on disk"):
            run = [sys.executable, str(program)]
            done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
            print(f"first call of a new kernel, {what}: {float(done.stdout):.2f} s")


if __name__ == "__main__":
    main()
