"""Native code that is compiled once for all programs: it divides the work, and runs workers in parallel.

It knows a program's function only by its address. `phase` runs a whole phase in one native call. If Python ran the
steps of a phase, most of a call that takes a few microseconds would be spent between them.
"""

from __future__ import annotations

import numba
from llvmlite import ir as llvm
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from .calls import (
    ADDRESS,
    CAPACITY_LANES,
    CAPACITY_WORKERS,
    CONDITION_AT,
    COUNT,
    FACTS_AT,
    FIRST,
    JOINS,
    MORE,
    OVER,
    PER_PHASE,
    QUEUES_AT,
    RULE,
    SHARES_AT,
    SLOTS,
)
from .division import RULES, SHARE
from .facts import ATOMS, END, FACTS, LANES, SIZE, TILES
from .kept import kept_callback, kept_function
from .pointers import call, flag, integers
from .pool import drive

SMALL = 40_000  # with fewer tiles and atoms, one worker is faster than waking other threads
WORTH = 8192  # the least tiles and atoms of a worker, if there are more workers than threads
EACH = 8  # the most workers per thread
numba.get_num_threads()  # starts Numba's part, in which native code finds the setting
MERGE, TILES_ONLY, OWN = RULES["merge"], RULES["tiles"], RULES["own"]


@intrinsic
def _admitted_threads(typing_context):
    """Return how many threads Numba's setting allows. `numba.get_num_threads` itself cannot be cached on disk."""

    def generate(context, builder, signature, arguments):
        i64 = llvm.IntType(64)
        ask = get_or_insert_function(builder.module, llvm.FunctionType(i64, []), "get_num_threads")
        return builder.call(ask, [])

    return types.int64(), generate


@kept_function("int64(int64, int64)", nogil=True)
def worker_count(size, threads):
    """Return how many workers share `size` tiles and atoms. It depends only on that and on `threads`."""
    if size < SMALL or threads == 1:
        return 1
    return threads * min(EACH, max(1, size // (threads * WORTH)))


@kept_function("UniTuple(int64, 2)(int64, int64, int64, int64, int64, int64, int64)", nogil=True)
def _cut(address, slots, rule, tiles, atoms, worker, workers):
    """Return the (tile, atom) where the share of `worker` starts."""
    if worker == 0:
        return 0, 0
    if worker == workers:
        return tiles, atoms
    if rule == TILES_ONLY:
        return tiles * worker // workers, 0
    total = tiles + atoms if rule == MERGE else atoms
    cut = total * worker // workers
    low, high = 0, tiles
    while low < high:  # find the number of tiles that end before the cut
        middle = (low + high) // 2
        end = call(address, END, middle, slots)
        if end + middle < cut if rule == MERGE else end <= cut:
            low = middle + 1
        else:
            high = middle
    return low, cut - low if rule == MERGE else cut


@kept_function("void(int64, int64, int64, int64, int64, int64, int64)", nogil=True)
def divide(address, slots, rule, tiles, atoms, workers, shares_at):
    """Compute the share of each worker (see `division`)."""
    shares = integers(shares_at)
    if rule == OWN:
        return
    for worker in range(workers):
        tile, atom = _cut(address, slots, rule, tiles, atoms, worker, workers)
        last_tile, last_atom = _cut(address, slots, rule, tiles, atoms, worker + 1, workers)
        begin = call(address, END, tile - 1, slots) if 0 < tile < tiles else 0
        last_begin = call(address, END, last_tile - 1, slots) if 0 < last_tile < tiles else 0
        some_of_last = last_tile < tiles and last_atom > max(last_begin, atom)
        at = SHARE * worker
        shares[at] = tile
        shares[at + 1] = atom
        shares[at + 2] = last_tile + 1 if some_of_last else last_tile
        shares[at + 3] = last_atom
        shares[at + 4] = tile + 1 if begin < atom and tile < tiles else tile
        shares[at + 5] = last_tile


@kept_function("int64(int64, int64)", nogil=True)
def run_phase(record, pool):
    """Run a whole phase, with a number of workers that depends on Numba's setting. pool: its address, as for `drive`.

    Return 1. If the scratch memory is too small for the partial results of all workers and lanes, do nothing and return
    0.
    """
    given = integers(record)
    address, slots, facts = given[ADDRESS], given[SLOTS], integers(given[FACTS_AT])
    call(address, FACTS, 0, slots)
    admitted = _admitted_threads()
    workers = worker_count(facts[SIZE], admitted)
    if facts[LANES] > given[CAPACITY_LANES] or workers > given[CAPACITY_WORKERS]:
        return 0
    divide(address, slots, given[RULE], facts[TILES], facts[ATOMS], workers, given[SHARES_AT])
    drive(pool, min(admitted, workers), workers, address, slots, given[QUEUES_AT])
    if given[JOINS]:
        call(address, workers, workers, slots)
    return 1


@kept_callback("int64(int64, int64)")
def phase(record, pool):
    return run_phase(record, pool)


@kept_callback("int64(int64, int64, int64, int64)")
def rounds(loop, slots, pool, most):
    """Run up to `most` rounds of a loop without loops in it. Return OVER or MORE, or the number of a round's phase.

    That one has too little memory for the partial results of all workers. It has not run, and those before it have.
    """
    given = integers(loop)
    count = given[COUNT]
    for _ in range(most):
        if flag(given[CONDITION_AT])[0] == 0:
            return OVER
        for i in range(count):
            address = given[FIRST + PER_PHASE * i + 1]
            if given[FIRST + PER_PHASE * i]:
                call(address, 0, 1, slots)
            elif run_phase(address, pool) == 0:
                return i
    return MORE
