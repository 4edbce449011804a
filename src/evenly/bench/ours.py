"""evenly's contenders: the choice of `auto`, and every schedule with a grid of parameters, to compare it with."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from evenly import targets
from evenly.algorithms.linalg.spmv import spmv, spmv_rows
from evenly.choosing.auto import choose
from evenly.choosing.candidates import candidates, promising
from evenly.choosing.statistics import statistics
from evenly.choosing.task import product_of
from evenly.runtime.plan import Plan

from .contender import AUTO, CALL, ONE_CALL, OURS, Contender, LeftOut, prepared

OUT_OF_TIME = "out of time"


def contenders(
    A: Any, x: Any, y: Any, target: str, clock: str, brief: bool = False, end: float = math.inf
) -> Iterator[Contender | LeftOut]:
    """Yield all of evenly's contenders, on the arrays of a place, and schedules last.

    brief: without the schedules that cannot be the fastest. end: of time.monotonic(); no schedule is made after it.
    """
    yield prepared("auto", partial(by_rule, A, x, y, target, clock))
    yield Contender("ev.spmv", ONE_CALL, CALL, partial(spmv, A, x, y))
    every = candidates(target)
    if brief and targets.find(target).gpu:
        every = tuple(schedule for schedule in every if promising(schedule, statistics(A)))
    yield from under(every, A, x, y, target, clock, end)


def under(
    schedules: Iterable[Any], A: Any, x: Any, y: Any, target: str, clock: str, end: float = math.inf
) -> Iterator[Contender | LeftOut]:
    """Yield a contender for each schedule, with its name. end: of time.monotonic(); none is made after it."""

    def by_name(schedule: Any) -> Contender:
        plan = spmv_rows[schedule].on(target).plan(A, x, y)
        return Contender(str(schedule), OURS, clock, often(plan, A, x, y, clock), str(schedule))

    for schedule in schedules:
        if time.monotonic() > end:
            yield LeftOut(str(schedule), OUT_OF_TIME)
        else:
            yield prepared(str(schedule), partial(by_name, schedule))


def by_rule(A: Any, x: Any, y: Any, target: str, clock: str) -> Contender:
    """Return the schedule that `auto` chooses for the rows of A."""
    # A winner that tune() has measured here before would not be the choice of `auto`.
    rule = choose(A, target, product_of(A))
    plan = spmv_rows[rule].on(target).plan_as_auto(A, x, y)
    return Contender("auto", AUTO, clock, often(plan, A, x, y, clock), str(rule))


def often(plan: Plan, A: Any, x: Any, y: Any, clock: str) -> Callable[[], Any]:
    """Return what a program would run that multiplies often: a bound call if calls are timed, else the plan."""
    run = plan.bind(A, x, y) if clock == CALL else partial(plan, A, x, y)

    def launch() -> Any:
        run()
        return y

    return launch
