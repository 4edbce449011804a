"""`plan.tune()`: measure candidates on a plan's own arguments, and remember the fastest.

The trials change nothing of the plan: copies take the place of its outputs, and they have scratch memory of their own.
So the plan may be called meanwhile.
"""

from __future__ import annotations

import datetime
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from evenly import targets
from evenly.arguments import Binding
from evenly.choosing.auto import choose
from evenly.choosing.candidates import can_run, ranked, several
from evenly.choosing.look import forget
from evenly.choosing.task import Task
from evenly.errors import InputError
from evenly.language import ir, walk
from evenly.language.members import growing
from evenly.layouts.contract import is_layout
from evenly.schedules import Schedule
from evenly.schedules.nested import misfit
from evenly.timing.busy import busy_machine

from . import key, winners
from .locality import Renumbering, renumbering
from .measuring import Budget, Trials, doubt, measured, taken
from .tuned import RENUMBERED, Tuning
from .winner import Winner, can_be_kept

if TYPE_CHECKING:
    from evenly.runtime.plan import Plan

NEAREST = 4  # how many of the fastest are also tried with renumbered columns
WHOLE = "the kernel needs schedules that own whole tiles"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured. outputs: the names of the arguments that the program writes.

    schedule: the first to be tried. task: what `auto` chooses by.
    trial: makes a plan for a schedule and arguments, with scratch memory of its own.
    called: whether for plain calls, which keep nothing of a structure, and not for a plan.
    """

    program: ir.Program
    binding: Binding
    outputs: list[str]
    schedule: Schedule
    target: str
    debug: bool
    task: Task
    trial: Callable[[Any, Iterable[Any]], Plan]
    called: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """What measuring may take: see `Plan.tune`. enough: once so many are looked at, none is compiled any more."""

    seconds: float | None = None
    compilations: int | None = None
    enough: float = math.inf

    def check(self) -> None:
        """Raise InputError for values that are none."""
        seconds, most = self.seconds, self.compilations
        if seconds is not None and not (
            isinstance(seconds, Real) and seconds is not True and 0 < seconds < math.inf
        ):
            raise InputError("seconds", expected="a positive number", given=repr(seconds))
        if most is not None and (not isinstance(most, int) or most is True or most < 0):
            raise InputError("compilations", expected="an integer, 0 or more", given=repr(most))


def tune(
    plan: Subject, candidates: Any, bounds: Bounds, save: bool, locality: bool = False
) -> tuple[Tuning, Renumbering | None]:
    """Return the measurements of `Plan.tune`, and the renumbering if it is faster. Remember the winner if `save`."""
    target = targets.get(plan.target)
    seconds = bounds.seconds or target.seconds
    budget = Budget(seconds, bounds.compilations, bounds.enough)
    forget(plan.binding.arguments.values())
    numbering = renumbering(plan.program, plan.outputs, plan.binding) if locality else None
    tried = schedules(plan, candidates)
    runs = can_run(plan.program)
    left_out = {str(s): _why(s, plan.program) for s in tried if not runs(s)}
    able = {str(s): s for s in tried if str(s) not in left_out}
    restored = reads_what_it_writes(plan.program, plan.outputs)
    trials = Trials(plan.trial, target.copies(plan.binding, plan.outputs, restored))
    plain = {name: trials.plain(s) for name, s in able.items()}
    times, spreads = measured(trials, plain, budget, left_out)
    if not times:
        given = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise InputError("candidates", expected="a schedule that runs the kernel", given=given)
    about = key.key_of(plan.program, plan.binding, plan.target, plan.called)
    choice = taken(times, able)
    won = Winner(about, able[choice], times, now())
    noise = "" if able[choice] == ruled(plan) else doubt(choice, times, spreads)
    kept = winners.keep([won]) if save and not noise and can_be_kept(won.schedule) else ""
    found = replace(won.tuning(kept, left_out), noise=noise)
    return nearer(trials, able, found, numbering, seconds) if numbering else (found, None)


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
    times, _ = measured(trials, tried, Budget(seconds / 2), left_out)
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


def check(plan: Subject, bounds: Bounds) -> None:
    """Raise InputError for a plan that cannot be measured meaningfully, and for bounds that are none."""
    bounds.check()
    if why := unmeasurable(plan):
        expected, given, hint = why
        raise InputError("plan.tune", expected=expected, given=given, hint=hint)


def unmeasurable(plan: Subject) -> tuple[str, str, str] | None:
    """Say what is expected of a plan, what is given instead, and a hint, if it cannot be measured meaningfully."""
    if not targets.get(plan.target).clock:
        return (
            "a plan on target 'cuda' or 'cpu', whose times mean something",
            f"one on {plan.target!r}",
            'kernel.plan(..., target="cpu").tune()',
        )
    given = plan.binding.arguments
    appended = [n for n in plan.outputs if is_layout(given[n]) and not growing(type(given[n]))]
    if appended:
        expected = "a kernel that changes arrays alone, since copies take their place"
        return expected, f"one that appends to the output {appended[0]}", ""
    if plan.debug:
        return "a plan without debug=True, whose times mean something", "one with it", ""
    return None


def warn_if_busy(target: str) -> None:
    """Warn the caller's caller if other programs disturb measurements on this target."""
    busy = busy_machine() if targets.get(target).place == "cpu" else ""
    if busy:
        warnings.warn(busy, RuntimeWarning, stacklevel=3)


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
    """Return the schedules to try, each once. Default: the plan's own, and the built-in ones, as promising first.

    Raises InputError for names that are not schedules, and if there are none.
    """
    if given is None:
        others = ranked(plan.binding.first_layout(), plan.target, plan.task)
        return list(dict.fromkeys([plan.schedule, *others]))
    made = list(dict.fromkeys(several(given)))
    if not made:
        raise InputError("candidates", expected="at least one schedule", given="none")
    return made


def ruled(plan: Subject) -> Any:
    """Return what `auto` chooses by its rule, without remembered winners."""
    return choose(plan.binding.first_layout(), plan.target, plan.task)


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
