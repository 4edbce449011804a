"""`plan.profile()` of a kernel with a loop over tasks: numbers, sketch and picture."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import evenly as ev
from evenly.balance import courses, pictures
from evenly.balance.courses_shown import measured, sketch
from evenly.layouts.task_results import Counts
from evenly.schedules import OF_TASKS


@ev.kernel
def tree(T, x):
    for t in T.tiles():
        for i in range(T.children(t)):
            T.push(max(T.children(t) - i - 1, 0), T.begin(t), T.end(t) - 1)
        x[0] = 1


def planned(first: Any = ((3, 0, 0),), schedule: Any = "static_list") -> Any:
    fields = {"children": np.int32, "begin": np.int32, "end": np.int32}
    T = ev.tasks(**fields, atoms=("begin", "end"), first=list(first), capacity=10_000)
    return tree.plan(T, np.zeros(1, np.int64), schedule=schedule, target="python")


def by_label(balance: Any) -> dict[str, Any]:
    return {load.label: load for load in balance.loads}


def test_a_small_tree_by_hand() -> None:
    """A task of n children has those of n-1, ..., 0: a binomial tree, whose rounds have 1, 3, 3 and 1 tasks."""
    balance = planned().profile(processors=2)
    assert (balance.kernel, balance.tasks, balance.number, balance.rounds) == ("tree", "T", 8, 4)
    found = by_label(balance)
    assert list(found) == list(OF_TASKS) and balance.chosen is found["static_list"]
    rounds = balance.chosen
    assert (rounds.workers, rounds.steps, rounds.idle) == (2, 1 + 2 + 2 + 1, 1 - 8 / 12)
    assert sorted(rounds.begins) == [0, 1, 1, 2, 3, 3, 4, 5]
    assert rounds.busy(6).tolist() == [1, 2, 1, 2, 1, 1]
    assert rounds.waiting(6).tolist() == [0, 1, 3, 1, 1, 0]  # for a worker, or the round
    assert (rounds.most_waiting, rounds.most, rounds.fewest) == (3, 4, 4)
    for name in ("task_pool", "blocking_queue"):
        assert found[name].steps == 5
        assert found[name].busy(5).tolist() == [1, 2, 2, 2, 1]


def test_a_task_takes_a_step_and_one_for_each_atom_of_a_thread() -> None:
    found = [planned([(0, 0, 10)], ev.TaskPool(size=n, block=64)).profile(against=[]) for n in (1, 4, 64)]  # fmt: skip
    assert [b.chosen.steps for b in found] == [11, 4, 2]
    assert found[0].chosen.workers == 64 * found[2].chosen.workers
    few = planned([(0, 0, 10)], ev.TaskPool(size=32, block=64, blocks=3)).profile(against=[])
    assert few.chosen.workers == 6


@pytest.mark.parametrize("workers", [1, 2, 7, 1000])
def test_who_is_free_takes_what_waits(workers: int) -> None:
    balance = planned([(6, 0, 9), (4, 3, 7), (0, 2, 2), (5, 0, 30)]).profile(processors=workers)
    lasts = None
    for load in balance.loads:
        lasts = load.ends - load.begins if lasts is None else lasts
        np.testing.assert_array_equal(load.ends - load.begins, lasts)
        busy = load.busy(load.steps)
        assert busy.max() <= workers and busy.sum() == pytest.approx(lasts.sum())
        assert load.by_worker.sum() == balance.number
        assert load.idle == pytest.approx(1 - lasts.sum() / load.steps / workers)
        assert max(lasts.sum() / workers, lasts.max()) <= load.steps <= lasts.sum()
        assert (load.begins >= load.made).all()
        if load.schedule != ev.StaticList():  # nobody waits beside a task that waits
            for begin, made in zip(load.begins, load.made, strict=True):
                assert (busy[made:begin] > workers - 1e-6).all()
    assert by_label(balance)["task_pool"].most_waiting <= by_label(balance)["blocking_queue"].most_waiting  # fmt: skip


def test_no_tasks() -> None:
    balance = planned([]).profile(processors=3)
    assert (balance.number, balance.rounds, balance.chosen.steps) == (0, 0, 0)
    assert (balance.chosen.idle, balance.chosen.most, balance.chosen.most_waiting) == (0, 0, 0)
    assert "0 tasks" in str(balance)


def test_the_sketch_and_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    balance = planned([(8, 0, 3)], ev.WorkStealing(size=4)).profile(path=tmp_path / "a.svg", processors=8)  # fmt: skip
    lines = str(balance).splitlines()
    assert lines[0] == "tree, T: 256 tasks in 9 rounds"
    assert lines[2].split() == ["workers", "steps", "idle", "tasks", "waiting"]
    assert lines[3].startswith("> work_stealing size=4 ") and "█" in lines[3]
    assert max(map(len, lines)) <= 80 and sketch(balance, plain=True).isascii()
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    assert balance._repr_svg_().count("busy workers") == 1
    for (left, right), load in zip(np.reshape(pictures_of(balance), (-1, 2)), balance.loads, strict=True):  # fmt: skip
        assert left.get_title(loc="left").startswith("8 workers, idle ")
        assert right.get_title(loc="left") == f"at most {load.most_waiting:,} waiting"


@ev.kernel
def counting_down(T, x):
    for t in T.tiles():
        for i in range(T.n(t)):
            T.push(i)
        ev.atomic_add(x, 0, 1)


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_what_workers_have_really_done_is_beside_it(target: str) -> None:
    T, x = ev.tasks(n=np.int32, first=[7], capacity=500), np.zeros(1, np.int64)
    schedule = ev.WorkStealing(block=64, blocks=1, counted=True)
    plan = counting_down.plan(T, x, schedule=schedule, target=target)
    assert plan.profile(against=[]).counts is None  # nothing has run
    plan(T, x)
    balance = plan.profile(against=[])
    assert balance.counts == T.counts and balance.number == T.counts.tasks == 128 == x[0]
    (line,) = (line for line in str(balance).splitlines() if line.startswith("measured: "))
    assert line.startswith("measured: 128 tasks, ")
    assert max(map(len, measured(balance.counts, "x"))) <= 80


def test_a_schedule_that_counts_is_not_beside_itself() -> None:
    T, x = ev.tasks(n=np.int32, first=[3], capacity=50), np.zeros(1, np.int64)
    plan = counting_down.plan(T, x, schedule=ev.TaskPool(counted=True), target="cpu")
    names = [load.label.split()[0] for load in plan.profile().loads]
    assert names[0] == "task_pool" and len(names) == len(set(names)) == 5


def test_a_full_output_does_not_keep_a_profile_from_being_made() -> None:
    @ev.kernel
    def appends(T, out):
        for t in T.tiles():
            out.append(T.n(t))

    T, out = ev.tasks(n=np.int32, first=[1, 2], capacity=5), ev.output(np.int32, capacity=2)
    plan = appends.plan(T, out, target="cpu")
    plan(T, out)
    assert plan.profile(against=[]).number == 2 and len(out) == 2


def test_the_picture_shows_what_was_measured() -> None:
    pytest.importorskip("matplotlib")
    parts = tuple([3e-6] * 40)
    counts = Counts(4, 9, 1, 3, 0, 0, 0, 2, (0, 1, 3), 4, 1.0, 2.0, 5e-5, parts)
    balance = dataclasses.replace(planned().profile(processors=2), counts=counts)
    busy, tasks, *others = pictures_of(balance)
    assert len(others) == 2 * len(balance.loads)
    assert busy.get_title(loc="left") == "4 workers, idle 50%"
    assert tasks.get_title(loc="left") == "1 to 3 tasks each"
    assert str(balance).splitlines()[-1] == counts.curve(80) and "idle 50%" in str(balance)
    assert balance._repr_svg_().count("over ms") == 1


def pictures_of(balance: Any) -> list[Any]:
    from evenly.balance.courses_shown import figure

    return list(figure(balance).axes)


def test_the_arguments_stay_as_they_are_and_one_of_several_sets_is_chosen() -> None:
    @ev.kernel
    def both(T, U, x):
        for t in T.tiles():
            x[0] = 1
            if T.n(t) > 0:
                T.push(T.n(t) - 1)
        for _u in U.tiles():
            x[1] = 1

    T = ev.tasks(n=np.int32, first=[4], capacity=9)
    U = ev.tasks(n=np.int32, first=[1, 1], capacity=9)
    x = np.zeros(2, np.int64)
    plan = both.plan(T, U, x, target="cpu")
    assert plan.profile().number == 5
    assert plan.profile(layout="U").number == 2
    assert x.tolist() == [0, 0] and T.tasks_run == 0
    with pytest.raises(ev.InputError, match="layout: expected a set of tasks: T, U, got 'V'"):
        plan.profile(layout="V")


def test_what_a_profile_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned()
    with pytest.raises(
        ev.InputError, match="processors: expected a number of processors, 1 or more"
    ):
        plan.profile(processors=0)
    with pytest.raises(ev.InputError, match="against: expected schedules that run whole tasks"):
        plan.profile(against=["merge_path"])
    with pytest.raises(ev.InputError, match="path: expected a file that ends in .png or .svg"):
        plan.profile(path="a.txt")
    monkeypatch.setattr(courses, "MOST", 7)
    with pytest.raises(
        ev.InputError, match="at most 7 tasks, .* got 8; hint: profile a smaller tree"
    ):
        plan.profile()

    @ev.kernel
    def total(A, y):
        for t in A.tiles():
            y[t] = sum(1.0 for k in A.atoms(t))

    tiles = total.plan(ev.ragged(np.arange(4)), np.zeros(3), target="python")
    with pytest.raises(
        ev.InputError, match="processors: expected none but for a kernel with a loop"
    ):
        tiles.profile(processors=3)


def test_without_matplotlib_there_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "available", lambda: False)
    assert planned().profile(processors=2)._repr_svg_() is None
