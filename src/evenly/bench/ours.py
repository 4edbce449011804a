"""Our own side: what `auto` takes by its rule, and every schedule with a grid of parameters, the oracle's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from evenly.algorithms.linalg.spmv import spmv, spmv_rows
from evenly.runtime.plan import Plan
from evenly.tuning.auto import choose
from evenly.tuning.candidates import candidates
from evenly.tuning.task import product_of

from .contender import AUTO, CALL, ONE_CALL, OURS, Contender, LeftOut, prepared


def contenders(A: Any, x: Any, y: Any, target: str, clock: str) -> Iterator[Contender | LeftOut]:
    """All of ours, on the arrays of a place."""

    def by_rule() -> Contender:
        # What tune() has measured here before would be another contender.
        rule = choose(A, target, product_of(A))
        plan = spmv_rows[rule].on(target).plan_as_auto(A, x, y)
        return Contender("auto", AUTO, clock, partial(run, plan, A, x, y), str(rule))

    def by_name(schedule: Any) -> Contender:
        plan = spmv_rows[schedule].on(target).plan(A, x, y)
        return Contender(str(schedule), OURS, clock, partial(run, plan, A, x, y), str(schedule))

    yield prepared("auto", by_rule)
    for schedule in candidates(target):
        yield prepared(str(schedule), partial(by_name, schedule))
    yield Contender("ev.spmv", ONE_CALL, CALL, partial(spmv, A, x, y))


def run(plan: Plan, A: Any, x: Any, y: Any) -> Any:
    plan(A, x, y)
    return y
