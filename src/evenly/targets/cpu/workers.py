"""Run a compiled function as several workers, on several threads.

A worker is a share of the work. There are more workers than threads, and a thread that has finished one takes
the next. That helps since even shares may take different times (in an R-MAT matrix half of the atoms are in a
few long tiles, which are faster), and since some cores may be busy. The result of a worker does not depend on the
thread that runs it, so the bits are always the same. One thread runs all workers where Numba's threads must not be
used: in a process that was forked after OpenMP's threads were started, and during another call if Numba's
threading layer does not allow two at once.

The driver, a small function with Numba's `prange`, is compiled once for all kernels, and calls them by address. So
kernels need not be compiled as parallel functions (which takes 0.57 s each, measured), and
`numba.set_num_threads` is respected. A parallel call costs about 2 microseconds if both cores are free. A pool of
Python threads took 75, and waits for the interpreter's lock while other Python threads run.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

from .calls import ALL, ALONE

# The threads that a phase may use in this process, ALL or ALONE. It is None until Numba's threads are started, and
# stays None if they can only run one call at a time.
_threads: int | None = None
# Whether Numba's threads were started, in this process or in one that it was forked from.
_started = False
_one_at_a_time = threading.Lock()


@functools.cache
def driver() -> Any:
    """Return the module `driver`, whose functions are compiled when it is imported."""
    from . import driver as compiled

    return compiled


def thread_count() -> int:
    """Return how many threads Numba's setting allows."""
    count: int = driver().numba.get_num_threads()
    return count


def most_threads() -> int:
    """Return the most threads that Numba's setting can ever allow."""
    count: int = driver().numba.config.NUMBA_NUM_THREADS
    return count


def usable_threads() -> int:
    """Return how many threads a call may use now."""
    count: int = with_threads(lambda threads: thread_count() if threads == ALL else 1)
    return count


def run_workers(
    function: Callable[..., int], address: int, workers: int, slots: int, queues: int
) -> None:
    """Run `function` (a native one, at `address`) as each of the workers, and wait for all. Runs in steps use this."""
    count = min(workers, thread_count())

    def run(threads: int) -> None:
        if threads == ALL and count > 1:
            driver().drive(count, workers, address, slots, queues)
            return
        for worker in range(workers):
            function(worker, workers, slots)

    with_threads(run)


def with_threads(run: Callable[[int], Any]) -> Any:
    """Call `run` with the threads that it may use: ALL or ALONE."""
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
    """After a fork, use only one thread: OpenMP ends a process that uses threads that another process started."""
    global _threads
    if _started:
        _threads = ALONE


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_child)


@functools.cache
def _concurrent() -> bool:
    with _one_at_a_time:
        return bool(driver().concurrent())
