"""The engines, which execute phases on GPUs: a file for each; ../engine.py says what one is.

To add one, write a file, a header in ../device that its kernels call, and a line of TABLE. split.py, split_launch.py,
by_block.py, handed_out.py and counting.py hold what several of them share.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from evenly.errors import InputError
from evenly.hooks import function_at
from evenly.language.phases import Once, Owned, Phase

if TYPE_CHECKING:
    from ..engine import Engine

# By the name that a schedule uses. An engine is imported at its first use, so that `import evenly` loads no emitter.
TABLE = {
    "owned": "evenly.targets.gpu.engines.owned:OwnedEngine",
    "team": "evenly.targets.gpu.engines.team:TeamEngine",
    "share": "evenly.targets.gpu.engines.share:ShareEngine",
    "flatten": "evenly.targets.gpu.engines.flatten:FlattenEngine",
    "merge": "evenly.targets.gpu.engines.merge:MergeEngine",
    "nonzero": "evenly.targets.gpu.engines.nonzero:NonzeroEngine",
    "dynamic": "evenly.targets.gpu.engines.dynamic:DynamicEngine",
    "nested": "evenly.targets.gpu.engines.nested:NestedEngine",
    "bins": "evenly.targets.gpu.engines.bins:BinsEngine",
    "tasks": "evenly.targets.gpu.engines.tasks:TaskEngine",
}
ONCE = "evenly.targets.gpu.engines.once:OnceEngine"


def engine_of(schedule: Any) -> Engine:
    """Return the engine that runs the passes of a schedule.

    Raises InputError if the schedule names none that can run it. This is checked here too, since a schedule may name
    its engine late.
    """
    return _checked(schedule, type(schedule).__name__)


def engine_for(phase: Phase, schedule: Any) -> Engine:
    """Return the engine that runs a phase under a schedule. In a phase that walks no atoms, a thread owns each tile."""
    match phase:
        case Once():
            return _engine(ONCE)
        case Owned(tasks=tasks) if not phase.has_pass and not (
            tasks and schedule.engine == "tasks"
        ):
            return _engine(TABLE["owned"])
    return engine_of(schedule)


@functools.cache
def _engine(place: str) -> Engine:
    made: Engine = function_at(place)()
    return made


def check(cls: Any) -> None:
    """Raise InputError if a schedule class names an unknown engine, or lacks what that engine requires."""
    _checked(cls, cls.__name__)


def _checked(made: Any, name: str) -> Engine:
    """Return the engine of a schedule, or of a schedule class, after checking it. name: its name in errors."""
    if not isinstance(made.engine, str) or made.engine not in TABLE:
        expected = f"one of {', '.join(TABLE)}"
        raise InputError(f"{name}.engine", expected=expected, given=repr(made.engine))
    engine, since = _engine(TABLE[made.engine]), f"since the engine is {made.engine!r}"
    if not isinstance(made.owner, property) and made.owner not in engine.owners:
        expected = f"{' or '.join(map(repr, engine.owners))}, {since}"
        raise InputError(f"{name}.owner", expected=expected, given=repr(made.owner))
    for parameter in engine.parameters:
        if not hasattr(made, parameter):
            expected = f"a parameter `{parameter}: int = ...`, {since}"
            raise InputError(f"{name}.{parameter}", expected=expected, given="nothing")
    return engine
