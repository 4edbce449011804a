"""Measure candidates within a budget: a look at each, the promising ones first, then a race of those that may win."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenly.choosing.candidates import kind_of
from evenly.errors import one_line
from evenly.schedules import Schedule
from evenly.targets import compilations
from evenly.targets.compilations import NotCompiledError
from evenly.targets.contract import Copies
from evenly.timing.race import TIE, race
from evenly.timing.rounds import Clock

from .locality import Renumbering, renumbered

if TYPE_CHECKING:
    from evenly.runtime.plan import Plan

Spread = tuple[float, float]

# A candidate that is this many times slower than the fastest is not measured again, if that takes long.
HOPELESS = 3.0
LONG = 0.01  # the share of `seconds` that counts as long
FEW = 10  # readings, if there is time: on a busy machine any three may be disturbed
READING = 2000.0  # microseconds: about the least that one measurement takes
LATE = "no time was left (seconds=)"
UNCOMPILED = "it is not compiled, and so many others were (compilations=)"


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate: its schedule, and how to make a plan of it to be measured."""

    schedule: Schedule
    made: Callable[[], Plan]


class Trials:
    """Makes the plans to be measured, on copies of the outputs. planned: makes one for a schedule and arguments."""

    def __init__(
        self, planned: Callable[[Schedule, Iterable[object]], Plan], copies: Copies
    ) -> None:
        self.planned, self.copies = planned, copies

    def plain(self, schedule: Schedule) -> Trial:
        """Return a plan under a schedule."""
        return Trial(schedule, lambda: self.planned(schedule, self.copies.arguments.values()))

    def renumbered(self, schedule: Schedule, numbering: Renumbering) -> Trial:
        """Return the same plan with renumbered columns."""
        plain = self.plain(schedule)
        return Trial(schedule, lambda: renumbered(plain.made(), numbering))


class Budget:
    """What measuring may take: seconds from now on, and how many candidates may be compiled (None: all).

    enough: once so many are looked at, none is compiled any more.

    The time in which code was compiled, or loaded where that takes long, is not counted.
    """

    def __init__(self, seconds: float, most: int | None = None, enough: float = math.inf) -> None:
        self.seconds, self.left = seconds, math.inf if most is None else most
        self.enough = enough
        self.start = time.monotonic()
        self.looks: list[float] = []  # seconds of each that compiled nothing, and had a time

    @property
    def deadline(self) -> float:
        """Until when a reading may begin. Then clocks are let go, and the winner's plan is made: about three looks."""
        return self.start + self.seconds - READING * 1e-6 - 3 * min(self.looks, default=0.0)

    @property
    def half_over(self) -> bool:
        return time.monotonic() > self.start + self.seconds / 2

    @contextlib.contextmanager
    def trying(self, known: int) -> Iterator[None]:
        """A context in which one candidate is compiled, if need be and if there may be another, and looked at.

        known: how many were looked at.
        """
        start = time.monotonic()
        with compilations.watched(allowed=self.left > 0 and known < self.enough) as watch:
            looked = False
            try:
                yield
                looked = True
            finally:
                took = time.monotonic() - start
                self.left -= bool(watch.count)
                if watch.count or watch.loaded:
                    self.start += took
                elif looked:
                    self.looks.append(took)


def measured(
    trials: Trials, tried: Mapping[str, Trial], budget: Budget, left_out: dict[str, str]
) -> tuple[dict[str, float], dict[str, Spread]]:
    """Measure each candidate. Returns microseconds by name, the fastest first, and their spreads.

    Candidates without a time go to left_out, with the reason. Half of the time is for a first look at each, the rest
    for a race of those that may win.
    """
    clocks, estimates = looked_at(trials, tried, budget, left_out)
    # A measurement is a warm-up run, and one or more that are timed.
    round_of_all = sum(READING + 2 * clock.estimate for clock in clocks.values()) * 1e-6
    few = min(FEW, int(budget.seconds / 2 / round_of_all)) if clocks else 0
    samples = race(clocks, budget.deadline, few)
    times = {**estimates, **{name: sample.median for name, sample in samples.items()}}
    spreads = {name: (us, us) for name, us in estimates.items()}
    spreads |= {name: sample.spread for name, sample in samples.items()}
    return dict(sorted(times.items(), key=lambda item: item[1])), spreads


def looked_at(
    trials: Trials, tried: Mapping[str, Trial], budget: Budget, left_out: dict[str, str]
) -> tuple[dict[str, Clock], dict[str, float]]:
    """Return the clocks of the candidates that may win, and first estimates of all that run.

    After half of the time, no further candidate is begun.
    """
    clocks: dict[str, Clock] = {}
    estimates: dict[str, float] = {}
    waiting, kinds = dict(tried), {name: kind_of(trial.schedule) for name, trial in tried.items()}
    while waiting:
        name = most_promising(waiting, kinds, estimates)
        trial = waiting.pop(name)
        if clocks and budget.half_over:
            left_out[name] = LATE
            continue
        try:
            with budget.trying(len(estimates)):
                clock = trials.copies.clock(trial.made())
        except NotCompiledError:
            left_out[name] = UNCOMPILED
            continue
        except Exception as error:  # any error of a compiler or device rules out one candidate only
            left_out[name] = one_line(f"{type(error).__name__}: {error}")
            continue
        estimates[name] = clock.estimate
        behind = clock.estimate > HOPELESS * min(estimates.values())
        if not (behind and clock.estimate * 1e-6 > LONG * budget.seconds):
            clocks[name] = clock
    return clocks, estimates


def most_promising(
    waiting: Iterable[str], kinds: Mapping[str, str], estimates: Mapping[str, float]
) -> str:
    """Return which candidate to look at next. kinds: of all candidates.

    That is the first, as long as the kinds of schedules come first that were not looked at yet; then the first of the
    kind that is in the lead.
    """
    leads: dict[str, float] = {}
    for name, us in estimates.items():
        kind = kinds[name]
        leads[kind] = min(us, leads.get(kind, math.inf))
    first = next(iter(waiting))
    if kinds[first] not in leads:
        return first
    return min(waiting, key=lambda name: leads.get(kinds[name], math.inf))


def taken(times: Mapping[str, float], order: Iterable[str]) -> str:
    """Return the fastest, or the first in order that is within TIE of it, so that noise does not change the choice."""
    least = min(times.values())
    return next(name for name in order if times.get(name, math.inf) <= TIE * least)


def doubt(choice: str, times: Mapping[str, float], spreads: Mapping[str, Spread]) -> str:
    """Name a candidate that looked slower than the choice, but perhaps only because of noise; "" if there is none."""
    for name, us in times.items():
        slower = us > TIE * times[choice]
        if slower and spreads[name][0] <= spreads[choice][1]:
            (low, high), (first, last) = spreads[choice], spreads[name]
            told = f"its {low:.2f} to {high:.2f} us and the {first:.2f} to {last:.2f} of {name}"
            return f"noise may have made the choice: {told} overlap"
    return ""
