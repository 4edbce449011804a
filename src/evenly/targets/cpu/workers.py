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

import ctypes
import functools
import os
import threading
from collections.abc import Callable
from typing import Any

SMALL = 16384  # with fewer tiles and atoms one worker is quicker than waking other threads
SHARE = 8192  # tiles and atoms of a worker, at least ...
EACH = 8  # ... where there are more workers than threads: so many a thread, at most

_one_at_a_time = threading.Lock()
_started_in: int | None = None  # the process that started Numba's threads


def thread_count() -> int:
    """How many threads Numba's setting admits."""
    import numba

    return numba.get_num_threads()


def worker_count(size: int) -> int:
    """How many workers share `size` tiles and atoms: it depends on Numba's setting, not on luck."""
    if size < SMALL:
        return 1
    threads = thread_count()
    return threads * min(EACH, max(1, size // (threads * SHARE))) if threads > 1 else 1


def divide(
    address: int, slots: int, rule: int, tiles: int, atoms: int, workers: int, shares: Any
) -> None:
    """The shares of several workers (see `division`) in the work of the function at `address`."""
    from . import driver

    driver.divide(address, slots, rule, tiles, atoms, workers, shares)


def run_workers(function: Callable[..., int], address: int, workers: int, slots: int) -> None:
    """Run `function` (a native one, at `address`) as each of the workers, and wait for all."""
    threads = min(workers, thread_count()) if workers > 1 else 1
    if threads > 1 and _parallel(threads, workers, address, slots):
        return
    for worker in range(workers):
        function(worker, workers, slots)


def _parallel(threads: int, workers: int, address: int, slots: int) -> bool:
    """Whether Numba's threads could run it, and did."""
    if _started_in not in (None, os.getpid()):
        return False
    driver, concurrent = _driver()
    if concurrent:
        _drive(driver, threads, workers, address, slots)
        return True
    if not _one_at_a_time.acquire(blocking=False):
        return False
    try:
        _drive(driver, threads, workers, address, slots)
    finally:
        _one_at_a_time.release()
    return True


def _drive(driver: Any, threads: int, workers: int, address: int, slots: int) -> None:
    global _started_in
    _started_in = os.getpid()
    counter = ctypes.c_int64(0)
    driver(threads, workers, address, slots, ctypes.addressof(counter))


@functools.cache
def _driver() -> tuple[Any, bool]:
    """The compiled driver, and whether Numba's threading layer takes calls from several threads."""
    from . import driver

    with _one_at_a_time:
        return driver.drive, driver.concurrent()
