"""`plan.tune()`: measure candidates on a plan's own arguments, and remember the fastest.

The trials share nothing with the plan: copies take the place of its outputs, and the kernel is compiled
separately, with its own scratch memory. So the plan may be called meanwhile.
"""

from __future__ import annotations

import datetime
import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from evenly import targets
from evenly.arguments import Binding
from evenly.choosing.auto import choose
from evenly.choosing.candidates import can_run, several
from evenly.choosing.candidates import candidates as all_candidates
from evenly.choosing.statistics import forget
from evenly.choosing.task import task_of
from evenly.errors import InputError, one_line
from evenly.language import ir, walk
from evenly.language.members import growing
from evenly.layouts.contract import is_layout
from evenly.schedules import Schedule
from evenly.schedules.nested import misfit
from evenly.targets.contract import Copies
from evenly.timing.busy import busy_machine
from evenly.timing.rounds import Clock, measure

from . import key, winners
from .locality import Renumbering, renumbered, renumbering
from .tuned import RENUMBERED, Tuning
from .winner import Winner, can_be_kept

if TYPE_CHECKING:
    from evenly.runtime.plan import Plan

    Trial = Callable[[], Plan]

Spread = tuple[float, float]

# A candidate that is this many times slower than the fastest is not measured again, if that takes long.
HOPELESS = 3.0
LONG = 0.01  # the share of `seconds` that counts as long
NEAR = 1.5  # times the fastest: slower candidates are dropped after a few rounds
FEW = 10  # rounds, if there is time: on a busy machine any three may be disturbed
READING = 2000.0  # microseconds: about the least that one measurement takes
TIE = 1.02  # times the fastest: within this, noise decides which is faster
ROUNDS = 30
NEAREST = 4  # how many of the fastest are also tried with renumbered columns
WHOLE = "the kernel needs schedules that own whole tiles"
LATE = "no time was left (seconds=)"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a plan has chosen. outputs: the names of the arguments that it writes.

    trial: makes a plan for a schedule and arguments, of a kernel that is compiled separately.
    """

    program: ir.Program
    binding: Binding
    outputs: list[str]
    schedule: Schedule
    target: str
    debug: bool
    trial: Callable[[Any, Iterable[Any]], Plan]


def tune(
    plan: Subject, candidates: Any, seconds: float | None, save: bool, locality: bool = False
) -> tuple[Tuning, Renumbering | None]:
    """Return the measurements of `Plan.tune`, and the renumbering if it is faster. Remember the winner if `save`."""
    check(plan, seconds)
    forget(plan.binding.arguments.values())
    numbering = renumbering(plan.program, plan.outputs, plan.binding) if locality else None
    tried = schedules(plan, candidates)
    left_out = {str(s): _why(s, plan.program) for s in tried if not can_run(s, plan.program)}
    able = {str(s): s for s in tried if str(s) not in left_out}
    restored = reads_what_it_writes(plan.program, plan.outputs)
    target = targets.get(plan.target)
    copies = target.copies(plan.binding, plan.outputs, restored)
    seconds = seconds or target.seconds
    trials = Trials(plan, copies)
    busy = busy_machine() if target.place == "cpu" else ""
    if busy:
        warnings.warn(busy, RuntimeWarning, stacklevel=3)  # the caller of plan.tune()
    plain = {name: trials.plain(s) for name, s in able.items()}
    times, spreads = measured(trials, plain, seconds, left_out)
    if not times:
        given = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise InputError("candidates", expected="a schedule that runs the kernel", given=given)
    about = key.key_of(plan.program, plan.binding, plan.target)
    choice = taken(times, able)
    won = Winner(about, able[choice], times, now())
    noise = "" if able[choice] == ruled(plan) else doubt(choice, times, spreads)
    kept = winners.keep([won]) if save and not noise and can_be_kept(won.schedule) else ""
    found = replace(won.tuning(kept, left_out), noise=noise)
    return nearer(trials, able, found, numbering, seconds) if numbering else (found, None)


class Trials:
    """Makes the plans to be measured, of a kernel of their own."""

    def __init__(self, plan: Subject, copies: Copies) -> None:
        self.made, self.copies = plan.trial, copies

    def plain(self, schedule: Schedule) -> Trial:
        """Return a function that makes a plan under a schedule."""
        return lambda: self.made(schedule, self.copies.arguments.values())

    def renumbered(self, schedule: Schedule, numbering: Renumbering) -> Trial:
        """Return a function that makes the same plan with renumbered columns."""
        return lambda: renumbered(self.plain(schedule)(), numbering)


def nearer(
    trials: Trials,
    able: Mapping[str, Any],
    found: Tuning,
    numbering: Renumbering,
    seconds: float,
) -> tuple[Tuning, Renumbering | None]:
    """Measure the fastest few with renumbered columns beside the fastest as it is, and return the winner."""
    tried = {found.choice: trials.plain(found.schedule)}
    few = {name + RENUMBERED: able[name] for name in [*found.times][:NEAREST]}
    tried |= {name: trials.renumbered(schedule, numbering) for name, schedule in few.items()}
    left_out = dict(found.left_out)
    times, _ = measured(trials, tried, seconds / 2, left_out)
    won = taken(times, tried)
    all_times = dict(sorted({**found.times, **times}.items(), key=lambda item: item[1]))
    found = replace(
        found,
        schedule=few.get(won, found.schedule),
        times=all_times,
        left_out=left_out,
        locality=won in few,
    )
    return found, numbering if found.locality else None


def check(plan: Subject, seconds: float | None) -> None:
    """Raise InputError for a plan that cannot be measured meaningfully, and if there is no time."""
    if not targets.get(plan.target).clock:
        raise InputError(
            "plan.tune",
            expected="a plan on target 'cuda' or 'cpu', whose times mean something",
            given=f"one on {plan.target!r}",
            hint='kernel.plan(..., target="cpu").tune()',
        )
    given = plan.binding.arguments
    appended = [n for n in plan.outputs if is_layout(given[n]) and not growing(type(given[n]))]
    if appended:
        expected = "a kernel that changes arrays alone, since copies take their place"
        raise InputError(
            "plan.tune", expected=expected, given=f"one that appends to the output {appended[0]}"
        )
    if plan.debug:
        expected = "a plan without debug=True, whose times mean something"
        raise InputError("plan.tune", expected=expected, given="one with it")
    if seconds is not None and not (
        isinstance(seconds, Real) and seconds is not True and 0 < seconds < math.inf
    ):
        raise InputError("seconds", expected="a positive number", given=repr(seconds))


def _why(schedule: Schedule, program: ir.Program) -> str:
    """Say why a program cannot run under a schedule."""
    error = misfit(schedule, program)
    return WHOLE if error is None else f"expected {error.expected}"


def reads_what_it_writes(program: ir.Program, outputs: Iterable[str]) -> bool:
    """Whether what a run stores into arguments of these names may change what the next run does."""
    written = frozenset(outputs)
    blocks = [step.body for step in program.pieces]
    updated = any(isinstance(s, ir.Atomic) for block in blocks for s in walk.statements(block))
    return updated or any(
        isinstance(e, ir.Element) and e.array.path[0] in written
        for block in blocks
        for e in walk.expressions(block)
    )


def schedules(plan: Subject, given: Any) -> list[Schedule]:
    """Return the schedules to try, each once. Default: the plan's own, the choice of `auto`, all built-in ones.

    Raises InputError for names that are not schedules, and if there are none.
    """
    if given is None:
        items = task_of(plan.program).items
        return list(
            dict.fromkeys([plan.schedule, ruled(plan), *all_candidates(plan.target, items)])
        )
    made = list(dict.fromkeys(several(given)))
    if not made:
        raise InputError("candidates", expected="at least one schedule", given="none")
    return made


def ruled(plan: Subject) -> Any:
    """Return what `auto` chooses by its rule, without remembered winners."""
    return choose(plan.binding.first_layout(), plan.target, task_of(plan.program))


def doubt(choice: str, times: Mapping[str, float], spreads: Mapping[str, Spread]) -> str:
    """Name a candidate that looked slower than the choice, but perhaps only because of noise; "" if there is none."""
    for name, us in times.items():
        slower = us > TIE * times[choice]
        if slower and spreads[name][0] <= spreads[choice][1]:
            (low, high), (first, last) = spreads[choice], spreads[name]
            told = f"its {low:.2f} to {high:.2f} us and the {first:.2f} to {last:.2f} of {name}"
            return f"noise may have made the choice: {told} overlap"
    return ""


def taken(times: Mapping[str, float], order: Iterable[str]) -> str:
    """Return the fastest, or the first in order that is within TIE of it, so that noise does not change the choice."""
    least = min(times.values())
    return next(name for name in order if times.get(name, math.inf) <= TIE * least)


def measured(
    trials: Trials,
    tried: Mapping[str, Trial],
    seconds: float,
    left_out: dict[str, str],
) -> tuple[dict[str, float], dict[str, Spread]]:
    """Measure each candidate. Returns microseconds by name, the fastest first, and their spreads.

    Candidates without a time go to left_out, with the reason. Half of the time is for a first look at each, the rest
    for rounds of those that may win.
    """
    clocks, estimates = looked_at(trials, tried, seconds, left_out)
    # A measurement is a warm-up run, and one or more that are timed.
    round_of_all = sum(READING + 2 * clock.estimate for clock in clocks.values()) * 1e-6
    few = max(1, min(FEW, int(seconds / 2 / round_of_all))) if clocks else 0
    deadline = time.monotonic() + seconds / 2
    samples = measure(clocks, deadline=deadline, fewest=few, slow=NEAR, rounds=ROUNDS)
    times = {**estimates, **{name: sample.median for (name, _), sample in samples.items()}}
    spreads = {name: (us, us) for name, us in estimates.items()}
    spreads |= {name: sample.spread for (name, _), sample in samples.items()}
    return dict(sorted(times.items(), key=lambda item: item[1])), spreads


def looked_at(
    trials: Trials,
    tried: Mapping[str, Trial],
    seconds: float,
    left_out: dict[str, str],
) -> tuple[dict[str, Clock], dict[str, float]]:
    """Return the clocks of the candidates that may win, and first estimates of all that run.

    seconds: the time for all measurements. After half of it, no further candidate is begun. Compiling takes extra time.
    """
    clocks: dict[str, Clock] = {}
    estimates: dict[str, float] = {}
    spent = 0.0
    for name, made in tried.items():
        if clocks and spent > seconds / 2:
            left_out[name] = LATE
            continue
        try:
            trial = made()
            start = time.monotonic()
            clock = trials.copies.clock(trial)
            spent += time.monotonic() - start
        except Exception as error:  # any error of a compiler or device rules out one candidate only
            left_out[name] = one_line(f"{type(error).__name__}: {error}")
            continue
        estimates[name] = clock.estimate
        behind = clock.estimate > HOPELESS * min(estimates.values())
        if not (behind and clock.estimate * 1e-6 > LONG * seconds):
            clocks[name] = clock
    return clocks, estimates


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
