"""Our own side: what `auto` takes by its rule, and every schedule with a grid of parameters, the oracle's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from evenly.algorithms.linalg.spmv import spmv, spmv_rows
from evenly.tuning.auto import choose
from evenly.tuning.candidates import candidates
from evenly.tuning.task import product_of

from .contender import AUTO, CALL, ONE_CALL, OURS, Contender, LeftOut, prepared


def contenders(A: Any, x: Any, y: Any, target: str, clock: str) -> Iterator[Contender | LeftOut]:
    """All of ours, on the arrays of a place."""

    def by_rule() -> Contender:
        # What tune() has measured here before would be another contender.
        rule = choose(A, target, product_of(A))
        return planned("auto", AUTO, rule, A, x, y, target, clock)

    yield prepared("auto", by_rule)
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
