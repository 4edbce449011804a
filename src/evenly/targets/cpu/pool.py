"""The threads of target `cpu`, in native code: helpers, which enter the calls of other threads.

A call opens a door, runs workers itself, closes the door when none is left, and waits for the helpers that are
inside. A helper that comes later finds it closed. So a call never waits for a thread that has not begun, which takes
milliseconds where others use the processor. (OpenMP's threads all have to arrive before a parallel region ends.)

Several calls may be open at once, each with a door of its own; one that finds no free door runs its workers alone. A
helper without work looks for open doors, and lets other threads of the machine run between two looks. After some time
it sleeps, until a call wakes it.

Fixture pool.cu of the tests of target `simt` has the doors in C++, explored under weak memory.

`pool` points to words of 64 bits: how many calls have been opened, and how many helpers the last one takes; how many
helpers sleep, and how many there are; a mutex and two conditions; then LINE words for each door. Of these the first
says whether it is taken, and waited at, how many helpers are inside, and how many more may enter: none, if it is
closed. The others are the call's.
"""

from __future__ import annotations

import os

from llvmlite import ir as llvm
from numba import njit, types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from .calls import QUEUE
from .kept import kept_callback, kept_function
from .pointers import call, integers, take
from .words import WORDS, add, give_way, keep_bits, load, now, replaced, set_bits, store

POSIX = os.name == "posix"  # whether there are its threads
LINE = 16  # words: two lines of memory, since processors fetch them in pairs
OPENED, ASLEEP, MUTEX, CALLED, LEFT = (LINE * i for i in range(5))
HELPERS, TAKES = ASLEEP + 1, OPENED + 1
FIRST, DOORS = LINE * 5, 8
SIZE = FIRST + LINE * DOORS
FREE, TAKEN, WAITED_AT = 0, 1 << 40, 1 << 41
PLACE, INSIDE, PLACES = 1 << 20, (1 << 20) - 1, ((1 << 20) - 1) << 20
THREADS, WORKERS, ADDRESS, SLOTS, QUEUES = range(1, 6)  # of a call
AWAKE = 500_000  # nanoseconds for which a helper looks for a call before it sleeps
PATIENT = 50_000  # nanoseconds for which a call looks whether they have left before it sleeps


def _of_posix(name: str, words: tuple[int, ...]):
    """Return a call of the C library with the addresses of these words of the pool.

    Elsewhere it does nothing: there is no pool, but code that names a function which does not exist ends the process.
    """

    @intrinsic
    def function(typing_context, pool):
        def generate(context, builder, signature, arguments):
            i32, i64 = llvm.IntType(32), llvm.IntType(64)
            if not POSIX:
                return i32(0)
            kind = llvm.FunctionType(i32, [i64.as_pointer()] * len(words))
            given = [builder.gep(arguments[0], [i64(at)]) for at in words]
            return builder.call(get_or_insert_function(builder.module, kind, name), given)

        return types.int32(WORDS), generate

    return function


lock, unlock = (_of_posix(f"pthread_mutex_{name}", (MUTEX,)) for name in ("lock", "unlock"))
wake_one = _of_posix("pthread_cond_signal", (CALLED,))
wait_for_call = _of_posix("pthread_cond_wait", (CALLED, MUTEX))
wake_all = _of_posix("pthread_cond_broadcast", (LEFT,))
wait_until_left = _of_posix("pthread_cond_wait", (LEFT, MUTEX))


@kept_function("void(int64, int64, int64, int64, int64, int64)", nogil=True)
def run_workers(thread, threads, workers, address, slots, queues_at):
    """Run workers until none is left. A thread takes them from its own queue, then from those of other threads.

    So the data that it used in the last call is often still in its core's cache.
    """
    for i in range(threads):
        queue = (thread + i) % threads
        last = workers * (queue + 1) // threads
        worker = workers * queue // threads + take(queues_at + 8 * QUEUE * queue)
        while worker < last:
            call(address, worker, workers, slots)
            worker = workers * queue // threads + take(queues_at + 8 * QUEUE * queue)


# ---- calls ---------------------------------------------------------------------------------------
@njit
def pool_takes(pool):
    """Take a door. Return where it is; -1: none is free."""
    for i in range(DOORS):
        door = FIRST + LINE * i
        if load(pool, door) == FREE and replaced(pool, door, FREE, TAKEN):
            return door
    return -1


@njit
def pool_opens(pool, door, places):
    """Open a door for so many helpers, and wake those that are needed."""
    store(pool, door, TAKEN + PLACE * places)
    store(pool, TAKES, places)
    add(pool, OPENED, 1)
    asleep = add(pool, ASLEEP, 0)  # a helper counts itself before it looks for the last time
    needed = pool_needs(pool, asleep) if asleep > 0 else 0
    if needed > 0:
        lock(pool)
        for _ in range(needed):
            wake_one(pool)
        unlock(pool)


@njit
def pool_needs(pool, asleep):
    """Return how many helpers to wake, so that all calls together have as many as they take.

    A call that woke others each time would soon keep all of them awake, where `numba.set_num_threads` allows a few.
    """
    wanted = 0
    for i in range(DOORS):
        seen = load(pool, FIRST + LINE * i)
        wanted += (seen & INSIDE) + (seen & PLACES) // PLACE
    awake = pool[HELPERS] - asleep
    return min(asleep, max(wanted - awake, 0))


@kept_function(types.void(WORDS, types.int64), nogil=True)
def pool_closes(pool, door):
    """Close a door, wait for the helpers that are inside, and free the door."""
    keep_bits(pool, door, ~PLACES)
    began = now()
    while load(pool, door) & INSIDE != 0:
        if now() - began < PATIENT:
            give_way()
            continue
        lock(pool)
        set_bits(pool, door, WAITED_AT)
        while load(pool, door) & INSIDE != 0:
            wait_until_left(pool)
        unlock(pool)
    store(pool, door, FREE)


@kept_function("void(int64, int64, int64, int64, int64, int64)", nogil=True)
def drive(pool_at, threads, workers, address, slots, queues_at):
    """Run all workers, on up to so many threads. pool_at: the address of the pool; 0: there are no helpers."""
    queues = integers(queues_at)
    for thread in range(threads):
        queues[QUEUE * thread] = 0
    pool = integers(pool_at)
    door = pool_takes(pool) if pool_at != 0 and threads > 1 else -1
    if door < 0:
        run_workers(0, threads, workers, address, slots, queues_at)
        return
    pool[door + THREADS], pool[door + WORKERS] = threads, workers
    pool[door + ADDRESS], pool[door + SLOTS], pool[door + QUEUES] = address, slots, queues_at
    pool_opens(pool, door, threads - 1)
    run_workers(0, threads, workers, address, slots, queues_at)
    pool_closes(pool, door)


# ---- helpers -------------------------------------------------------------------------------------
@njit
def pool_enters(pool, door):
    """Enter, if there is a place."""
    seen = load(pool, door)
    while seen & PLACES != 0:
        if replaced(pool, door, seen, seen - PLACE + 1):
            return True
        seen = load(pool, door)
    return False


@njit
def pool_leaves(pool, door):
    seen = add(pool, door, -1)
    if seen & WAITED_AT != 0 and seen & INSIDE == 1:
        lock(pool)
        wake_all(pool)
        unlock(pool)


@njit
def pool_helps(pool, helper):
    """Enter whatever door is open. Return whether there was any."""
    any_open = False
    for i in range(DOORS):
        door = FIRST + LINE * i
        if pool_enters(pool, door):
            threads, workers = pool[door + THREADS], pool[door + WORKERS]
            address, slots, queues = pool[door + ADDRESS], pool[door + SLOTS], pool[door + QUEUES]
            run_workers(helper % threads, threads, workers, address, slots, queues)
            pool_leaves(pool, door)
            any_open = True
    return any_open


@njit
def pool_awake_from(pool, found):
    """Return from when on a helper looks for a call. found: when it last found a place.

    If more are awake than the last call takes, the time since then counts, however many calls have come: else a stream
    of calls that take few would keep all awake.
    """
    return found if pool[HELPERS] - load(pool, ASLEEP) > load(pool, TAKES) else now()


@kept_function(types.void(WORDS, types.int64, types.int64), nogil=True)
def pool_awaits(pool, opened, found):
    """Return when another call has been opened than there were. found: when the helper last found a place."""
    began = pool_awake_from(pool, found)
    while load(pool, OPENED) == opened:
        if now() - began < AWAKE:
            give_way()
            continue
        lock(pool)
        add(pool, ASLEEP, 1)
        while add(pool, OPENED, 0) == opened:
            wait_for_call(pool)
        add(pool, ASLEEP, -1)
        unlock(pool)


@kept_callback("int64(int64)")
def help_always(own):
    """What a helper's thread runs. own: the address of two integers: the pool's address, and the helper's number."""
    pool, helper = integers(integers(own)[0]), integers(own)[1]
    found = now()
    while True:
        opened = load(pool, OPENED)
        if pool_helps(pool, helper):
            found = now()
        else:
            pool_awaits(pool, opened, found)
    return 0
