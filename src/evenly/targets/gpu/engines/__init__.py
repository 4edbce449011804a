"""The engines, one file each; split.py, by_block.py and handed_out.py have what some of them share."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from evenly.errors import InputError
from evenly.hooks import function_at
from evenly.language.phases import Once, Owned, Phase

if TYPE_CHECKING:
    from ..engine import Engine

# By the name that a schedule has for it. Imported when it is used: emitters are no part of `import evenly`.
TABLE = {
    "owned": "evenly.targets.gpu.engines.owned:OwnedEngine",
    "share": "evenly.targets.gpu.engines.share:ShareEngine",
    "flatten": "evenly.targets.gpu.engines.flatten:FlattenEngine",
    "merge": "evenly.targets.gpu.engines.merge:MergeEngine",
    "nonzero": "evenly.targets.gpu.engines.nonzero:NonzeroEngine",
    "dynamic": "evenly.targets.gpu.engines.dynamic:DynamicEngine",
    "bins": "evenly.targets.gpu.engines.bins:BinsEngine",
}
ONCE = "evenly.targets.gpu.engines.once:OnceEngine"


def engine_of(schedule: Any) -> Engine:
    """What runs the passes of a schedule."""
    return _engine(TABLE[schedule.engine])


def engine_for(phase: Phase, schedule: Any) -> Engine:
    """What runs a phase under a schedule: where there are no atoms, a tile is a thread's."""
    match phase:
        case Once():
            return _engine(ONCE)
        case Owned() if not phase.has_pass:
            return _engine(TABLE["owned"])
    return engine_of(schedule)


@functools.cache
def _engine(place: str) -> Engine:
    made: Engine = function_at(place)()
    return made


def check(cls: Any) -> None:
    """Refuse a class of schedules whose engine there is not, or that lacks what its engine asks for."""
    if cls.engine not in TABLE:
        expected = f"one of {', '.join(TABLE)}"
        raise InputError(f"{cls.__name__}.engine", expected=expected, given=repr(cls.engine))
    engine, since = _engine(TABLE[cls.engine]), f"since the engine is {cls.engine!r}"
    if not isinstance(cls.owner, property) and cls.owner not in engine.owners:
        expected = f"{' or '.join(map(repr, engine.owners))}, {since}"
        raise InputError(f"{cls.__name__}.owner", expected=expected, given=repr(cls.owner))
    for name in engine.parameters:
        if not hasattr(cls, name):
            expected = f"a parameter `{name}: int = ...`, {since}"
            raise InputError(f"{cls.__name__}.{name}", expected=expected, given="nothing")
