"""Notice when a compiler runs, and forbid it: `plan.tune(compilations=)` bounds how many candidates are compiled.

What this process has compiled, or finds in the cache on disk, needs no compiler.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from evenly.errors import EvenlyError


class NotCompiledError(EvenlyError):
    """Something is not compiled yet, where no compiler may run."""


@dataclass(slots=True)
class Watch:
    """Whether compilers may run, how often they have, and whether code was loaded from disk, which may take long."""

    allowed: bool
    count: int = 0
    loaded: bool = False


_watch: ContextVar[Watch | None] = ContextVar("evenly_compilations", default=None)


@contextlib.contextmanager
def watched(allowed: bool = True) -> Iterator[Watch]:
    """A context that counts how often compilers run in it, in this thread. allowed: whether they may."""
    watch = Watch(allowed)
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


def load() -> None:
    """Note that code was loaded, in a way that takes long."""
    if (watch := _watch.get()) is not None:
        watch.loaded = True


def begin() -> None:
    """Note that a compiler is about to run. Raises NotCompiledError where it may not."""
    watch = _watch.get()
    if watch is None:
        return
    if not watch.allowed:
        raise NotCompiledError("not compiled")
    watch.count += 1
