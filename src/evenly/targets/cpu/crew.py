"""A crew: workers that hand each other tasks, in native code. `tasks` emits what calls it, and `run` starts it.

Each worker runs the newest tasks of a stack that nobody else touches. One that has none puts a wish into its box. The
next worker that has two or more takes the wish, and moves half of its tasks, the oldest, to the other's stack. So a
task costs no atomic operation, but where somebody waits. Where a worker waits and nobody has tasks, it leaves. It does
not wait for those that have not begun, unless they have tasks from an earlier call.

Fixture crew.cu of the tests of target `simt` has the same in C++, explored under weak memory.

Source: work stealing with private deques, initiated by the one that has tasks: Acar, Chargueraud, Rainey, "Scheduling
Parallel Programs by Work Stealing with Private Deques" (PPoPP 2013).

`crew` points to words of 64 bits: the numbers below, then OWN of them for each worker. Those that change are each in a
line of memory of its own.
"""

from __future__ import annotations

from numba import njit, types

from .crew_words import (
    ABSENT,
    ATTENTION,
    BOTTOM,
    BOX,
    BUSY,
    CHUNK,
    FULL,
    GOT,
    HELD,
    IDLE,
    IN_VAIN,
    LASTS,
    MOST,
    OWN,
    PAUSED,
    RAN,
    START,
    TAKEN,
    THERE,
)
from .kept import kept_function
from .words import WORDS, add, give_way, load, now, replaced, set_bits, store

NOTHING, WANTS, CLAIMED = 0, -1, -2  # in a box; or how many tasks have come
SPINS = 100  # looks at a box before others get the processor
LATE = 2000  # looks after that, after which those that are absent are not waited for
# Where T.pool has what workers count (device/taker.cuh).
POOL_RAN, POOL_GOT, POOL_VAIN, POOL_HELD = 64, 96, 128, 144
POOL_MOST, POOL_LEAST, POOL_WORKERS, POOL_BY_TASKS = 160, 176, 192, 208
POOL_OF_ROUND, POOL_THERE, POOL_IDLE = 253, 254, 255
LEAST_BASE = 1 << 40


@kept_function(types.int64(), nogil=True)
def crew_now():
    """Return a time in nanoseconds."""
    return now()


# ---- what emitted code calls ---------------------------------------------------------------------
@njit
def crew_attention(crew):
    """Return 0 if nothing is to be done between two tasks; else the bits PAUSED, FULL, or how many workers wait."""
    return load(crew, ATTENTION)


@njit
def crew_begins(crew, worker):
    crew[START + OWN * worker + THERE] -= crew_now()
    add(crew, BUSY, 1)
    if crew[START + OWN * worker + HELD] > 0:
        add(crew, ABSENT, -1)


@njit
def crew_pauses(crew):
    set_bits(crew, ATTENTION, PAUSED)


@njit
def crew_is_full(crew):
    """Say that the list of the next round has no room, so that tasks are only kept."""
    set_bits(crew, ATTENTION, FULL)


@njit
def crew_first(crew, waiting):
    """Take the next CHUNK of the tasks that wait in the list. Return the first one; `waiting`: none are left."""
    if load(crew, TAKEN) >= waiting:
        return waiting
    return add(crew, TAKEN, crew[CHUNK])


@kept_function(types.int64(WORDS, types.int64), nogil=True)
def crew_waits(crew, worker):
    """Wait for tasks. Return how many are in the stack, from its beginning; 0: the worker has to leave."""
    own = START + OWN * worker
    crew[own + IN_VAIN] += 1
    store(crew, own + BOX, WANTS)
    add(crew, ATTENTION, 1)
    add(crew, BUSY, -1)
    looks, began = 0, crew_now()
    while True:
        found = load(crew, own + BOX)
        if found > 0:
            store(crew, own + BOX, NOTHING)
            crew[own + GOT] += found
            crew[own + IDLE] += crew_now() - began
            return found
        # The list is empty. So once nobody is absent, and nobody has tasks, nobody ever will: looked at in this order.
        all_here = load(crew, ABSENT) == 0 or looks >= SPINS + LATE
        nobody = all_here and load(crew, BUSY) == 0
        ends = nobody or load(crew, ATTENTION) >= PAUSED
        if ends and replaced(crew, own + BOX, WANTS, NOTHING):
            add(crew, ATTENTION, -1)
            crew[own + IDLE] += crew_now() - began
            return 0
        looks += 1
        if looks > SPINS:
            give_way()


@kept_function(types.int64(WORDS, types.int64, types.int64), nogil=True)
def crew_claims(crew, worker, workers):
    """Return a worker that waits, for which this one now has to put tasks into its stack; -1: none does."""
    for i in range(1, workers):
        other = (worker + i) % workers
        box = START + OWN * other + BOX
        if load(crew, box) == WANTS and replaced(crew, box, WANTS, CLAIMED):
            add(crew, BUSY, 1)
            add(crew, ATTENTION, -1)
            return other
    return -1


@njit
def crew_sends(crew, other, count):
    store(crew, START + OWN * other + BOX, count)


@njit
def crew_leaves(crew, worker, held, bottom, ran, most):
    """Note what a worker has at the end of a call."""
    own = START + OWN * worker
    crew[own + THERE] += crew_now()
    crew[own + HELD] = held
    crew[own + BOTTOM] = bottom
    crew[own + RAN] += ran
    crew[own + MOST] = max(crew[own + MOST], most)


@kept_function(types.void(WORDS, types.int64, WORDS), nogil=True)
def crew_counts(crew, workers, pool):
    """Add to T.pool what the workers have done."""
    pool[POOL_OF_ROUND] = max(pool[POOL_OF_ROUND], workers)
    for worker in range(workers):
        own = START + OWN * worker
        ran = crew[own + RAN]
        pool[POOL_RAN] += ran
        pool[POOL_GOT] += crew[own + GOT]
        pool[POOL_VAIN] += crew[own + IN_VAIN]
        pool[POOL_THERE] += crew[own + THERE]
        pool[POOL_IDLE] += crew[own + IDLE]
        pool[POOL_HELD] = max(pool[POOL_HELD], crew[own + MOST])
        pool[POOL_MOST] = max(pool[POOL_MOST], ran)
        pool[POOL_LEAST] = max(pool[POOL_LEAST], LEAST_BASE - ran)
        pool[POOL_WORKERS] += 1
        length = 0
        while ran >> length > 0:
            length += 1
        pool[POOL_BY_TASKS + length] += 1


@njit
def crew_until(crew):
    """Return when this call of the workers ends."""
    return crew_now() + crew[LASTS]


@njit
def crew_chunk(crew):
    return crew[CHUNK]
