"""Sparse times sparse, C = A A: ev.linalg.spgemm beside cuSPARSE through its C interface, in one run.

    python benchmarks/spgemm.py [--matrices stencil,uniform,rmat] [--dtype float32]

Needs a GPU and CuPy. Whole calls are timed, with what they allocate from CuPy's pool, since all of them wait for the
device. `MiB` is what a call takes from the pool beside A and C. cuSPARSE's ALG3 works in 5 chunks.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import time
from collections.abc import Callable
from typing import Any

import cupy as cp
import cupyx.scipy.sparse
import numpy as np

import evenly as ev
from evenly.bench.cusparse import INDEX, REAL, CuSparse, address
from evenly.interop import generators

ROUNDS = 5
ALGORITHMS = {"ALG1": 3, "ALG2": 4, "ALG3": 5}  # CUSPARSE_SPGEMM_ALG1, ...
CHUNK = 0.2


def power_law(rows: int, per_row: int, seed: int = 0) -> Any:
    """Rows whose lengths follow a power law, in random columns."""
    lengths = np.random.default_rng(seed).pareto(2.0, rows) + 0.1
    lengths = np.minimum(lengths * per_row / lengths.mean(), rows // 2).astype(np.int64)
    ends, rng = cp.cumsum(cp.asarray(lengths)), cp.random.default_rng(seed)
    row = cp.searchsorted(ends, cp.arange(int(ends[-1])), side="right")
    keys = cp.unique(row * rows + rng.integers(0, rows, len(row)))
    offsets = cp.searchsorted(keys, cp.arange(rows + 1) * rows).astype(np.int32)
    values, columns = rng.random(len(keys), np.float32), (keys % rows).astype(np.int32)
    return cupyx.scipy.sparse.csr_matrix((values, columns, offsets), shape=(rows, rows))


MATRICES: dict[str, Callable[[], Any]] = {
    "stencil": lambda: generators.stencil(1024),
    "uniform": lambda: generators.uniform(200_000, 16),
    "wide": lambda: generators.uniform(1_000_000, 8),
    "band": lambda: generators.banded(300_000, 64),
    "rmat": lambda: generators.rmat(15),
    "power": lambda: power_law(50_000, 40),
    "huge": lambda: power_law(125_000, 104),
}


def descriptor(of: CuSparse, shape: tuple[int, int], arrays: tuple[Any, ...], real: int) -> Any:
    found = ctypes.c_void_p()
    values, columns, offsets = (address(x) if x is not None else None for x in arrays)
    of.call(
        "cusparseCreateCsr", ctypes.byref(found), ctypes.c_int64(shape[0]), ctypes.c_int64(shape[1]),
        ctypes.c_int64(0 if arrays[0] is None else len(arrays[0])), offsets, columns, values,
        ctypes.c_int(INDEX["int32"]), ctypes.c_int(INDEX["int32"]), ctypes.c_int(0), ctypes.c_int(real),
    )  # fmt: skip
    return found


def cusparse(A: Any, algorithm: str) -> tuple[Any, ...]:
    """Return values, columns and offsets of A A. Its rows are as cuSPARSE leaves them."""
    of, real = CuSparse.loaded(), REAL[A.dtype.name]
    number = ctypes.c_float if real == 0 else ctypes.c_double
    one, zero = number(1), number(0)
    rows = A.shape[0]
    offsets = cp.empty(rows + 1, np.int32)
    a = descriptor(of, A.shape, (A.data, A.indices, A.indptr), real)
    c = descriptor(of, A.shape, (None, None, offsets), real)
    plan = ctypes.c_void_p()
    of.call("cusparseSpGEMM_createDescr", ctypes.byref(plan))
    given = (
        of.handle, ctypes.c_int(0), ctypes.c_int(0), ctypes.byref(one), a, a, ctypes.byref(zero), c,
        ctypes.c_int(real), ctypes.c_int(ALGORITHMS[algorithm]), plan,
    )  # fmt: skip
    sizes = [ctypes.c_size_t() for _ in range(3)]
    first, second, third = map(ctypes.byref, sizes)
    of.call("cusparseSpGEMM_workEstimation", *given, first, None)
    buffers = [cp.empty(sizes[0].value, np.uint8)]
    of.call("cusparseSpGEMM_workEstimation", *given, first, address(buffers[0]))
    if algorithm == "ALG1":
        of.call("cusparseSpGEMM_compute", *given, second, None)
    else:
        chunk = ctypes.c_float(CHUNK if algorithm == "ALG3" else 1.0)
        of.call("cusparseSpGEMM_estimateMemory", *given, chunk, third, None, None)
        estimating = cp.empty(sizes[2].value, np.uint8)
        of.call("cusparseSpGEMM_estimateMemory", *given, chunk, third, address(estimating), second)
        del estimating
    buffers.append(cp.empty(sizes[1].value, np.uint8))
    of.call("cusparseSpGEMM_compute", *given, second, address(buffers[1]))
    shape = [ctypes.c_int64() for _ in range(3)]
    of.call("cusparseSpMatGetSize", c, *map(ctypes.byref, shape))
    total = shape[2].value
    columns, values = cp.empty(total, np.int32), cp.empty(total, A.dtype)
    of.call("cusparseCsrSetPointers", c, address(offsets), address(columns), address(values))
    of.call("cusparseSpGEMM_copy", *given)
    of.library.cusparseSpGEMM_destroyDescr(plan)
    for made in (a, c):
        of.library.cusparseDestroySpMat(made)
    return values, columns, offsets


def clock(call: Callable[[], Any]) -> float:
    """Milliseconds of a call."""
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return (time.perf_counter() - start) * 1e3


def room(call: Callable[[], Any], result: int) -> float:
    """MiB that a call takes from the pool beside its result."""
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    call()
    taken = pool.total_bytes() - before - result
    pool.free_all_blocks()
    return taken / 2**20


def compare(mine: Any, theirs: tuple[Any, ...]) -> str:
    values, columns, offsets = theirs
    if not bool((mine.offsets == offsets).all()):
        return "offsets differ"
    n = len(offsets) - 1
    other = cupyx.scipy.sparse.csr_matrix((values, columns, offsets), shape=(n, n))
    other.has_sorted_indices = False
    other.sort_indices()
    if not bool((mine.indices == other.indices).all()):
        return "columns differ"
    close = cp.allclose(mine.values, other.data, rtol=1e-3, atol=1e-4)
    return "same" if bool(close) else "values differ"


def attempt(call: Callable[[], Any]) -> Exception | None:
    try:
        call()
    except (RuntimeError, cp.cuda.memory.OutOfMemoryError) as error:
        return error
    return None


def measure(name: str, dtype: str, rounds: int) -> None:
    matrix = cupyx.scipy.sparse.csr_matrix(MATRICES[name]().astype(dtype))
    matrix.sum_duplicates()
    A = ev.csr(matrix)
    size = ev.linalg.spgemm.estimate(A, A)
    print(f"{name}: {size.products:,} products, {size.nonzeros:,} nonzeros", flush=True)
    calls: dict[str, Callable[[], Any]] = {
        "evenly": lambda: ev.linalg.spgemm(A, A),
        "counting alone": lambda: ev.linalg.spgemm.estimate(A, A),
    }
    for algorithm in ALGORITHMS:
        calls[f"cuSPARSE {algorithm}"] = lambda algorithm=algorithm: cusparse(matrix, algorithm)
    for title in list(calls):
        if error := attempt(calls[title]):
            print(f"  {title}: {str(error)[:100]}", flush=True)
            del calls[title]
            cp.get_default_memory_pool().free_all_blocks()
    if size.nonzeros < 10**8 and "cuSPARSE ALG1" in calls:
        print(" ", compare(calls["evenly"](), cusparse(matrix, "ALG1")), flush=True)
    times: dict[str, list[float]] = {title: [] for title in calls}
    for _ in range(rounds):
        for title, call in calls.items():
            times[title].append(clock(call))
    for title, each in times.items():
        took = room(calls[title], 0 if title == "counting alone" else size.bytes)
        print(f"  {statistics.median(each):9.2f} ms {took:9.0f} MiB  {title}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--matrices", default="stencil,uniform,rmat")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    print(cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    for name in given.matrices.split(","):
        measure(name, given.dtype, given.rounds)


if __name__ == "__main__":
    main()
