"""Look up what was measured: "tuned" does so before it measures, and `auto`, in explicit plans, before it predicts."""

from __future__ import annotations

from evenly import targets
from evenly.arguments import Binding
from evenly.choosing.auto import look_for
from evenly.choosing.candidates import can_run
from evenly.choosing.task import Task
from evenly.language import ir
from evenly.schedules import Lrb

from . import key, winners
from .key import Key
from .tuned import Tuning


def recall(program: ir.Program, binding: Binding, target: str, task: Task) -> Tuning | None:
    """Return what was measured here for a kernel with such arguments, or None.

    If nothing is remembered for a structure, this only costs a look at the file's date and a digest.
    """
    if not targets.find(target).clock:
        return None
    known = winners.remembered()
    if not known:
        return None
    look_for(binding.first_layout(), target, task)  # else the lengths would be looked at alone
    if not known.get(key.structure(binding)):
        return None
    return _of_file(key.key_of(program, binding, target), program)


def recalled(about: Key, planned: Key, program: ir.Program) -> Tuning | None:
    """Return what "tuned" takes without measuring: what this process has measured for it, or else the file's winner.

    planned: the key of a plan for the same arguments. A plain call takes its winner, too, if there is none for calls,
    unless it pays only where a plan keeps the order of tiles.
    """
    found = _measured.get(about) or _of_file(about, program)
    if found is None and about != planned:
        found = _of_file(planned, program)
        if found is not None and isinstance(found.schedule, Lrb):
            return None
    return found


def _of_file(about: Key, program: ir.Program) -> Tuning | None:
    found = winners.remembered().get(about.structure, {}).get(about)
    # The file may have been edited: do not take a schedule that cannot run.
    if found is None or not can_run(program)(found.schedule):
        return None
    return found.tuning(str(winners.path()))


MOST = 1000  # as many as a file has
_measured: dict[Key, Tuning] = {}  # by "tuned", in this process, the newest last


def note(about: Key, found: Tuning) -> None:
    """Remember a measurement as long as the process lives, also where noise keeps it out of the file."""
    while len(_measured) >= MOST:
        _measured.pop(next(iter(_measured)), None)
    _measured[about] = found
