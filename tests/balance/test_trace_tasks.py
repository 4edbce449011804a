"""Traces of loops over tasks: which task made which, in which round, and who runs it when."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev


@ev.kernel
def halves(T, leaves, totals):
    tasks = 0
    for t in T.tiles():
        tasks += 1
        middle = (T.begin(t) + T.end(t)) // 2
        if T.end(t) - T.begin(t) > 2:
            T.push(T.begin(t), middle)
            T.push(middle, T.end(t))
        else:
            leaves.append(T.begin(t))
    totals[0] = tasks


def planned(schedule: Any, first: Any = ((0, 5), (5, 10))) -> Any:
    fields = {"begin": np.int32, "end": np.int32}
    T = ev.tasks(**fields, atoms=("begin", "end"), first=list(first), capacity=100)
    leaves, totals = ev.output((np.int32,), capacity=100), np.full(1, -1, np.int64)
    return (T, leaves, totals), halves.plan(T, leaves, totals, schedule=schedule, target="python")


def traced(plan: Any, folder: Path, processors: int) -> Any:
    plan.trace(folder / "a.json", processors=processors)
    (phase,) = json.loads((folder / "a.json").read_text())["phases"]
    return phase


def test_each_task_has_its_round_its_parent_and_its_place(tmp_path: Path) -> None:
    """Two ranges of 5: each has halves of 2 and 3, and the longer has halves of 1 and 2."""
    (T, leaves, totals), plan = planned(ev.StaticList())
    phase = traced(plan, tmp_path, 3)
    assert (phase["layout"], phase["line"], phase["schedule"]) == ("T", 4, "static_list")
    assert phase["round"] == [0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    assert phase["parent"] == [-1, -1, 0, 0, 1, 1, 3, 3, 5, 5]
    assert phase["worker"] == [0, 1, 0, 1, 2, 0, 0, 1, 2, 0]
    assert phase["step"] == [0, 0, 1, 1, 1, 2, 3, 3, 3, 4]
    assert "offsets" not in phase
    assert (len(leaves), totals[0], T.tasks_run) == (0, -1, 0)  # it ran on copies
    plan(T, leaves, totals)
    assert totals[0] == len(phase["round"]) == T.tasks_run
    assert T.most_waiting == max(np.bincount(phase["round"]))


@pytest.mark.parametrize("schedule", [ev.StaticList(4, 64), ev.ThreadMapped(), ev.WarpMapped()])
@pytest.mark.parametrize("processors", [1, 2, 7])
def test_a_round_is_divided_as_a_list_of_tiles(
    schedule: Any, processors: int, tmp_path: Path
) -> None:
    _, plan = planned(schedule, [(0, 90)])
    phase = traced(plan, tmp_path, processors)
    worker, step, rounds = (np.array(phase[name]) for name in ("worker", "step", "round"))
    begin = 0
    for number in range(rounds[-1] + 1):
        own = np.flatnonzero(rounds == number)
        assert worker[own].tolist() == [place % processors for place in range(len(own))]
        assert step[own].tolist() == [begin + place // processors for place in range(len(own))]
        begin += -(-len(own) // processors)


def test_no_task_at_all(tmp_path: Path) -> None:
    _, plan = planned("static_list", [])
    assert traced(plan, tmp_path, 2)["round"] == []


@pytest.mark.parametrize(
    ("schedule", "processors", "said"),
    [
        ("task_pool", 4, "halves: trace of tasks: expected a schedule whose own methods hand out"),
        ("static_list", None, r"expected a number of processors, got none; hint: plan.trace\("),
        ("static_list", 0, "processors: expected a number of processors, 1 or more, got 0"),
    ],
)
def test_what_is_refused(schedule: Any, processors: Any, said: str, tmp_path: Path) -> None:
    _, plan = planned(schedule)
    with pytest.raises(ev.InputError, match=said):
        plan.trace(tmp_path / "a.json", processors=processors)
    assert not list(tmp_path.iterdir())


@ev.kernel
def twice(T, totals):
    rounds = tasks = 0
    while rounds < 2:
        rounds += 1
        for _t in T.tiles():
            tasks += 1
    totals[0] = tasks


def test_a_loop_that_is_repeated_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    T = ev.tasks(begin=np.int32, end=np.int32, first=[(0, 5)], capacity=9)
    plan = twice.plan(T, np.zeros(1, np.int32), schedule="static_list", target="python")
    said = "twice: trace of tasks: expected each of 1 loops over tasks to run once, got 2 runs"
    with pytest.raises(ev.InputError, match=said):
        plan.trace(tmp_path / "a.json", processors=2)
    monkeypatch.setattr("evenly.balance.trace.MOST", 9)
    _, plan = planned("static_list")
    with pytest.raises(ev.InputError, match="expected at most 9 tasks, got 10"):
        plan.trace(tmp_path / "a.json", processors=2)
