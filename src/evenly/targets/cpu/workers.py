"""Running a compiled function on several workers.

One small driver with Numba's `prange`, compiled once and for all, calls any function by
its address. So kernels need not be compiled as parallel ones (0.57 s each, measured),
`numba.set_num_threads` is honoured, and a parallel call costs about 2 microseconds; a pool
of Python threads took 75, and waits for the interpreter's lock where other threads run.

What a worker computes does not depend on the thread that runs it. So where Numba's threads
must not be used, one thread runs all workers in sequence, and the bits are the same: in
a process that was forked after OpenMP's threads were started, and beside another call
where Numba's layer does not admit two at once.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

# Below this many tiles and atoms one worker is quicker than waking others.
SMALL = 16384

_one_at_a_time = threading.Lock()
_started_in: int | None = None  # the process that started Numba's threads


def worker_count(size: int) -> int:
    """How many workers share `size` tiles and atoms, as far as Numba's setting admits."""
    import numba

    return 1 if size < SMALL else numba.get_num_threads()


def divide(
    address: int, slots: int, rule: int, tiles: int, atoms: int, workers: int, shares: Any
) -> None:
    """The shares of several workers (see `division`) in the work of the function at `address`."""
    from . import driver

    driver.divide(address, slots, rule, tiles, atoms, workers, shares)


def run_workers(function: Callable[..., int], address: int, workers: int, slots: int) -> None:
    """Run `function` (a native one, at `address`) as each of the workers, and wait for all."""
    if workers > 1 and _parallel(address, workers, slots):
        return
    for worker in range(workers):
        function(worker, workers, slots)


def _parallel(address: int, workers: int, slots: int) -> bool:
    """Whether Numba's threads could run it, and did."""
    global _started_in
    if _started_in not in (None, os.getpid()):
        return False
    driver, concurrent = _driver()
    if concurrent:
        _started_in = os.getpid()
        driver(workers, address, slots)
        return True
    if not _one_at_a_time.acquire(blocking=False):
        return False
    try:
        _started_in = os.getpid()
        driver(workers, address, slots)
    finally:
        _one_at_a_time.release()
    return True


@functools.cache
def _driver() -> tuple[Any, bool]:
    """The compiled driver, and whether Numba's threading layer takes calls from several threads."""
    from . import driver

    with _one_at_a_time:
        return driver.drive, driver.concurrent()
