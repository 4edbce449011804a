"""Tasks on a GPU: every case under every schedule of tasks, without room, and many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.transfer import to_cuda
from tests.runtime.test_ctrl_c import seconds
from tests.tasks import CASES, halves, runs_fans

pytestmark = pytest.mark.gpu
SCHEDULES = [
    ev.StaticList(),
    ev.StaticList(size=8),
    ev.StaticList(size=48, block=96),
    ev.StaticList(size=128, block=128),
    ev.TaskPool(),
    ev.TaskPool(size=5, block=64),
    ev.TaskPool(size=8, block=64),
    ev.TaskPool(size=32),
    ev.TaskPool(size=48, block=64),
    ev.TaskPool(size=128, block=128),
    ev.BlockingQueue(size=32, blocks=32),
    ev.BlockingQueue(size=48, block=64, blocks=20),
    ev.LockFreeQueue(),
    ev.LockFreeQueue(size=5, block=64),
    ev.LockFreeQueue(size=128, block=128, every=1),
    ev.WorkStealing(),
    ev.WorkStealing(size=8, block=64),
    ev.WorkStealing(size=48, block=64),
    ev.DynamicChunks(),
    ev.Lrb(),
]


def make(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    made = function(*given, **named)
    return to_cuda(made) if isinstance(made, np.ndarray) else made.to("cuda")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_every_task_runs_once(schedule: Any, case: str) -> None:
    CASES[case](make, lambda kernel, *given: kernel[schedule].on("cuda")(*given))


@pytest.mark.parametrize("kind", [ev.TaskPool, ev.WorkStealing, ev.LockFreeQueue])
@pytest.mark.parametrize("size", [1, 48])
def test_workers_measure_when_they_have_tasks(kind: Any, size: int) -> None:
    T = make(ev.tasks, begin=np.int32, end=np.int32, first=[(0, 100_000)], capacity=10_000)
    leaves, count = make(ev.output, (np.int32, np.int32), capacity=20_000), make(np.zeros, 1, np.int64)  # fmt: skip
    for _ in range(3):
        leaves.clear()
        halves[kind(size, block=64, blocks=40, counted=True)].on("cuda")(T, leaves, count)
        found = T.counts
        assert found.of_round == (80 if size == 1 else 40)
        assert (
            found.workers % found.of_round == 0
        )  # some had no room, and were run in another round
        assert 0 < found.lasted <= found.there <= 1.05 * found.lasted * found.of_round
        assert found.idle + sum(found.parts) == pytest.approx(found.there, rel=0.01)
        assert found.busy(10).mean() == pytest.approx(sum(found.parts) / found.lasted)
        assert 0 < found.busy(10).max() <= 1.05 * found.of_round


def test_a_profile_of_tasks_on_a_gpu_has_what_was_measured() -> None:
    T = make(ev.tasks, begin=np.int32, end=np.int32, first=[(0, 10_000)], capacity=10_000)
    leaves, count = make(ev.output, (np.int32, np.int32), capacity=1024), make(np.zeros, 1, np.int64)  # fmt: skip
    plan = halves.plan(T, leaves, count, schedule=ev.TaskPool(counted=True))
    plan(T, leaves, count)
    balance = plan.profile(against=["static_list"])
    assert balance.number == balance.counts.tasks == T.tasks_run
    assert balance.counts.lasted > 0 and "measured: " in str(balance)
    assert len(leaves) == (T.tasks_run + 1) // 2  # the profile ran on copies


@pytest.mark.parametrize("capacity", [1, 2, 33, 10_000])
@pytest.mark.parametrize("schedule", SCHEDULES[:-2], ids=str)
def test_no_task_is_lost_where_there_is_little_room(schedule: Any, capacity: int) -> None:
    def run(kernel: Any, *given: Any) -> None:
        kernel[schedule].on("cuda")(*given)

    for width, depth in ((40, 3), (3, 10), (5_000, 1)):
        runs_fans(make, run, width, depth, capacity)


EACH = ["static_list", "task_pool", "blocking_queue", "lock_free_queue", "work_stealing"]


@pytest.mark.parametrize("launched", [(), ("launched",)], ids=["waits", "launched"])
@pytest.mark.parametrize("schedule", [*EACH, "dynamic_chunks"])
def test_ctrl_c_ends_a_call_between_two_tasks(schedule: str, launched: tuple[str, ...]) -> None:
    assert seconds("cuda", schedule, *launched) < 1


def the_halves(capacity: int) -> tuple[Any, Any, Any]:
    T = make(ev.tasks, begin=np.int32, end=np.int32, first=[(0, 1000)], capacity=capacity)
    return T, make(ev.output, (np.int32, np.int32), capacity=200), make(np.zeros, 1, np.int64)


@pytest.mark.parametrize("schedule", EACH)
def test_a_call_that_does_not_wait_leaves_the_check_to_whoever_looks(schedule: str) -> None:
    T, leaves, count = the_halves(64)
    plan = halves.plan(T, leaves, count, schedule=schedule)
    for _ in range(3):
        leaves.clear()
        plan(T, leaves, count, wait=False)
        T.check()
        assert (len(leaves), T.tasks_run, len(T.remaining)) == (64, 127, 0)
    small = make(ev.tasks, begin=np.int32, end=np.int32, first=[(0, 20 * 2**15)], capacity=1)
    many = make(ev.output, (np.int32, np.int32), capacity=2**16)
    plan(small, many, count, wait=False)
    if small.tasks_run < 2**16 - 1:  # a queue may have had room
        left = len(small.remaining)
        assert left > 1
        with pytest.raises(ev.InputError, match=f"at most 1 tasks that wait at a time, got {left}"):
            small.check()
    else:
        assert schedule != "static_list" and len(many) == 2**15


@pytest.mark.parametrize("schedule", EACH)
def test_a_call_that_does_not_wait_is_captured(schedule: str) -> None:
    import cupy

    T, leaves, count = the_halves(64)
    small, others, _ = the_halves(10)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    plan = halves.plan(T, leaves, count, schedule=schedule)
    with plan.bind(T, leaves, count, stream=stream) as call:
        stream.begin_capture()
        with pytest.raises(ev.InputError, match="wait=False captures the call"), stream:
            call()
        stream.end_capture()
    named = {"stream": stream, "wait": False}
    with plan.bind(T, leaves, count, **named) as call, plan.bind(small, others, count, **named) as other:  # fmt: skip
        with stream:
            stream.begin_capture()
            call()
            other()
            graph = stream.end_capture()
        for _ in range(3):
            leaves.clear()
            others.clear()
            graph.launch(stream)
            T.check()
            assert (len(leaves), T.tasks_run) == (64, 127)
            if schedule == "static_list":
                assert len(small.remaining) == 16
                with pytest.raises(ev.InputError, match="at most 10 tasks that wait"):
                    small.check()
            else:
                small.check()
                assert (len(others), small.tasks_run) == (64, 127)


@pytest.mark.slow
@pytest.mark.parametrize(
    "schedule",
    [
        ev.TaskPool(),
        ev.TaskPool(size=64, block=64),
        ev.BlockingQueue(size=64, block=64, blocks=64),
        ev.LockFreeQueue(),
        ev.LockFreeQueue(size=64, block=64),
        ev.WorkStealing(),
        ev.WorkStealing(size=64, block=64),
    ],
    ids=str,
)
def test_a_thousand_runs_end(schedule: Any) -> None:
    """A queue has 1,024 places, and up to 1,536 tasks wait: it is full and empty all the time."""
    T = make(ev.tasks, begin=np.int32, end=np.int32, first=[(0, 21_250)], capacity=1_000)
    leaves = make(ev.output, (np.int32, np.int32), capacity=2_000)
    count = make(np.zeros, 1, np.int64)
    plan = halves.plan(T, leaves, count, schedule=schedule)
    for _ in range(1000):
        leaves.clear()
        plan(T, leaves, count)
        assert T.tasks_run == 2 * len(leaves) - 1 == count.get()[0] == 3_587
