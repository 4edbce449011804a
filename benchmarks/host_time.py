"""What a call costs on the host: on a GPU the time until it returns, kernels not waited for.

    python benchmarks/host_time.py          # needs a GPU and CuPy; PyTorch is measured where it is installed
    python benchmarks/host_time.py cpu      # whole calls of a matrix so small that the work hardly counts
    python benchmarks/host_time.py new      # calls on a GPU with a new layout each time, as mini-batches have it

A small matrix, so that the GPU is always done first. Each line is the median of rounds that are interleaved.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import evenly as ev
from evenly.bench.peers import csr_tensor

CALLS, ROUNDS = 300, 15
LISTS, BATCHES = 1000, 40  # of a mini-batch; new ones of a round


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


Cases = dict[str, Callable[[], Any]]


def microseconds(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """A call's share of a round's wall time; the GPU is idle when the round starts."""
    wait()
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    elapsed = time.perf_counter() - start
    wait()
    return elapsed / CALLS * 1e6


def on_cpu() -> Cases:
    n = 64
    rng = np.random.default_rng(0)
    matrix = sp.random_array((n, n), density=0.05, format="csr", dtype=np.float32, rng=rng)
    A, x, y = ev.csr(matrix), np.ones(n, np.float32), np.empty(n, np.float32)
    plan = spmv.plan(A, x, y)
    return {
        "bound": plan.bind(A, x, y),
        "plan": lambda: plan(A, x, y),
        "kernel(A, x, y)": lambda: spmv(A, x, y),
        "ev.spmv(matrix, x, out=y)": lambda: ev.spmv(matrix, x, out=y),
        "ev.spmv(matrix, x)": lambda: ev.spmv(matrix, x),
        "scipy matrix @ x": lambda: matrix @ x,
    }


def on_gpu() -> Cases:
    import cupy as cp
    import cupyx.scipy.sparse as csp

    n = 1000
    rng = np.random.default_rng(0)
    matrix = sp.random_array((n, n), density=0.01, format="csr", dtype=np.float32, rng=rng)
    A = ev.csr(matrix).to("cuda")
    x, y, z = cp.ones(n, np.float32), cp.empty(n, np.float32), cp.empty(n, np.float32)
    one = spmv.plan(A, x, y, schedule=ev.ThreadMapped())
    two = spmv.plan(A, x, y, schedule=ev.WorkOriented(block=64, items=4))  # a second kernel joins
    assert len(two.launches) == 2
    found: Cases = {
        "bound, one launch": one.bind(A, x, y),
        "bound, two launches": two.bind(A, x, y),
        "plan, one launch": lambda: one(A, x, y),
        "plan, two launches": lambda: two(A, x, y),
        "plan, two outputs in turn": lambda: (one(A, x, y), one(A, x, z)),
        "kernel[schedule](A, x, y)": lambda: spmv[ev.ThreadMapped()](A, x, y),
        "kernel(A, x, y)": lambda: spmv(A, x, y),
        "ev.spmv(A, x, out=y)": lambda: ev.spmv(A, x, out=y),
        "ev.spmv(A, x)": lambda: ev.spmv(A, x),
    }
    theirs = csp.csr_matrix(matrix)
    found["cupy A @ x"] = lambda: theirs @ x
    if importlib.util.find_spec("torch"):
        import torch

        sparse = csr_tensor(
            torch.from_numpy(matrix.indptr),
            torch.from_numpy(matrix.indices),
            torch.from_numpy(matrix.data),
            matrix.shape,
        ).cuda()
        u = torch.ones(n, device="cuda")
        v = torch.empty(n, device="cuda")
        B = ev.csr(sparse)
        plan = spmv.plan(B, u, v, schedule=ev.ThreadMapped())
        found["torch A @ x"] = lambda: sparse @ u
        found["plan on tensors, one launch"] = lambda: plan(B, u, v)
    return found


class Batch(NamedTuple):
    """Lists of numbers on a GPU, as arrays that no call has seen, and as a matrix."""

    numbers: Any
    offsets: Any
    matrix: Any


def batch(lists: int, rng: np.random.Generator) -> Batch:
    import cupy as cp
    import cupyx.scipy.sparse as csp

    offsets = np.append(0, np.cumsum(rng.poisson(10, lists))).astype(np.int32)
    columns = rng.integers(0, LISTS, offsets[-1], dtype=np.int32)
    arrays = rng.random(offsets[-1], dtype=np.float32), columns, offsets
    numbers, indices, starts = map(cp.asarray, arrays)
    return Batch(numbers, starts, csp.csr_matrix((numbers, indices, starts), (lists, LISTS)))


def on_new_layouts(wait: Callable[[], Any]) -> dict[str, list[float]]:
    """Return the microseconds of calls, each with a batch of its own, of as many lists as the others or not."""
    import cupy as cp

    x = cp.ones(LISTS, np.float32)
    calls: dict[str, Callable[[Batch], Any]] = {
        "segment_reduce": lambda b: ev.ragged.segment_reduce(b.numbers, "sum", b.offsets),
        "segment_softmax": lambda b: ev.ragged.segment_softmax(b.numbers, b.offsets),
        "segment_sort": lambda b: ev.ragged.segment_sort(b.numbers, b.offsets),
        "ev.spmv(matrix, x)": lambda b: ev.spmv(b.matrix, x),
        "cupy matrix @ x": lambda b: b.matrix @ x,
    }
    seen: dict[str, list[float]] = {}
    rng = np.random.default_rng(0)
    for round_ in range(ROUNDS + 1):
        for name, call in calls.items():
            for kind, more in (("as many lists", 0), ("other counts", 1)):
                given = [batch(LISTS + more * n, rng) for n in range(BATCHES)]
                wait()
                start = time.perf_counter()
                for one in given:
                    call(one)
                wait()
                elapsed = time.perf_counter() - start
                if round_:  # the first one compiles
                    seen.setdefault(f"{name}, {kind}", []).append(elapsed / BATCHES * 1e6)
    return seen


def waiting() -> Callable[[], Any]:
    import cupy as cp

    return cp.cuda.Device().synchronize


def rounds(found: Cases, wait: Callable[[], Any]) -> dict[str, list[float]]:
    for call in found.values():
        call()
    seen: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name, call in found.items():
            seen[name].append(microseconds(call, wait))
    return seen


def main() -> None:
    if sys.argv[1:] == ["new"]:
        seen = on_new_layouts(waiting())
    else:
        cpu = sys.argv[1:] == ["cpu"]
        seen = rounds(*((on_cpu(), lambda: None) if cpu else (on_gpu(), waiting())))
    for name, times in seen.items():
        print(f"{name:34} {statistics.median(times):7.2f} us  (least {min(times):.2f})")


if __name__ == "__main__":
    main()
