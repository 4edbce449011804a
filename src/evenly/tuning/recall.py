"""Look up what tune() has measured. `auto` does this in explicit plans before it follows its rule."""

from __future__ import annotations

from evenly import targets
from evenly.arguments import Binding
from evenly.choosing.candidates import can_run
from evenly.language import ir

from . import key, winners
from .tuned import Tuning


def recall(program: ir.Program, binding: Binding, target: str) -> Tuning | None:
    """Return what was measured here for a kernel with such arguments, or None.

    If nothing is remembered for a structure, this only costs a look at the file's date and a digest.
    """
    if not targets.find(target).clock:
        return None
    known = winners.remembered()
    alike = known.get(key.structure(binding)) if known else None
    if not alike:
        return None
    found = alike.get(key.key_of(program, binding, target))
    # The file may have been edited: do not take a schedule that cannot run.
    if found is None or not can_run(found.schedule, program):
        return None
    return found.tuning(str(winners.path()))
