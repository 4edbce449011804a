"""Our own side: what `auto` takes, and every schedule with a grid of parameters, the oracle's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from evenly import schedules as s
from evenly.algorithms.linalg.spmv import spmv, spmv_rows

from .contender import AUTO, CALL, ONE_CALL, OURS, Contender, LeftOut, prepared

# Parameters on a GPU, beside those that a schedule has by itself.
GRID: tuple[Any, ...] = (
    s.ThreadMapped(128),
    *(s.GroupMapped(n) for n in (2, 4, 8, 16)),
    s.GroupMapped(8, flatten=True),
    s.GroupMapped(64),
    s.MergePath(128, 4),
    s.MergePath(128, 7),
    s.MergePath(128, 9),
    s.MergePath(256, 5),
    s.MergePath(256, 7),
    s.MergePath(512, 4),
    s.NonzeroSplit(128, 7),
    s.NonzeroSplit(256, 7),
    s.NonzeroSplit(512, 4),
)


def candidates(target: str) -> tuple[Any, ...]:
    """Every schedule that is tried, once each. Blocks and items are a GPU's: a CPU has no grid."""
    own = [entry.make() for entry in s.TABLE.values()]
    return tuple(dict.fromkeys([*own, *(GRID if target == "cuda" else ())]))


def contenders(A: Any, x: Any, y: Any, target: str, clock: str) -> Iterator[Contender | LeftOut]:
    """All of ours, on the arrays of a place."""
    yield prepared("auto", lambda: planned("auto", AUTO, "auto", A, x, y, target, clock))
    for schedule in candidates(target):
        make = partial(planned, str(schedule), OURS, schedule, A, x, y, target, clock)
        yield prepared(str(schedule), make)
    yield Contender("ev.spmv", ONE_CALL, CALL, partial(spmv, A, x, y))


def planned(
    name: str, family: str, schedule: Any, A: Any, x: Any, y: Any, target: str, clock: str
) -> Contender:
    """A plan as a contender."""
    plan = spmv_rows[schedule].on(target).plan(A, x, y)

    def launch() -> Any:
        plan(A, x, y)
        return y

    return Contender(name, family, clock, launch, str(plan.schedule))
