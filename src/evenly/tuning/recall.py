"""What `auto` asks in explicit plans before it follows its rule: has tune() measured this already?"""

from __future__ import annotations

from evenly import targets
from evenly.arguments import Binding
from evenly.choosing.candidates import can_run
from evenly.language import ir

from . import key, winners
from .tuned import Tuning


def recall(program: ir.Program, binding: Binding, target: str) -> Tuning | None:
    """What was measured of a kernel with such arguments here; None where nothing was.

    Where nothing is remembered of a structure, that costs a look at the file's date and a digest.
    """
    if not targets.find(target).clock:
        return None
    known = winners.remembered()
    alike = known.get(key.structure(binding)) if known else None
    if not alike:
        return None
    found = alike.get(key.key_of(program, binding, target))
    # Somebody may have edited the file: what cannot run is not taken.
    if found is None or not can_run(found.schedule, program):
        return None
    return found.tuning(str(winners.path()))
