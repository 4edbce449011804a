"""Processes that compile. They touch no GPU."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Mapped = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@contextlib.contextmanager
def workers() -> Iterator[Mapped]:
    """A context with a function as `map`, whose results come in order, from one process for each core."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent alone
    try:
        # Not forked: a child of a process that uses a GPU, or threads, may hang.
        pool = multiprocessing.get_context("spawn").Pool(os.cpu_count())
    finally:
        signal.signal(signal.SIGINT, handler)
    with pool:
        yield pool.imap
