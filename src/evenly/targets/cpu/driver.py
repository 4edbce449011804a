"""The parallel driver: calls a native function by its address, once a worker."""
from __future__ import annotations

import numba
from llvmlite import ir as llvm
from numba import njit, prange, types
from numba.extending import intrinsic


@intrinsic
def _call(typing_context, address, worker, workers, slots):
    def generate(context, builder, signature, arguments):
        i64 = llvm.IntType(64)
        kind = llvm.FunctionType(i64, [i64, i64, i64])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


@njit("void(int64, int64, int64)", parallel=True, nogil=True, cache=True)
def drive(workers, address, slots):
    for worker in prange(workers):
        _call(address, worker, workers, slots)


def concurrent() -> bool:
    """Whether several threads may call `drive` at once. Numba chooses its layer when it first runs."""
    drive(0, 0, 0)
    return numba.threading_layer() in ("omp", "tbb")
