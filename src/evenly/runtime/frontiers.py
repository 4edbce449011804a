"""Report pushes for which a frontier had no room, after the call that made them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.language import ir
from evenly.language.members import growing


def watched(
    run: Callable[[], None], binding: Binding, outputs: Iterable[ir.Path]
) -> Callable[[], None]:
    """Return `run`, followed by a check of each frontier that `outputs` belong to, if it may overflow.

    The result keeps no frontier alive.
    """
    changed = dict.fromkeys(path[:-1] for path in outputs if len(path) > 1)
    layouts: list[tuple[str, Any]] = [(".".join(p), binding.layout(p)) for p in changed]
    may = [(n, weakref.ref(f)) for n, f in layouts if growing(type(f)) and f.may_overflow]
    return Watched(run, may) if may else run


class Watched:
    """Runs, and raises InputError if a frontier overflowed. On a GPU that waits for the device.

    While a graph is captured nothing can be waited for, and its launches would overflow unseen. So this is refused.
    """

    def __init__(self, run: Callable[[], None], frontiers: list[tuple[str, Any]]) -> None:
        self.run, self.frontiers = run, frontiers

    def __call__(self) -> None:
        if getattr(self.run, "captured", False):
            tasks = any(getattr(reference(), "tasks", False) for _, reference in self.frontiers)
            raise InputError(
                "tasks" if tasks else "frontier",
                expected="one that always has room, in a call that is captured into a CUDA graph",
                given="one that may overflow",
                hint="" if tasks else "ev.frontier(G, unique=True)",
            )
        self.run()
        for name, reference in self.frontiers:
            if (frontier := reference()) is not None:
                frontier.check(name)
