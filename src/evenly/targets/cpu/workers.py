"""Run a compiled function as several workers, on several threads.

A worker is a share of the work. There are more workers than threads, and a thread that has finished one takes
the next. That helps since even shares may take different times (in an R-MAT matrix half of the atoms are in a
few long tiles, which are faster), and since some cores may be busy. The result of a worker does not depend on the
thread that runs it, so the bits are always the same.

`pool` is what the threads run. They are started when they are first needed, as many as Numba's setting can ever
allow, and again in a process that was forked; `numba.set_num_threads` is respected. They know nothing of Python, as
those of OpenMP. (A pool of Python threads took 75 microseconds a call, and waits for the interpreter's lock while other
Python threads run.) Where there are no POSIX threads, the caller's thread runs all workers.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import threading
from typing import Any

import numpy as np

from evenly.interop.arrays import address

_pool: int | None = None  # its address; None: its helpers were not started in this process
_starting = threading.Lock()


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


def run_workers(function: int, workers: int, slots: int, queues: int) -> None:
    """Run the native function at this address as each of the workers, and wait for all. Runs in steps use this."""
    driver().drive(pool(), min(workers, thread_count()), workers, function, slots, queues)


def pool() -> int:
    """Return the address of this process's pool, with its helpers started; 0: there are none."""
    global _pool
    if _pool is None:
        with _starting:
            if _pool is None:
                _pool = _started()
    return _pool


def _started() -> int:
    from .pool import CALLED, HELPERS, LEFT, LINE, MUTEX, POSIX, SIZE, help_always

    if not POSIX:
        return 0
    helpers = most_threads() - 1
    memory = _for_ever(np.zeros(SIZE + LINE, np.int64))
    words = -(-address(memory) // (8 * LINE)) * 8 * LINE
    _initialise(words + 8 * MUTEX, words + 8 * CALLED, words + 8 * LEFT)
    given = _for_ever(np.array([(words, helper + 1) for helper in range(helpers)], np.int64))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        started = sum(_start(help_always.address, address(own)) for own in given)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    memory[(words - address(memory)) // 8 + HELPERS] = started
    return words


def _initialise(mutex: int, *conditions: int) -> None:
    library = ctypes.CDLL(None)
    library.pthread_mutex_init(ctypes.c_void_p(mutex), None)
    for condition in conditions:
        library.pthread_cond_init(ctypes.c_void_p(condition), None)


def _start(function: int, argument: int) -> bool:
    """Start a thread that runs a native function. Return whether the system has had one more."""
    library, thread = ctypes.CDLL(None), ctypes.c_void_p()
    run = ctypes.c_void_p(function), ctypes.c_void_p(argument)
    if library.pthread_create(ctypes.byref(thread), None, *run) != 0:
        return False
    library.pthread_detach(thread)
    return True


def _for_ever(array: np.ndarray) -> np.ndarray:
    """Keep an array until the process ends: threads use it that nobody stops."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
    return array


def _in_a_child() -> None:
    global _pool, _starting
    _pool, _starting = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_child)
