"""Processes that compile and predict. They touch no GPU."""

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
    # Not forked: a child of a process that uses a GPU, or threads, may hang.
    with multiprocessing.get_context("spawn").Pool(os.cpu_count(), _alone) as pool:
        yield pool.imap


def _alone() -> None:
    """Leave Ctrl-C to the parent, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
