"""Tasks through the public interface: on every target, under every schedule that owns whole tiles."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import evenly as ev
from evenly.layouts.task_results import Counts
from tests.tasks import CASES, halves, runs_fans

SIMT = pytest.param("simt", marks=pytest.mark.simt)
SCHEDULES = [
    ev.StaticList(size=48, block=64),
    ev.TaskPool(block=64),
    ev.TaskPool(size=8, block=64),
    ev.TaskPool(size=64, block=64),
    ev.BlockingQueue(size=8, block=64),
    ev.LockFreeQueue(block=64),
    ev.WorkStealing(size=48, block=64),
    *(
        pytest.param(schedule, marks=pytest.mark.slow)
        for schedule in (
            ev.StaticList(),
            ev.StaticList(size=8, block=64),
            ev.StaticList(size=96, block=96),
            ev.TaskPool(),
            ev.TaskPool(size=5, block=32),
            ev.BlockingQueue(size=48, block=64),
            ev.LockFreeQueue(size=64, block=64, every=1),
            ev.LockFreeQueue(size=5, block=32),
            ev.WorkStealing(block=64),
            ev.WorkStealing(size=8, block=64, blocks=2),
            ev.StaticList(block=64, blocks=2),
            ev.DynamicChunks(chunk=2, size=4, block=64),
            ev.Lrb(),
            ev.WarpMapped(),
        )
    ),
]


def make(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    return function(*given, **named)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", ["python", "cpu"])
def test_every_task_runs_once(target: str, case: str) -> None:
    CASES[case](make, lambda kernel, *given: kernel.on(target)(*given))


@pytest.mark.simt
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_every_task_runs_once_under_every_schedule(schedule: Any, case: str) -> None:
    CASES[case](make, lambda kernel, *given: kernel[schedule].on("simt")(*given))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_every_schedule_on_the_cpu(schedule: Any, case: str) -> None:
    CASES[case](make, lambda kernel, *given: kernel[schedule].on("cpu")(*given))


@pytest.mark.simt
@pytest.mark.parametrize(
    "capacity",
    [1, 33, pytest.param(2, marks=pytest.mark.slow), pytest.param(500, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_no_task_is_lost_where_there_is_little_room(schedule: Any, capacity: int) -> None:
    calls, tasks = runs_fans(make, lambda kernel, *given: kernel[schedule].on("simt")(*given), 25, 2, capacity)  # fmt: skip
    assert tasks == 651
    assert calls <= 3


QUEUES = [
    ev.BlockingQueue(size=8, block=64),
    ev.LockFreeQueue(block=64),
    ev.WorkStealing(block=64),
    ev.WorkStealing(size=64, block=64),
]


@pytest.mark.simt
@pytest.mark.parametrize(("width", "depth"), [(1500, 1), (40, 2)])
@pytest.mark.parametrize("schedule", QUEUES, ids=str)
def test_no_task_is_lost_where_a_queue_is_full(schedule: Any, width: int, depth: int) -> None:
    """More tasks than there are places, of one worker and of many."""
    calls, tasks = runs_fans(make, lambda kernel, *given: kernel[schedule].on("simt")(*given), width, depth, 33)  # fmt: skip
    assert tasks > 1024
    assert calls <= 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: ev.LockFreeQueue(every=0), "LockFreeQueue(every=...): expected an integer from 1 to 1024, got 0"),
        (lambda: ev.WorkStealing(size=65, block=64), "WorkStealing(size=...): expected an integer from 1 to 64, got 65"),
        (lambda: ev.BlockingQueue(block=48), "BlockingQueue(block=...): expected a multiple of 32"),
        (lambda: ev.StaticList(blocks=-1), "StaticList(blocks=...): expected an integer from 0"),
    ],
)  # fmt: skip
def test_what_schedules_of_tasks_refuse(given: Callable[[], Any], said: str) -> None:
    with pytest.raises(ev.InputError) as error:
        given()
    assert str(error.value).startswith(said)


@pytest.mark.simt
def test_a_queue_that_does_not_exist_is_refused() -> None:
    @ev.schedule
    class Other(ev.WorkStealing):
        queue = "steeling"

    with pytest.raises(ev.InputError, match="Other.queue: expected one of blocking, .* 'stealing'"):
        halves[Other()].on("simt")(*the_halves(64))


def test_a_set_pickles() -> None:
    T, leaves, count = the_halves(64)
    again = pickle.loads(pickle.dumps(T))
    halves.on("cpu")(again, leaves, count)
    assert again.tasks_run == 127


def the_halves(capacity: int, **named: Any) -> tuple[Any, Any, np.ndarray]:
    T = ev.tasks(begin=np.int32, end=np.int32, first=[(0, 1000)], capacity=capacity, **named)
    return T, ev.output((np.int32, np.int32), capacity=200), np.zeros(1, np.int64)


@pytest.mark.parametrize("target", ["python", "cpu", SIMT])
def test_a_call_without_room_ends_and_another_goes_on_with_what_is_left(target: str) -> None:
    T, leaves, count = the_halves(1)
    ran, capacity = 0, 1
    while True:
        try:
            halves.on(target)(T, leaves, count)
            break
        except ev.InputError as error:
            said = str(error)
        ran += int(count[0])
        assert count[0] == T.tasks_run
        left = len(T.remaining)
        assert left > capacity
        assert f"at most {capacity} tasks that wait at a time, got {left}" in said
        assert f"capacity={left})" in said
        capacity *= 2
        T = ev.tasks(
            begin=np.int32, end=np.int32, first=T.remaining, capacity=capacity
        )  # fmt: skip
    assert ran + T.tasks_run == 2 * len(leaves) - 1
    begins, ends = (np.sort(c) for c in leaves.columns)
    assert begins[0] == 0 and ends[-1] == 1000
    np.testing.assert_array_equal(begins[1:], ends[:-1])


def test_a_spill_that_is_full_is_said_to_have_lost_tasks() -> None:
    T, leaves, count = the_halves(2, spill=1)
    with pytest.raises(ev.InputError) as error:
        halves[ev.StaticList()].on("cpu")(T, leaves, count)
    assert "got 4, of which 1 are lost" in str(error.value)
    assert "spill=2 would have kept all" in str(error.value)
    assert len(T.remaining) == 3


def test_every_call_begins_with_the_first_tasks() -> None:
    T, leaves, count = the_halves(64)
    plan = halves.plan(T, leaves, count, schedule=ev.StaticList(), target="cpu")
    for _ in range(3):
        leaves.clear()
        plan(T, leaves, count)
        assert (len(leaves), T.tasks_run, T.most_waiting) == (64, 127, 64)


@pytest.mark.parametrize("target", ["python", "cpu", SIMT])
def test_a_call_that_does_not_wait_leaves_the_check_to_whoever_looks(target: str) -> None:
    T, leaves, count = the_halves(64)
    run, plan = halves.on(target), halves.plan(T, leaves, count, target=target)
    with plan.bind(T, leaves, count, wait=False) as call:
        for go in (
            lambda: run(T, leaves, count, wait=False),
            lambda: plan(T, leaves, count, wait=False),
            lambda: plan(T, leaves, count=count, wait=False),
            call,
        ):
            leaves.clear()
            go()
            T.check()
            assert (len(leaves), T.tasks_run, count[0], len(T.remaining)) == (64, 127, 127, 0)
    small, leaves, count = the_halves(10)
    plan = halves.plan(small, leaves, count, schedule=ev.StaticList(), target=target)
    for _ in range(2):
        plan(small, leaves, count, wait=False)
        assert small.tasks_run == 15
        left = small.remaining  # no later call loses it
        assert len(left) == 16
    with pytest.raises(
        ev.InputError, match="T: expected at most 10 tasks that wait at a time, got 16"
    ):
        plan(small, leaves, count)
    plan(small, leaves, count, wait=False)
    with pytest.raises(ev.InputError, match="small: expected at most 10 tasks that wait at a time"):
        small.check("small")
    plan(small, leaves, count, wait=False)
    with pytest.raises(ev.InputError, match=r"^T: expected .*; first=T.remaining goes on"):
        small.check()
    larger = ev.tasks(begin=np.int32, end=np.int32, first=left, capacity=100)
    leaves.clear()
    plan(larger, leaves, count)
    assert (len(leaves), larger.tasks_run) == (64, 112)


def test_wait_is_a_truth_value_or_a_parameter_of_the_kernel() -> None:
    given = the_halves(64)
    for run in (halves, halves.plan(*given), halves[ev.StaticList()]):
        with pytest.raises(ev.InputError, match="wait: expected True or False, got 0"):
            run(*given, wait=0)
    for make in (halves.plan, lambda *a, wait: halves.on("cpu", wait=wait)(*a), halves.collect):
        with pytest.raises(ev.InputError, match=r"wait: expected .*kernel\(..., wait=False\)"):
            make(*given, wait=False)

    @ev.kernel
    def waits(A, wait, y):
        for row in A.tiles():
            y[row] = wait

    y = np.zeros(3, np.int64)
    waits(ev.ragged(np.arange(4)), y=y, wait=5)
    assert y.tolist() == [5, 5, 5]


def test_a_set_that_nobody_looks_at_is_freed() -> None:
    """As on a GPU, where the call is still running then."""
    from evenly.runtime.frontiers import Launched

    class Run:
        work = object()

        def __call__(self) -> None: ...

    T = the_halves(64)[0]
    Launched(Run(), [("T", weakref.ref(T))])()
    known = weakref.ref(T)
    del T
    gc.collect()
    assert known() is None


def test_who_is_interrupted_stops_the_device_and_forgets_the_tasks() -> None:
    """As on a GPU, and where Ctrl-C is pressed again."""
    from evenly.runtime.frontiers import Watched

    class Work:
        stopped: list[int] | None = None

        def finish(self) -> None:
            raise KeyboardInterrupt

        def stop(self, counters: list[int]) -> None:
            self.stopped = counters
            raise KeyboardInterrupt

    class Run:
        work = Work()

        def __call__(self) -> None:
            T.pushed[0] = T.full[0] = 7

    T = the_halves(64)[0]
    with pytest.raises(KeyboardInterrupt):
        Watched(Run(), [("T", weakref.ref(T))])()
    assert Run.work.stopped == [T.pushed.ctypes.data]
    assert (len(T.remaining), T.pushed[0], T.full[0]) == (0, 0, 0)


def test_auto_takes_a_schedule_of_tasks() -> None:
    T, leaves, count = the_halves(64)
    for target, schedule in {"cpu": ev.WorkStealing(), "python": ev.StaticList()}.items():
        assert halves.plan(T, leaves, count, target=target).schedule == schedule


@pytest.mark.parametrize("target", ["python", "cpu"])
@pytest.mark.parametrize("schedule", [ev.MergePath(), ev.NonzeroSplit(), ev.WorkOriented()])
def test_schedules_that_split_tiles_are_refused_by_name(schedule: Any, target: str) -> None:
    with pytest.raises(ev.InputError, match=type(schedule).__name__) as error:
        halves[schedule].on(target)(*the_halves(64))
    assert "halves has a loop over tasks, which cannot be split" in str(error.value)


@ev.kernel
def both(T, U):
    for t in T.tiles():
        T.push(T.n(t))
    for u in U.tiles():
        U.push(U.n(u) + 1)
        U.push(U.n(u) + 2)


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_an_error_says_which_set_has_no_room(target: str) -> None:
    T, U = ev.tasks(n=np.int32, first=[], capacity=1), ev.tasks(n=np.int32, first=[0], capacity=1)
    with pytest.raises(
        ev.InputError, match="^U: expected at most 1 tasks .* first=U.remaining goes"
    ):
        both.on(target)(T, U)


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_one_set_for_two_parameters_is_refused(target: str) -> None:
    T = ev.tasks(n=np.int32, first=[1], capacity=3)
    with pytest.raises(ev.InputError, match="^U: expected another one than T, since the kernel"):
        both.on(target)(T, T)


@ev.kernel
def looks_aside(T, x, y):
    for t in T.tiles():
        x[T.n(t)] = T.n(t)
        y[T.n(t)] = x[T.n(t) ^ 1]
        if T.n(t) < 32:
            T.push(2 * T.n(t))
            T.push(2 * T.n(t) + 1)


@ev.kernel
def looks_back(T, x, y):
    for t in T.tiles():
        x[T.n(t)] = T.n(t)
        y[T.n(t)] = x[T.n(t) // 2] + x[T.n(t) // 4]
        if T.n(t) < 32:
            T.push(2 * T.n(t))
            T.push(2 * T.n(t) + 1)


@pytest.mark.simt
@pytest.mark.parametrize("schedule", [ev.StaticList(), ev.TaskPool(block=32)], ids=str)
def test_a_task_may_read_what_its_ancestors_have_stored_and_nobody_else(schedule: Any) -> None:
    T = ev.tasks(n=np.int32, first=[1], capacity=100)
    x, y = np.zeros(64, np.int64), np.zeros(64, np.int64)
    looks_back[schedule].on("simt")(T, x, y)
    n = np.arange(1, 64)
    np.testing.assert_array_equal(y[1:], n // 2 + n // 4)
    with pytest.raises(ev.SimtError, match="data race on array x"):
        looks_aside[schedule].on("simt")(T, x, y)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "tasks: expected a field, such as begin=np.int32, got none"),
        ({"push": np.int32}, "tasks: expected another name for the field, got push"),
        ({"remaining": np.int32}, "tasks: expected another name for the field, got remaining"),
        ({"lambda": np.int32}, "tasks: expected a name of Python, got 'lambda'"),
        ({"a": object}, "a: expected a type of float32"),
        ({"a": np.int32, "first": [(1, 2)]}, "first[0]: expected a value for each of a, got (1, 2)"),
        ({"a": np.int32, "first": [1.5]}, "first[0]: a: expected a number of int32, got 1.5"),
        ({"a": np.int8, "first": [1, 200]}, "first[1]: a: expected a number of int8, got 200"),
        ({"a": np.float32, "first": [None]}, "first[0]: a: expected a number of float32, got None"),
        ({"a": np.float32, "first": ["1"]}, "first[0]: a: expected a number of float32, got '1'"),
        ({"a": np.float32, "first": [1j]}, "first[0]: a: expected a number of float32, got 1j"),
        ({"a": np.float16, "first": [1e6]}, "first[0]: a: expected a number of float16, got 1000000.0"),
        ({"a": np.int8, "first": np.array([(1,), (300,)], [("a", np.int64)])}, "first[1]: a: expected a number of int8, got 300"),
        ({"a": np.int8, "first": np.array([(1.7,)], [("a", np.float64)])}, "first[0]: a: expected a number of int8, got 1.7"),
        ({"a": np.int8, "first": np.array([("x",)], [("a", "U2")])}, "first[0]: a: expected a number of int8, got 'x'"),
        ({"a": None}, "a: expected a type of float32"),
        ({"a": ">i4"}, "a: expected a type of float32"),
        ({"a": np.int32, "first": 3}, "first: expected a list of tasks, got 3"),
        ({"a": np.int32, "capacity": 0}, "capacity: expected an integer of at least 1, got 0"),
        ({"a": np.int32, "capacity": 2.5}, "capacity: expected an integer of at least 1, got 2.5"),
        ({"a": np.int32, "first": np.ones((2, 3), int)}, "first[0]: expected a value for each of a, got (1, 1, 1)"),
        ({"a": np.int32, "capacity": 2**30}, "capacity: expected 2 * capacity + spill"),
        ({"a": np.int32, "atoms": ("a", "b")}, "atoms: expected two of the fields a"),
        ({"a": np.int32, "b": np.float32, "atoms": ("a", "b"), "first": [(1, 2)]}, "atoms: b: expected a field of integers"),
    ],
)  # fmt: skip
def test_what_a_set_refuses(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ev.InputError) as error:
        ev.tasks(**({"first": [1], "capacity": 3} | given))
    assert str(error.value).startswith(said)


def test_first_tasks_may_be_records_of_other_types() -> None:
    given = np.array([(1, 2.0, 1e39), (3, 4.0, np.inf)], [("a", ">i8"), ("b", "f4"), ("c", "f8")])
    T = ev.tasks(a=np.uint8, b=np.int64, c=np.complex128, first=given, capacity=3)
    assert T.column_0[:2].tolist() == [1, 3]
    assert T.column_1[:2].tolist() == [2, 4]
    assert T.column_2[:2].tolist() == [1e39, np.inf]


def test_first_tasks_may_be_rows_of_an_array() -> None:
    begins = np.arange(0, 1000, 250)
    first = np.stack([begins, begins + 250], axis=1)
    T = ev.tasks(begin=np.int32, end=np.int32, first=first, capacity=100)
    leaves, count = ev.output((np.int32, np.int32), capacity=64), np.zeros(1, np.int64)
    halves(T, leaves, count)
    assert (len(leaves), count[0]) == (64, 124)


def test_a_set_prints_its_fields_as_users_know_them() -> None:
    T = ev.tasks(row=np.int8, end=np.int64, begin=np.int32, atoms=("begin", "end"), first=[(0, 9, 1)], capacity=5)  # fmt: skip
    said = "Tasks(row=int8, end=int64, begin=int32, atoms=('begin', 'end'), firsts=1, capacity=5, spill=4136)"
    assert repr(T) == said
    assert str(ev.explain(T, target="python")).startswith(f"{said} on python")


def test_a_subset_of_tasks_is_refused() -> None:
    T, leaves, count = the_halves(64)
    with pytest.raises(ev.LanguageError) as error:
        halves(T.slice(slice(0, 1)), leaves, count)
    assert "a loop over T, which holds a set of tasks" in str(error.value)
    assert "hint: walk the set of tasks itself" in str(error.value)


@ev.kernel
def again(T, wide, counts):
    r = 0
    while r < 2:
        c = 0
        for t in T.tiles():
            c += 1
            if T.depth(t) > 0 and r == wide:
                T.push(T.depth(t) - 1)
                T.push(T.depth(t) - 1)
        counts[r] = c
        r += 1


@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_tasks_that_an_earlier_loop_of_the_call_has_left_are_not_forgotten(target: str) -> None:
    T = ev.tasks(depth=np.int32, first=[4], capacity=3)
    counts = np.zeros(2, np.int64)
    run = again[ev.StaticList()].on(target)
    for wide, ran in ((0, [3, 0]), (1, [1, 3]), (2, [1, 1])):  # every call begins anew
        if wide < 2:
            with pytest.raises(ev.InputError, match="at most 3 tasks that wait at a time, got 4"):
                run(T, wide, counts)
        else:
            run(T, wide, counts)
        assert counts.tolist() == ran
        assert T.remaining["depth"].tolist() == ([2] * 4 if wide < 2 else [])


@pytest.mark.simt
@pytest.mark.parametrize("make", [ev.TaskPool, ev.BlockingQueue, ev.LockFreeQueue, ev.WorkStealing])
def test_workers_count_what_they_do(make: Any) -> None:
    T, leaves, count = the_halves(200)
    halves[make(block=64, blocks=2, counted=True)].on("simt", seed=1)(T, leaves, count)
    found = T.counts
    assert (found.workers, found.of_round, found.tasks) == (4, 4, 127)
    assert 0 <= found.fewest <= 127 / 4 <= found.most <= 127
    assert 2 <= found.at_once <= 127
    assert min(found[:8]) >= 0
    assert (found.idle, found.there, found.idle_share) == (0, 0, 0)  # the clock stands still
    assert sum(found.by_tasks) == 4
    assert min(found.by_tasks[n.bit_length()] for n in (found.fewest, found.most)) >= 1
    assert len(found.by_tasks) == found.most.bit_length() + 1 == found.sketch().count("\n")
    if make in (ev.TaskPool, ev.WorkStealing):
        assert 0 < found.handed <= 127
    else:
        assert found.handed == 0
    nothing = ev.tasks(begin=np.int32, end=np.int32, first=[], capacity=64)
    halves[make(block=64, counted=True)].on("simt")(nothing, leaves, count)
    with pytest.raises(ev.InputError, match="counts: expected a call"):
        _ = nothing.counts  # no round was launched
    halves[make(block=64)].on("simt")(T, leaves, count)
    with pytest.raises(ev.InputError, match=r"counts: expected a call under .*counted=True"):
        _ = T.counts


@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_a_call_that_waits_says_that_an_output_had_no_room(target: str) -> None:
    T, _, count = the_halves(200)
    leaves = ev.output((np.int32, np.int32), capacity=10)
    run = halves[ev.StaticList()].on(target)
    with pytest.raises(ev.InputError, match="leaves: expected at most 10 elements, got 64; hint: "):
        run(T, leaves, count)
    assert count[0] == T.tasks_run == 127  # everything has run
    with pytest.raises(ev.InputError, match="output: expected at most 10 elements, got 64; hint: "):
        len(leaves)
    leaves.clear()
    run(T, leaves, count, wait=False)
    T.check()
    with pytest.raises(ev.InputError, match="at most 10 elements, got 64"):
        _ = leaves.columns


def test_busy_workers_over_time() -> None:
    """Parts of 1.024 us up to 32 of them, then of 2.048 us up to twice that, and so on."""
    unit = 1.024e-6
    parts = [3 * unit] * 16 + [2 * unit] * 16 + [4 * unit]  # the last one ends in the middle
    found = Counts(4, 9, 1, 3, 0, 0, 0, 2, (0, 1, 3), 4, 1.0, 2.0, 33 * unit, tuple(parts))
    np.testing.assert_allclose(found.busy(3), [3, (5 * 3 + 6 * 2) / 11, (10 * 2 + 4) / 11])
    np.testing.assert_allclose(found.busy(1), sum(parts) / found.lasted)
    *_, said, curve = found.sketch().splitlines()
    assert said == "busy workers over 0.034 ms, all at full height"
    assert len(curve) == 60 and set(curve) == {"▆", "▄", "▅", "█"} and curve[0] == "▆"
    assert found._replace(lasted=0.0).busy(2).tolist() == [0, 0]


def test_where_tasks_run_in_rounds_nothing_counts_and_the_error_says_so() -> None:
    T, leaves, count = the_halves(200)
    for target in ("cpu", "python"):
        halves[ev.StaticList()].on(target)(T, leaves, count)
        with pytest.raises(ev.InputError, match="hint: what runs tasks in rounds counts nothing"):
            _ = T.counts


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("capacity", [1, 2, 33, 2000])
@pytest.mark.parametrize(("width", "depth"), [(25, 2), (3, 10), (1500, 1), (5000, 1), (40, 3)])
def test_a_crew_loses_no_task_where_there_is_little_room(
    width: int, depth: int, capacity: int, count: int
) -> None:
    """Also with more workers than threads, of which some begin when others have ended."""

    def run(kernel: Any, *given: Any) -> None:
        plan = kernel[ev.WorkStealing()].on("cpu").plan(*given)
        plan._executable.run(plan._binding, count)
        given[0].check("T")

    calls, tasks = runs_fans(make, run, width, depth, capacity)
    assert calls <= (3 if tasks > 1500 else 1)


@pytest.mark.parametrize("schedule", [ev.WorkStealing(), ev.TaskPool(), ev.LockFreeQueue()])
def test_workers_on_the_cpu_hand_each_other_tasks_and_count(schedule: Any) -> None:
    T = ev.tasks(begin=np.int32, end=np.int32, first=[(0, 1 << 22)], capacity=64)
    leaves, count = ev.output((np.int32, np.int32), capacity=1 << 19), np.zeros(1, np.int64)
    plan = halves.plan(T, leaves, count, schedule=schedule, target="cpu")
    for _ in range(20):
        leaves.clear()
        plan(T, leaves, count)
        found = T.counts
        assert found.tasks == T.tasks_run == count[0] == 2 * len(leaves) - 1 == 2**19 - 1
        assert found.workers == found.of_round == numba.get_num_threads()
        assert found.fewest <= found.tasks / found.workers <= found.most
        assert sum(found.by_tasks) == found.workers and 2 <= found.at_once <= 1024
        assert (found.handed > 0) == (found.fewest > 0) or found.workers == 1
        assert 0 <= found.idle < found.there < 60 and (found.idle > 0) == (found.in_vain > 0)
        assert found.idle_share == found.idle / found.there


def test_a_failed_check_ends_a_crew() -> None:
    @ev.kernel
    def stores(T, x):
        for t in T.tiles():
            x[T.n(t)] = 1
            if T.n(t) < 1000:
                T.push(T.n(t) + 1)
                T.push(T.n(t) + 2)

    T = ev.tasks(n=np.int32, first=[0], capacity=5000)
    with pytest.raises(ev.InputError, match=r"x: expected an index from 0 to 49, got x\[5"):
        stores.on("cpu", debug=True)(T, np.zeros(50, np.int64))
