"""Who runs each task of a loop over tasks, where tasks are run in rounds: a partition of each round's list."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.layouts.ragged import ragged
from evenly.targets.python.tasks import Ran

from .balance import Numbers

ROUNDS = "a schedule whose own methods hand out the tasks of a round, such as ev.StaticList()"


def check_tasks(kernel: str, schedule: Any, processors: int | None) -> None:
    """Refuse a schedule that runs tasks in no order that is known, and a launch, whose rounds have any length."""
    if schedule.engine != "owned":
        raise InputError(f"{kernel}: trace of tasks", expected=ROUNDS, given=str(schedule))
    if processors is None:
        raise InputError(
            f"{kernel}: trace of tasks",
            expected="a number of processors",
            given="none",
            hint='plan.trace("tasks.json", processors=8)',
        )


def steps_of_tasks(schedule: Any, ran: Ran, processors: int) -> dict[str, Numbers]:
    """Return `round` and `parent` of each task, and by whom it is run and when: `worker` and `step`.

    A task takes a step, and a round begins when the one before it has ended.
    """
    rounds = np.array(ran.rounds, np.int64)
    worker, step = np.zeros((2, len(rounds)), np.int64)
    first = begin = 0
    for count in np.bincount(rounds).tolist() if len(rounds) else []:
        whole = schedule.partition(ragged(np.arange(count + 1)), processors).keeping()
        most = 0
        for p in range(processors):
            tasks = np.array(whole.tiles(p), np.int64)
            worker[first + tasks], step[first + tasks] = p, begin + np.arange(len(tasks))
            most = max(most, len(tasks))
        first, begin = first + count, begin + most
    parents = np.array(ran.parents, np.int64)
    return {"round": rounds, "parent": parents, "worker": worker, "step": step}
