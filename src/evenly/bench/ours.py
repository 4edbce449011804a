"""Our own side: what `auto` takes by its rule, and every schedule with a grid of parameters, the oracle's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from evenly.algorithms.linalg.spmv import spmv, spmv_rows
from evenly.choosing.auto import choose
from evenly.choosing.candidates import candidates
from evenly.choosing.task import product_of
from evenly.runtime.plan import Plan

from .contender import AUTO, CALL, ONE_CALL, OURS, Contender, LeftOut, prepared


def contenders(A: Any, x: Any, y: Any, target: str, clock: str) -> Iterator[Contender | LeftOut]:
    """All of ours, on the arrays of a place."""

    def by_rule() -> Contender:
        # What tune() has measured here before would be another contender.
        rule = choose(A, target, product_of(A))
        plan = spmv_rows[rule].on(target).plan_as_auto(A, x, y)
        return Contender("auto", AUTO, clock, often(plan, A, x, y, clock), str(rule))

    def by_name(schedule: Any) -> Contender:
        plan = spmv_rows[schedule].on(target).plan(A, x, y)
        return Contender(str(schedule), OURS, clock, often(plan, A, x, y, clock), str(schedule))

    yield prepared("auto", by_rule)
    for schedule in candidates(target):
        yield prepared(str(schedule), partial(by_name, schedule))
    yield Contender("ev.spmv", ONE_CALL, CALL, partial(spmv, A, x, y))


def often(plan: Plan, A: Any, x: Any, y: Any, clock: str) -> Callable[[], Any]:
    """What a program runs that multiplies often: where calls are timed, a bound one."""
    run = plan.bind(A, x, y) if clock == CALL else partial(plan, A, x, y)

    def launch() -> Any:
        run()
        return y

    return launch
