"""Sparse times dense, Y = A X, or SDDMM, A * (X Z^T): ev.linalg, cuSPARSE, and SpMM by hand, in one run.

    python benchmarks/spmm.py [--product sddmm] [--columns 8,32,128] [--matrices uniform,band,stencil,rmat]
                              [--dtype float32] [--schedule "ev.GroupMapped(8, lanes=8, vector=4)"]... [--csv FILE]

Needs a GPU and CuPy. Dense matrices are row-major. All are timed in replayed CUDA graphs, interleaved. cuSPARSE: the
best of CSR ALG1 to ALG3 for SpMM, preprocessed. By hand: a group of lanes a row, 16-byte loads along the dense axis,
several atoms in flight. Without --schedule, the grid below and `auto` are measured.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import statistics
from collections.abc import Callable
from typing import Any

import cupy as cp
import cupyx.scipy.sparse
import numpy as np

import evenly as ev
from evenly import kit
from evenly.bench.cusparse import INDEX, REAL, CuSparse, Integer, Long, Pointer, address
from evenly.interop import generators
from evenly.interop.families.chosen import drawn
from evenly.timing.graphs import GraphClock

ROUNDS, RUNS = 5, 5
ALGORITHMS = {"ALG1": 4, "ALG2": 6, "ALG3": 12}  # CUSPARSE_SPMM_CSR_ALG1, ...
COLUMNS, ROWS = 1, 2  # CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW

SKEWED = ("rmat", "power", "huge")
MATRICES: dict[str, Callable[[], Any]] = {
    "uniform": lambda: generators.uniform(1_000_000, 16),
    "band": lambda: generators.banded(300_000, 64),
    "stencil": lambda: generators.stencil(1024),
    "rmat": lambda: generators.rmat(18),
    "power": lambda: of_family("pareto"),
    "huge": lambda: of_family("one-huge"),
}


def of_family(lengths: str) -> Any:
    """A matrix of about 4 M nonzeros, row lengths of this family, and columns anywhere."""
    return drawn(0, lengths, "uniform", 4e6, np.random.default_rng(0)).make()


BY_HAND = r"""
template <class T> struct word;
template <> struct word<float> { using type = float4; };
template <> struct word<double> { using type = double2; };
template <int N> struct batch { static constexpr int n = N; };
template <class T, int N, int U>
__device__ void rows(const int* offsets, const int* columns, const T* values, const T* X, T* Y, int count) {
  using W = typename word<T>::type;
  constexpr int each = sizeof(W) / sizeof(T), lanes = N / each < 32 ? N / each : 32, parts = N / each / lanes;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / lanes, lane = thread % lanes;
  if (row >= count) return;
  T sum[parts * each] = {};
  const int end = offsets[row + 1];
  int k = offsets[row];
  auto take = [&](auto atoms) {
    constexpr int n = decltype(atoms)::n;
    int c[n];
    T a[n];
    W x[n][parts];
    #pragma unroll
    for (int u = 0; u < n; ++u) { c[u] = columns[k + u]; a[u] = values[k + u]; }
    #pragma unroll
    for (int u = 0; u < n; ++u)
      #pragma unroll
      for (int p = 0; p < parts; ++p) x[u][p] = __ldg((const W*)(X + (size_t)c[u] * N) + p * lanes + lane);
    #pragma unroll
    for (int u = 0; u < n; ++u)
      #pragma unroll
      for (int i = 0; i < parts * each; ++i) sum[i] += a[u] * ((const T*)x[u])[i];
  };
  for (; k + U <= end; k += U) take(batch<U>());
  for (; k < end; ++k) take(batch<1>());
  #pragma unroll
  for (int p = 0; p < parts; ++p) {
    W w;
    #pragma unroll
    for (int i = 0; i < each; ++i) ((T*)&w)[i] = sum[p * each + i];
    __stcs((W*)(Y + (size_t)row * N) + p * lanes + lane, w);
  }
}
extern "C" __global__ void NAME(const int* o, const int* c, const TYPE* a, const TYPE* X, TYPE* Y, int n) {
  rows<TYPE, COLUMNS, UNROLL>(o, c, a, X, Y, n);
}
"""


def grid(columns: int, skewed: bool) -> list[Any]:
    """The schedules to try for so many columns."""
    lanes = max(1, min(32, columns // 4))
    found: list[Any] = []
    for items in (4, 5, 6, 8):
        team = ev.GroupMapped(lanes, items=items, lanes=lanes, vector=4) if lanes > 1 else None
        found += [team] if team else []
    for size in (2, 4):
        if lanes * size <= 32:
            found.append(ev.GroupMapped(lanes * size, lanes=lanes, vector=4))
    if lanes > 2:
        found += [
            ev.GroupMapped(lanes // 2, items=items, lanes=lanes // 2, vector=8) for items in (2, 4)
        ]
    found.append(ev.GroupMapped(max(lanes, 2), 128, items=5, lanes=max(lanes, 2), vector=4))
    found.append(ev.ThreadMapped(items=4, vector=4 if columns > 8 else 8))
    if skewed:
        few = max(lanes, 2)
        for block in (256, 512, 1024):
            found.append(ev.Lrb(block, few, 1, 64, 256, vector=4))
            found.append(ev.Lrb(block, few, 1, 128, 1024, vector=4))
        found += [
            ev.DynamicChunks(16, size=32, lanes=few, vector=4),
            ev.GroupMapped(128, lanes=few, vector=4),
        ]
        found += split(columns)
    return found


def split(columns: int) -> list[Any]:
    """Schedules that split tiles among teams along the axis."""
    found: list[Any] = []
    for lanes in (n for n in (2, 4, 8, 16, 32) if 4 * n <= max(columns, 8)):
        for atoms in (64, 128, 256):
            if atoms // lanes <= 64:
                found.append(ev.MergePath(items=max(1, atoms // lanes), lanes=lanes, vector=4))
    return found


def graph(launch: Callable[[], Any]) -> Callable[[], float]:
    """A clock that replays RUNS launches twice, and gives the microseconds of one launch in the second replay."""
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        launch()
        stream.begin_capture()
        for _ in range(RUNS):
            launch()
        captured = stream.end_capture()

    def read() -> float:
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        captured.launch(stream)
        start.record(stream)
        captured.launch(stream)
        stop.record(stream)
        stop.synchronize()
        return float(cp.cuda.get_elapsed_time(start, stop)) / RUNS * 1e3

    read.launch = launch  # type: ignore[attr-defined]  # what the graph refers to lives as long
    return read


class Product:
    """cuSPARSE's SpMM (a sparse matrix, X, Y) or SDDMM (X, Z, a sparse matrix), preprocessed. A call launches it."""

    def __init__(self, name: str, algorithm: int, given: tuple[Any, ...], X: Any, Y: Any) -> None:
        self.of, self.name, self.kept = CuSparse.loaded(), name, (*given, X, Y)
        offsets, columns, values = given
        real = REAL[X.dtype.name]
        A, B, C, size = Pointer(), Pointer(), Pointer(), ctypes.c_size_t()
        kinds = [INDEX[a.dtype.name] for a in (offsets, columns)] + [0, real]
        most = X.shape[0] if name == "SpMM" else Y.shape[0]
        sizes = map(Long, (len(offsets) - 1, most, len(values)))
        made = (*sizes, *map(address, given), *map(Integer, kinds))
        self.of.call("cusparseCreateCsr", ctypes.byref(A), *made)
        turned = name == "SDDMM"  # the second operand, by columns, is Z transposed
        for handle, dense, by_columns in ((B, X, False), (C, Y, turned)):
            rows, length = dense.shape[::-1] if by_columns else dense.shape
            about = Long(rows), Long(length), Long(dense.shape[1])
            last = address(dense), Integer(real), Integer(COLUMNS if by_columns else ROWS)
            self.of.call("cusparseCreateDnMat", ctypes.byref(handle), *about, *last)
        number = ctypes.c_float if X.dtype == np.float32 else ctypes.c_double
        self.numbers = number(1), number(0)
        one, zero = map(ctypes.byref, self.numbers)
        operands = (B, C, zero, A) if turned else (A, B, zero, C)
        self.arguments: tuple[Any, ...] = (
            self.of.handle, Integer(0), Integer(0), one, *operands, Integer(real), Integer(algorithm),
        )  # fmt: skip
        self.on_stream()
        self.of.call(f"cusparse{name}_bufferSize", *self.arguments, ctypes.byref(size))
        self.work = cp.empty(max(size.value, 1), cp.uint8)
        self.arguments += (address(self.work),)
        self.of.call(f"cusparse{name}_preprocess", *self.arguments)

    def on_stream(self) -> None:
        stream = Pointer(cp.cuda.get_current_stream().ptr)
        self.of.call("cusparseSetStream", self.of.handle, stream)

    def __call__(self) -> None:
        self.on_stream()
        self.of.call(f"cusparse{self.name}", *self.arguments)


def by_hand(given: tuple[Any, ...], X: Any, Y: Any) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {}
    kind, n, rows = {"float32": "float", "float64": "double"}[X.dtype.name], X.shape[1], len(Y)
    lanes = min(32, n * X.dtype.itemsize // 16)
    for unroll in (2, 4):
        name = f"spmm_{unroll}"
        code = BY_HAND.replace("NAME", name).replace("TYPE", kind).replace("COLUMNS", str(n))
        code = code.replace("UNROLL", str(unroll))
        kernel = cp.RawModule(code=code, options=("-std=c++17",)).get_function(name)
        sizes = (-(-rows * lanes // 128),), (128,)
        arguments = (*given, X, Y, np.int32(rows))
        found[f"by hand, {unroll}"] = lambda k=kernel, s=sizes, a=arguments: k(*s, a)
    return found


def measured(name: str, matrix: Any, n: int, dtype: Any, schedules: list[Any]) -> dict[str, float]:
    given = (
        cp.asarray(matrix.indptr.astype(np.int32)),
        cp.asarray(matrix.indices.astype(np.int32)),
        cp.asarray(np.random.default_rng(0).random(matrix.nnz).astype(dtype)),
    )
    X = cp.random.default_rng(1).random((matrix.shape[1], n), dtype=dtype)
    Y, wanted = (cp.full((matrix.shape[0], n), cp.nan, dtype) for _ in range(2))
    calls: dict[str, Callable[[], Any]] = {}
    for algorithm, number in ALGORITHMS.items():
        try:
            calls[f"cuSPARSE {algorithm}"] = Product("SpMM", number, given, X, wanted)
        except RuntimeError as error:
            print(f"cuSPARSE {algorithm}: {error}")
    next(iter(calls.values()))()
    if n * X.dtype.itemsize % 16 == 0 and n * X.dtype.itemsize // 16 in (1, 2, 4, 8, 16, 32):
        calls |= by_hand(given, X, Y)
    A = ev.csr(cupyx.scipy.sparse.csr_matrix((given[2], given[1], given[0]), shape=matrix.shape))
    tolerance = 1e-4 if dtype == np.float32 else 1e-12
    for schedule in schedules:
        product = ev.linalg.spmm.plan(A, X, out=Y, schedule=schedule)
        calls[f"auto = {product.schedule}" if schedule == "auto" else str(schedule)] = product
    return compared(f"{name}, {n} columns", calls, lambda: Y, wanted, tolerance)


def measured_at_pattern(
    name: str, matrix: Any, n: int, dtype: Any, schedules: list[Any]
) -> dict[str, float]:
    """The same for SDDMM. cuSPARSE writes its result into values of its own, and reads none."""
    rng = cp.random.default_rng(1)
    offsets, columns = (cp.asarray(a.astype(np.int32)) for a in (matrix.indptr, matrix.indices))
    ones, wanted, out = (cp.ones(matrix.nnz, dtype) for _ in range(3))
    X, Z = (rng.random((rows, n), dtype=dtype) for rows in matrix.shape)
    calls: dict[str, Callable[[], Any]] = {
        "cuSPARSE": Product("SDDMM", 0, (offsets, columns, wanted), X, Z)
    }
    calls["cuSPARSE"]()
    A = ev.csr(cupyx.scipy.sparse.csr_matrix((ones, columns, offsets), shape=matrix.shape))
    for schedule in schedules:
        product = ev.linalg.sddmm.plan(A, X, Z, out=out, schedule=schedule)
        calls[f"auto = {product.schedule}" if schedule == "auto" else str(schedule)] = product
    return compared(f"{name}, {n} columns", calls, lambda: out, wanted, 1e-4)


def compared(
    what: str,
    calls: dict[str, Callable[[], Any]],
    output: Callable[[], Any],
    wanted: Any,
    tolerance: float,
) -> dict[str, float]:
    """Check every call but cuSPARSE's, and return the medians of interleaved rounds in microseconds."""
    clocks: dict[str, Callable[[], float]] = {}
    for title, call in calls.items():
        output().fill(cp.nan)
        call()
        if not title.startswith("cuSPARSE"):
            error = float(
                cp.linalg.norm(output() - wanted) / max(float(cp.linalg.norm(wanted)), 1e-30)
            )
            if not error < tolerance:
                print(f"WRONG {what} {title}: {error}")
        own = isinstance(call, kit.Planned)
        clocks[title] = GraphClock(call.plan.launches).warm if own else graph(call)
    times: dict[str, list[float]] = {title: [] for title in clocks}
    for turn in range(ROUNDS):
        order = list(clocks)
        for title in order[turn % len(order) :] + order[: turn % len(order)]:
            times[title].append(clocks[title]())
    return {title: statistics.median(each) for title, each in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--product", choices=("spmm", "sddmm"), default="spmm")
    parser.add_argument("--columns", default="8,32,128")
    parser.add_argument("--matrices", default=",".join(MATRICES))
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--schedule", action="append", default=[])
    parser.add_argument("--csv")
    parser.add_argument("--most", type=int, default=100, help="how many of the fastest to print")
    given = parser.parse_args()
    dtype = np.dtype(given.dtype).type
    print(cp.cuda.runtime.getDeviceProperties(0)["name"].decode(), given.dtype)
    rows: list[tuple[Any, ...]] = []
    for name in given.matrices.split(","):
        matrix = MATRICES[name]()
        for n in map(int, given.columns.split(",")):
            asked = [s if s == "auto" else eval(s, {"ev": ev}) for s in given.schedule]
            if given.product == "sddmm":
                found = measured_at_pattern(name, matrix, n, dtype, asked or ["auto"])
            else:
                found = measured(
                    name, matrix, n, dtype, asked or [*grid(n, name in SKEWED), "auto"]
                )
            best = min((us for t, us in found.items() if t.startswith("cuSPARSE")), default=0.0)
            print(f"{name}, {n} columns; cuSPARSE {best:.1f} us", flush=True)
            for title, us in sorted(found.items(), key=lambda x: x[1])[: given.most]:
                print(f"  {us:9.1f}  {best / us:5.2f}  {title}", flush=True)
                rows.append((name, n, given.dtype, title, f"{us:.2f}"))
    if given.csv:
        with open(given.csv, "w", newline="") as file:
            csv.writer(file).writerows(
                [("matrix", "columns", "dtype", "what", "microseconds"), *rows]
            )


if __name__ == "__main__":
    main()
