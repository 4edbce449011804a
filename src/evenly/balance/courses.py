"""How tasks would run under each schedule of tasks, for `plan.profile()` of a kernel with a loop over tasks.

The kernel is run once, in plain Python, which says which task makes which. Then its tasks are run again for each
schedule, by so many workers: whoever is free takes the next task. Time is counted in steps. A task takes one, and one
for each of its atoms that its threads do not take at once. Handing over a task takes no time.

Source: list scheduling (Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 1969), with the order
in which each schedule takes tasks.
"""

from __future__ import annotations

import contextlib
import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from evenly.choosing.candidates import several
from evenly.errors import InputError
from evenly.gpus.numbers import measured
from evenly.layouts.task_results import Counts
from evenly.schedules import OF_TASKS, Schedule
from evenly.schedules.contract import ceil_div
from evenly.targets.python.tasks import Ran

from .balance import Numbers, label_of
from .shown import Shown

MOST = 200_000  # tasks, which Python runs one by one
Order = Literal["rounds", "oldest", "newest"]


@dataclass(frozen=True, eq=False)
class Course:
    """How the tasks run under one schedule.

    workers: how many there may be. steps: until the last task has ended. by_worker: (n,) the tasks of each worker that
    has run any, the most first. begins, ends: (tasks,) when each task runs. made: (tasks,) when it could begin.
    """

    schedule: Schedule
    workers: int
    by_worker: Numbers
    made: Numbers
    begins: Numbers
    ends: Numbers

    @property
    def label(self) -> str:
        return label_of(self.schedule)

    @cached_property
    def steps(self) -> int:
        return int(self.ends.max(initial=0))

    @property
    def most(self) -> int:
        """The most tasks of a worker."""
        return int(self.by_worker.max(initial=0))

    @property
    def fewest(self) -> int:
        """The fewest tasks of a worker; 0 if one has run none."""
        return (
            int(self.by_worker.min(initial=self.most)) if len(self.by_worker) == self.workers else 0
        )

    @cached_property
    def idle(self) -> float:
        """The share of the workers' time in which they have no task, 0 .. 1."""
        held = self.steps * self.workers
        return 1 - int((self.ends - self.begins).sum()) / held if held else 0.0

    @cached_property
    def most_waiting(self) -> int:
        """The most tasks that wait at a time."""
        return int(self.waiting(max(self.steps, 1)).max(initial=0))

    def busy(self, points: int) -> Numbers:
        """Return how many workers run a task in each of `points` equal parts of the time: (points,) float64, means."""
        if self.steps == 0:
            return np.zeros(points)
        total = np.cumsum(_changes(self.begins, self.ends, self.steps))
        edges = np.linspace(0, self.steps, points + 1)
        area = np.interp(edges, np.arange(self.steps + 1), np.concatenate([[0], np.cumsum(total)]))
        means: Numbers = np.diff(area) * points / self.steps
        return means

    def waiting(self, points: int) -> Numbers:
        """Return the most tasks that wait at a time, in each of `points` equal parts of the time: (points,)."""
        total = np.cumsum(_changes(self.made, self.begins, self.steps))
        if not len(total):
            return np.zeros(points, np.int64)
        starts = np.arange(points) * len(total) // points
        return np.maximum.reduceat(total, starts)


@dataclass(frozen=True, eq=False)
class TaskBalance(Shown):
    """How evenly schedules of tasks keep workers busy. `str()` is a sketch for a terminal.

    kernel, tasks: what was profiled, in words. number: of tasks. rounds: how many generations of them there are.
    loads: a Course for each schedule, the plan's own first; `chosen` is that one. counts: what workers have really done
    in the latest call, if they have counted. The picture has how many are busy, and how many tasks wait, over time.
    """

    kernel: str
    tasks: str
    number: int
    rounds: int
    loads: tuple[Course, ...]
    counts: Counts | None = None

    @property
    def chosen(self) -> Course:
        return self.loads[0]

    def __str__(self) -> str:
        from .courses_shown import sketch

        return sketch(self)

    def _figure(self) -> Any:
        from .courses_shown import figure

        return figure(self)


def counts_of(tasks: Any) -> Counts | None:
    """Return what the workers of the latest call over a set have done, if they have counted."""
    with contextlib.suppress(InputError):
        return tasks.counts  # type: ignore[no-any-return]
    return None


def task_balance(
    kernel: str,
    loops: list[Ran],
    schedules: list[Schedule],
    name: str | None,
    processors: int | None,
) -> TaskBalance:
    """Run the tasks of a loop again under each schedule: the first loop, or the first over the set of this name.

    processors: how many workers; None: as many as the GPU runs at once on which evenly was measured.
    Raises InputError for a name that is no set, and for more than MOST tasks.
    """
    ran = next((loop for loop in loops if name in (None, loop.name)), None)
    if ran is None:
        known = ", ".join(dict.fromkeys(loop.name for loop in loops)) or "none has run"
        raise InputError("layout", expected=f"a set of tasks: {known}", given=repr(name))
    number = len(ran.rounds)
    if number > MOST:
        raise InputError(
            f"{kernel}: profile of tasks",
            expected=f"at most {MOST:,} tasks, since Python runs them one by one",
            given=f"{number:,}",
            hint="profile a smaller tree; T.tasks_run and T.counts tell of a call",
        )
    loads = tuple(_course(s, ran, processors or _workers(s)) for s in schedules)
    return TaskBalance(kernel, ran.name, number, max(ran.rounds, default=-1) + 1, loads)


def of_tasks(chosen: Schedule, against: Any) -> list[Schedule]:
    """Return the chosen schedule, then those of `against` (None: every built-in one of tasks), each once.

    One that differs from the chosen one in `counted` alone takes tasks as that does, and is left out.

    Raises InputError for names that are not schedules, and for schedules that split tiles.
    """
    others = several(list(OF_TASKS) if against is None else against)
    for schedule in others:
        if not schedule.owns_tiles:
            expected = "schedules that run whole tasks, such as ev.TaskPool()"
            raise InputError("against", expected=expected, given=str(schedule))
    return list(
        dict.fromkeys([chosen, *(s for s in others if _uncounted(s) != _uncounted(chosen))])
    )


def _uncounted(schedule: Any) -> Any:
    return replace(schedule, counted=False) if getattr(schedule, "counted", False) else schedule


def _workers(schedule: Any) -> int:
    """Return how many workers a schedule has on a GPU, if only threads limit them."""
    block, size = schedule.block, getattr(schedule, "size", 1)
    blocks = measured().at_once(block)
    limit = getattr(schedule, "blocks", 0)
    return int(min(blocks, limit) if limit else blocks) * max(int(block) // int(size), 1)


def _order(schedule: Any) -> Order:
    """Return which of the waiting tasks are run next under a schedule."""
    if schedule.engine != "tasks":
        return "rounds"
    return "oldest" if getattr(schedule, "queue", "") in ("blocking", "lock_free") else "newest"


def _course(schedule: Schedule, ran: Ran, workers: int) -> Course:
    size = getattr(schedule, "size", 1)
    lasts = np.array([1 + int(ceil_div(atoms, size)) for atoms in ran.atoms], np.int64)
    made, begins, who = _run(ran.parents, lasts.tolist(), workers, _order(schedule))
    by_worker = np.sort(np.bincount(who))[::-1]
    return Course(schedule, workers, by_worker[by_worker > 0], made, begins, begins + lasts)


def _run(
    parents: list[int], lasts: list[int], workers: int, order: Order
) -> tuple[Numbers, Numbers, Numbers]:
    """Return when each task could begin and when it begins, and which worker runs it."""
    count = len(parents)
    made, begins, who = np.zeros((3, count), np.int64)
    pushed: list[list[int]] = [[] for _ in range(count)]
    waiting: deque[int] = deque()
    for task, parent in enumerate(parents):
        (waiting if parent < 0 else pushed[parent]).append(task)
    take: Callable[[], int] = waiting.pop if order == "newest" else waiting.popleft
    later: list[int] = []  # for the next round
    free = _Free(workers)
    running: list[tuple[int, int]] = []
    now = 0
    while waiting or running or later:
        while waiting and free:
            task = take()
            begins[task], who[task] = now, free.pop()
            heapq.heappush(running, (now + lasts[task], task))
        if not running:  # the round has ended
            waiting.extend(later)
            later.clear()
            continue
        now = running[0][0]
        for task in _ended(running, now):
            free.push(int(who[task]))
            made[pushed[task]] = now
            (later if order == "rounds" else waiting).extend(pushed[task])
    return made, begins, who


def _ended(running: list[tuple[int, int]], now: int) -> Iterator[int]:
    while running and running[0][0] == now:
        yield heapq.heappop(running)[1]


class _Free:
    """Workers without a task. Those that have never had one come first, then who waits longest."""

    def __init__(self, workers: int) -> None:
        self.again: deque[int] = deque()
        self.fresh, self.workers = 0, workers

    def __bool__(self) -> bool:
        return bool(self.again) or self.fresh < self.workers

    def pop(self) -> int:
        if self.fresh < self.workers:
            self.fresh += 1
            return self.fresh - 1
        return self.again.popleft()

    def push(self, worker: int) -> None:
        self.again.append(worker)


def _changes(begins: Numbers, ends: Numbers, steps: int) -> Numbers:
    """Return by how much the number of tasks between `begins` and `ends` changes at each step: (steps,)."""
    return np.bincount(begins, minlength=steps)[:steps] - np.bincount(ends, minlength=steps)[:steps]
