"""How near is `auto` to a kernel that only reads? The floor of the bench by experiment, for the ten matrices.

    python benchmarks/bound.py

The kernel reads columns, values and x as a CSR matrix has them, row by row, adds up what each thread has, and reads
the offsets and writes y as if rows were of no consequence: no SpMV does less. It is tried in several shapes, of which
the fastest is shown beside `auto`, in microseconds. Needs a GPU and CuPy.
"""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import cuda.core as core
import cupy as cp
import numpy as np
import scipy.sparse

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.bench.matrices import sources
from evenly.timing.graphs import GraphClock

SOURCE = r"""
template <class T, int ITEMS, int BLOCK> __global__ void __launch_bounds__(BLOCK) only_reads(
    const int* __restrict__ columns, const T* __restrict__ values, const T* __restrict__ x, int nonzeros,
    const int* __restrict__ offsets, int rows, T* __restrict__ y) {
  const long long first = (long long)blockIdx.x * BLOCK * ITEMS + threadIdx.x;
  T sum = 0;
  if (first - threadIdx.x + BLOCK * ITEMS <= nonzeros) {
    int column[ITEMS];
    T value[ITEMS];
    #pragma unroll
    for (int i = 0; i < ITEMS; ++i) column[i] = __ldcs(columns + first + i * BLOCK);
    #pragma unroll
    for (int i = 0; i < ITEMS; ++i) value[i] = __ldcs(values + first + i * BLOCK);
    #pragma unroll
    for (int i = 0; i < ITEMS; ++i) sum += value[i] * x[column[i]];
  } else {
    for (int i = 0; i < ITEMS; ++i)
      if (first + i * BLOCK < nonzeros) sum += values[first + i * BLOCK] * x[columns[first + i * BLOCK]];
  }
  const long long from = (long long)rows * blockIdx.x / gridDim.x, to = (long long)rows * (blockIdx.x + 1) / gridDim.x;
  for (long long row = from + threadIdx.x; row < to; row += BLOCK) __stcs(y + row, (T)__ldcs(offsets + row) + sum);
  if (from == to && sum == (T)-12345) y[0] = sum;
}
"""
SHAPES = [*itertools.product((2, 4, 8, 16), (128, 256)), (3, 128), (3, 256), (4, 512)]
TYPES = {"float32": "float", "float64": "double"}
ROUNDS = 5


def kernels() -> dict[tuple[str, int, int], Any]:
    """By type, items and block."""
    core.Device().set_current()
    cc = core.Device().compute_capability
    shapes = list(itertools.product(TYPES, SHAPES))
    names = [f"only_reads<{TYPES[t]},{items},{block}>" for t, (items, block) in shapes]
    options = core.ProgramOptions(arch=f"sm_{cc.major}{cc.minor}", std="c++17")
    made = core.Program(SOURCE, "c++", options).compile("cubin", name_expressions=names)
    return {
        (t, *shape): made.get_kernel(name) for (t, shape), name in zip(shapes, names, strict=True)
    }


def launch(kernel: Any, shape: tuple[int, int], arrays: tuple[Any, ...], x: Any, y: Any) -> Any:
    """What a GraphClock takes. arrays: values, columns and offsets."""
    (items, block), (values, columns, offsets) = shape, arrays
    grid = -(-values.size // (items * block))
    counted = values.size, offsets, y.size, y
    given = (columns, values, x, *counted)
    return SimpleNamespace(
        kernel=kernel,
        config=core.LaunchConfig(grid=(grid, 1, 1), block=(block, 1, 1)),
        arguments=tuple(np.int32(a) if isinstance(a, int) else a.data.ptr for a in given),
    )


def main() -> None:
    made = kernels()
    for source in sources(None):
        matrix = scipy.sparse.csr_array(source.make())
        for dtype in TYPES:
            host = matrix.data.astype(dtype), matrix.indices, matrix.indptr
            arrays = tuple(cp.asarray(a) for a in host)
            A = ev.csr(arrays, shape=matrix.shape)
            y, x = (cp.ones(n, dtype) for n in matrix.shape)
            plan = spmv_rows.plan(A, x, y)
            clocks = {"auto": GraphClock(plan.launches)}
            for shape in SHAPES:
                clocks[str(shape)] = GraphClock([launch(made[dtype, *shape], shape, arrays, x, y)])
            least = dict.fromkeys(clocks, math.inf)
            for _ in range(ROUNDS):
                for name, clock in clocks.items():
                    least[name] = min(least[name], clock.warm())
            auto = least.pop("auto")
            bound = min(least.values())
            told = f"auto {auto:8.2f} us, only reads {bound:8.2f} us, {bound / auto:5.0%}"
            print(f"{source.name:16} {dtype} {told}  {plan.schedule}", flush=True)


if __name__ == "__main__":
    main()
