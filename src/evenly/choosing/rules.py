"""The rules of `auto` where a kind of kernel or layout decides, and not a predicted time."""

from __future__ import annotations

from functools import partial

from evenly import schedules as s
from evenly import targets
from evenly.gpus.numbers import numbers
from evenly.language.members import growing
from evenly.layouts.contract import LayoutInstance

from .again import for_again
from .dense import for_dense
from .items import ON_CPU, for_items
from .statistics import statistics
from .streams import for_streams
from .task import BY_COLUMNS, Task, fits
from .whose import numbers_for

Found = tuple[s.Schedule, str] | None  # and why
ROUNDS = "the number of tasks is not known: they run in rounds"
BESIDE_ROUNDS = (
    ("task_pool", "for tasks of very different lengths, or more that wait than a list holds"),
)


def prescribed(layout: LayoutInstance | None, target: str, task: Task) -> Found:
    """Return a schedule, and why, where a rule decides and not a predicted time."""
    gpu = targets.find(target).gpu
    if task.tasks:
        return _for_tasks(target, gpu and task.ranged)
    if task.items and layout is not None:
        return for_items(layout, task) if gpu else ON_CPU
    if layout is not None and task.sums and _grows(layout) and not task.whole_tiles:
        # If shares split them, the order of the tiles would decide which atoms a thread adds up.
        owner = s.GroupMapped(8) if gpu else s.ThreadMapped()
        return owner, "the tiles of a frontier come in no order, and floats are added up"
    if not gpu or layout is None:
        return None
    about = (rule(layout, task) for rule in RULES)
    return next((found for found in about if found is not None and fits(found[0], task)), None)


def _for_tasks(target: str, ranged: bool) -> tuple[s.Schedule, str]:
    if target == "cpu":
        why = "the number of tasks is not known: threads that have none steal some"
        return s.WorkStealing(), why
    if ranged:
        size, block = numbers()["tasks"]
        return s.StaticList(size, block), f"{ROUNDS}, and {size} threads divide the atoms of each"
    return s.StaticList(), ROUNDS


def _grows(layout: LayoutInstance) -> bool:
    return growing(type(layout)) is not None


def _for_dense(layout: LayoutInstance, task: Task) -> Found:
    if task.axis is None or task.axis.length <= 1:
        return None
    about = task.axis, task.atom_bytes, task.kept
    able = partial(fits, task=task)
    return for_dense(statistics(layout), *about, numbers_for(layout), able)


def _for_again(layout: LayoutInstance, task: Task) -> Found:
    if not task.again or _grows(layout):
        return None
    return for_again(statistics(layout), task.atom_bytes, numbers_for(layout))


def _for_emits(layout: LayoutInstance, task: Task) -> Found:
    if not task.emits or task.whole_tiles:
        return None
    return s.NonzeroSplit(*numbers()["emits"]), "the kernel scans over what its atoms emit"


def _for_frontier(layout: LayoutInstance, task: Task) -> Found:
    """Choose for a frontier, whose tiles come few or many at a time.

    If tiles may be long, only equal shares of tiles and atoms are equal work, and a level of few atoms is as quick as
    the longest chain of a thread. If all are short, groups need no search, and end a level sooner.
    """
    if not _grows(layout) or task.whole_tiles:
        return None
    lanes, most = numbers()["short_frontiers"]
    known = "offsets" in getattr(type(getattr(layout, "base", None)), "__fields__", ())
    if known and 0 < statistics(layout).greatest <= most:
        return s.GroupMapped(lanes), f"the frontier is one of tiles of at most {most} atoms"
    return s.MergePath(*numbers()["frontiers"]), "the tiles of a frontier come in no order"


def _for_loops(layout: LayoutInstance, task: Task) -> Found:
    if not task.loops or task.whole_tiles:
        return None
    # An atom is as much work as elsewhere a tile, so a thread takes one at a time.
    return s.MergePath(*numbers()["loops"]), "atoms have loops of their own, of unknown length"


def _for_streams(layout: LayoutInstance, task: Task) -> Found:
    reads = task.again or task.scans or (task.streams and task.runs and not task.by_tile)
    reads = reads and not task.gathers
    if not reads or task.whole_tiles or isinstance(layout, BY_COLUMNS):
        return None
    return for_streams(statistics(layout), task, numbers_for(layout))


RULES = (_for_dense, _for_again, _for_emits, _for_frontier, _for_loops, _for_streams)
