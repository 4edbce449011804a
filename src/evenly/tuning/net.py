"""`schedule="tuned"`: what was measured for a structure, or else a measurement that is short enough for a first call.

It is `tune` with bounds: a fraction of a second, and few compilations. What is found is remembered, so that later calls
and plans for this structure measure nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from evenly import targets
from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.language import ir
from evenly.language.members import growing

from .key import key_of
from .recall import note, recalled
from .tune import Bounds, Subject, tune, unmeasurable
from .tuned import Tuning

COMPILATIONS = 6  # the most candidates that are compiled for it


def tuned(
    program: ir.Program,
    binding: Binding,
    target: str,
    called: bool,
    subject: Callable[[], Subject],
) -> Tuning:
    """Return what was measured for such arguments, now if not before.

    called: whether for plain calls. subject: makes what is measured, where nothing is remembered.

    Raises InputError for what cannot be measured meaningfully.
    """
    check(target, binding)
    about = key_of(program, binding, target, called)
    planned = key_of(program, binding, target) if called else about
    found = recalled(about, planned, program)
    if found is None:
        plan = subject()
        if why := unmeasurable(plan):
            _refuse(*why[:2])
        # Later structures are measured with what earlier ones compiled, if that is enough.
        bounds = Bounds(targets.get(target).net_seconds, COMPILATIONS, enough=COMPILATIONS)
        found, _ = tune(plan, None, bounds, save=True)
        note(about, found)
    return found


def check(target: str, binding: Binding) -> None:
    """Raise InputError for a target whose times mean nothing, and for frontiers.

    A search begins with a frontier of one vertex. What is the fastest for that is not for the steps that follow.
    """
    if not targets.find(target).clock:
        _refuse("target 'cuda' or 'cpu', whose times mean something", f"target {target!r}")
    for name, value in binding.arguments.items():
        if growing(type(value)) is not None:
            what = "tasks" if getattr(value, "tasks", False) else "frontier"
            _refuse("layouts whose tiles stay", f"the {what} {name}, whose tiles change")


def _refuse(expected: str, given: str) -> None:
    hint = 'schedule="auto" chooses without measuring'
    raise InputError("schedule", expected=expected, given=f"'tuned' for {given}", hint=hint)
