"""Calls of kernels that push: they report that there was no room, and end when Ctrl-C is pressed.

Whoever waits for such a call also hears of outputs without room. Calls that push nothing do not wait.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from evenly.arguments import Binding
from evenly.errors import EvenlyError, InputError
from evenly.interop import arrays
from evenly.language import ir
from evenly.language.members import growing

Run = Callable[[], None]


def watched(run: Run, binding: Binding, outputs: Iterable[ir.Path], waits: bool = True) -> Run:
    """Return `run` with what a call does for frontiers and task sets that may overflow, to which `outputs` belong.

    waits: whether it waits for the device, and checks them. The result keeps none of them alive.
    """
    changed = dict.fromkeys(path[:-1] for path in outputs if len(path) > 1)
    layouts: list[tuple[str, Any]] = [(".".join(p), binding.layout(p)) for p in changed]
    may = [(n, weakref.ref(f)) for n, f in layouts if growing(type(f)) and f.may_overflow]
    if not may:
        return run
    appended = [(n, weakref.ref(f)) for n, f in layouts if getattr(type(f), "appends", False)]
    return Watched(run, may + appended) if waits else Launched(run, may)


class Launched:
    """Runs. On a GPU it only launches: whoever looks at a task set waits, and looks whether it has overflowed."""

    def __init__(self, run: Run, frontiers: list[tuple[str, Any]]) -> None:
        self.run, self.frontiers = run, frontiers

    def __call__(self) -> None:
        tasks, work = self.task_sets(), getattr(self.run, "work", None)
        with stopped(work, tasks):
            self.run()
        waits = work is not None and not self.captured
        wait = functools.partial(_finish, work, self.frontiers) if waits else None
        for name, reference in self.frontiers:
            if getattr(each := reference(), "tasks", False):
                each.launched(name, wait)

    def task_sets(self) -> list[Any]:
        return _task_sets(self.frontiers)

    @property
    def captured(self) -> bool:
        return getattr(self.run, "captured", False)


class Watched(Launched):
    """Runs, and raises InputError if a frontier, tasks or an output overflowed. On a GPU that waits for the device.

    While a graph is captured nothing can be waited for, and its launches would overflow unseen. So this is refused.
    """

    def __call__(self) -> None:
        tasks, work = self.task_sets(), getattr(self.run, "work", None)
        if self.captured:
            raise InputError(
                "tasks" if tasks else "frontier",
                expected="one that always has room, in a call that is captured into a CUDA graph",
                given="one that may overflow",
                hint="wait=False captures the call; after a launch, T.check() looks"
                if tasks
                else "ev.frontier(G, unique=True)",
            )
        with stopped(work, tasks):
            self.run()
            if tasks and work is not None:
                work.finish()
        for name, reference in self.frontiers:
            if (frontier := reference()) is not None:
                frontier.check(name)


def _task_sets(frontiers: list[tuple[str, Any]]) -> list[Any]:
    found = (reference() for _, reference in frontiers)
    return [f for f in found if getattr(f, "tasks", False)]


def _finish(work: Any, frontiers: list[tuple[str, Any]]) -> None:
    """Wait for a call that has been launched."""
    with stopped(work, _task_sets(frontiers)):
        work.finish()


@contextmanager
def stopped(work: Any, tasks: list[Any]) -> Iterator[None]:
    """Where Ctrl-C, or another signal, ends what is inside: end the call between two tasks, and forget those left.

    work: what it has launched on a GPU; None: nothing.
    """
    try:
        yield
    except EvenlyError:
        raise
    except BaseException:
        try:
            if tasks and work is not None:
                work.stop([arrays.view(each.pushed).pointer for each in tasks])
        finally:  # also if Ctrl-C is pressed again
            for each in tasks:
                each.forget()
        raise
