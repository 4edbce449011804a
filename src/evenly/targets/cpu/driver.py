"""What is compiled once for all programs: dividing the work, and running the workers in parallel.

Both know a program's function by its address alone.
"""

from __future__ import annotations

import numba
from llvmlite import ir as llvm
from numba import njit, prange, types
from numba.extending import intrinsic

from .layout import END


@intrinsic
def _call(typing_context, address, worker, workers, slots):
    def generate(context, builder, signature, arguments):
        i64 = llvm.IntType(64)
        kind = llvm.FunctionType(i64, [i64, i64, i64])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def _take(typing_context, counter):
    """The next number of a counter that threads share (its address)."""

    def generate(context, builder, signature, arguments):
        i64 = llvm.IntType(64)
        place = builder.inttoptr(arguments[0], i64.as_pointer())
        return builder.atomic_rmw("add", place, i64(1), "monotonic")

    return types.int64(types.int64), generate


@njit("void(int64, int64, int64, int64, int64)", parallel=True, nogil=True, cache=True)
def drive(threads, workers, address, slots, counter):
    for _ in prange(threads):
        worker = _take(counter)
        while worker < workers:
            _call(address, worker, workers, slots)
            worker = _take(counter)


def concurrent() -> bool:
    """Whether several threads may call `drive` at once. Numba chooses its layer when first run."""
    drive(0, 0, 0, 0, 0)
    return numba.threading_layer() in ("omp", "tbb")


@njit("UniTuple(int64, 2)(int64, int64, int64, int64, int64, int64, int64)", nogil=True, cache=True)
def _cut(address, slots, rule, tiles, atoms, worker, workers):
    """The (tile, atom) where the share of `worker` starts."""
    if worker == 0:
        return 0, 0
    if worker == workers:
        return tiles, atoms
    if rule == 2:
        return tiles * worker // workers, 0
    total = tiles + atoms if rule == 0 else atoms
    cut = total * worker // workers
    low, high = 0, tiles
    while low < high:  # how many tiles end before the cut
        middle = (low + high) // 2
        end = _call(address, END, middle, slots)
        if end + middle < cut if rule == 0 else end <= cut:
            low = middle + 1
        else:
            high = middle
    return low, cut - low if rule == 0 else cut


@njit("void(int64, int64, int64, int64, int64, int64, int64[:, ::1])", nogil=True, cache=True)
def divide(address, slots, rule, tiles, atoms, workers, shares):
    """The share of each worker (see `division`)."""
    for worker in range(workers):
        tile, atom = _cut(address, slots, rule, tiles, atoms, worker, workers)
        last_tile, last_atom = _cut(address, slots, rule, tiles, atoms, worker + 1, workers)
        begin = _call(address, END, tile - 1, slots) if 0 < tile < tiles else 0
        last_begin = _call(address, END, last_tile - 1, slots) if 0 < last_tile < tiles else 0
        some_of_last = last_tile < tiles and last_atom > max(last_begin, atom)
        shares[worker, 0] = tile
        shares[worker, 1] = atom
        shares[worker, 2] = last_tile + 1 if some_of_last else last_tile
        shares[worker, 3] = last_atom
        shares[worker, 4] = tile + 1 if begin < atom and tile < tiles else tile
        shares[worker, 5] = last_tile
