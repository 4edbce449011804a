"""Running a compiled function as several workers, on several threads.

A worker is a share of the work, and there are more of them than threads: a thread takes
the next when it has done one, since an even share is not always even in time (on an R-MAT
matrix half of the atoms lie in few long tiles, which go quicker), nor are the cores equally
free. What a worker computes does not depend on the thread that runs it, so the bits are
the same. And where Numba's threads must not be used, one thread runs all workers: in a
process that was forked after OpenMP's threads were started, and beside another call where
Numba's layer does not admit two at once.

The driver, a small function with Numba's `prange`, is compiled once for all kernels and calls
them by address. So kernels need not be compiled as parallel ones (0.57 s each, measured),
`numba.set_num_threads` is honoured, and a parallel call costs about 2 microseconds where
both cores are free; a pool of Python threads took 75, and waits for the interpreter's lock where other threads run.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

from .calls import ALL, ALONE

# The threads that a phase may use in this process, ALL or ALONE; None until Numba's are started, and for ever where
# they take one call at a time.
_threads: int | None = None
_started = False  # Numba's threads, in this process or in one that it was forked from
_one_at_a_time = threading.Lock()


@functools.cache
def driver() -> Any:
    """The compiled driver (see there)."""
    from . import driver as compiled

    return compiled


def thread_count() -> int:
    """How many threads Numba's setting admits."""
    count: int = driver().numba.get_num_threads()
    return count


def most_threads() -> int:
    """How many there can be, whatever Numba's setting will be."""
    count: int = driver().numba.config.NUMBA_NUM_THREADS
    return count


def run_workers(
    function: Callable[..., int], address: int, workers: int, slots: int, queues: int
) -> None:
    """Run `function` (a native one, at `address`) as each of the workers, and wait for all: for runs in steps."""
    count = min(workers, thread_count())

    def run(threads: int) -> None:
        if threads == ALL and count > 1:
            driver().drive(count, workers, address, slots, queues)
            return
        for worker in range(workers):
            function(worker, workers, slots)

    with_threads(run)


def with_threads(run: Callable[[int], Any]) -> Any:
    """run(the threads that it may use: ALL or ALONE)."""
    global _started, _threads
    if _threads is not None:
        return run(_threads)
    _started = True
    if _concurrent():
        _threads = ALL
        return run(ALL)
    if not _one_at_a_time.acquire(blocking=False):
        return run(ALONE)
    try:
        return run(ALL)
    finally:
        _one_at_a_time.release()


def _in_a_child() -> None:
    """After a fork: OpenMP ends a process that uses threads that another one started."""
    global _threads
    if _started:
        _threads = ALONE


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_child)


@functools.cache
def _concurrent() -> bool:
    with _one_at_a_time:
        return bool(driver().concurrent())
