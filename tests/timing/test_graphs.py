"""The GPU's clock, on a stand-in for cuda.core; tests/gpu/test_tuning.py has it on a GPU."""

from __future__ import annotations

import sys

import pytest

from evenly.cli.timing import device_clock
from evenly.timing.graphs import MOST, RESOLVED, WANTED, GraphClock
from tests.timing.fake_core import Gpu, kernel


@pytest.fixture
def gpu(monkeypatch):
    made = Gpu()
    monkeypatch.setitem(sys.modules, "cuda.core", made)
    return made


def test_launches_of_a_plan_are_timed_together(gpu):
    clock = GraphClock([kernel("main", 7.0), kernel("finish", 3.0)])
    assert clock.warm() == pytest.approx(10.0)
    assert clock.estimate == pytest.approx(10.0)
    assert clock.runs == WANTED / 10
    assert gpu.seen == ["main", "finish"] * (len(gpu.seen) // 2)
    assert gpu.synced == 1


@pytest.mark.parametrize(("us", "runs"), [(0.5, MOST), (1e5, 1)])
def test_short_launches_share_a_graph_and_long_ones_do_not(gpu, us, runs):
    clock = GraphClock([kernel("main", us)])
    assert clock.runs == runs
    assert clock.warm() == pytest.approx(us)


@pytest.mark.parametrize(("us", "looks"), [(3.0, 6), (120.0, 3), (1e5, 2)])
def test_short_launches_are_looked_at_more_often_first(gpu, monkeypatch, us, looks):
    """Else two readings that something disturbed would make a graph of few runs, whose own launch counts."""
    read, seen = GraphClock._read, []

    def warm(clock):
        seen.append(clock.runs)
        return 80.0 if us < 80 and len(seen) <= 2 else read(clock)

    monkeypatch.setattr(GraphClock, "_read", warm)
    clock = GraphClock([kernel("main", us)])
    assert (len(seen), clock.estimate) == (looks, pytest.approx(us))


def test_a_graph_of_too_few_runs_gets_more_before_a_reading_counts(gpu, monkeypatch):
    read = GraphClock._read
    monkeypatch.setattr(GraphClock, "_read", lambda clock: 400.0)  # every look is disturbed
    clock = GraphClock([kernel("main", 2.0)])
    assert clock.runs == 1
    monkeypatch.setattr(GraphClock, "_read", read)
    assert clock.warm() == pytest.approx(2.0)
    assert clock.runs == MOST


def test_each_reading_finds_the_gpu_busy(gpu):
    clock = GraphClock([kernel("main", 100.0)])
    del gpu.seen[:]
    clock.warm()
    assert gpu.seen == ["main"] * 2 * clock.runs


def test_what_is_restored_is_restored_before_each_launch_and_not_counted(gpu):
    copy = kernel("copy", 40.0).kernel
    clock = GraphClock([kernel("main", 10.0)], restore=lambda builder: builder.add(copy))
    del gpu.seen[:]
    assert clock.warm() == pytest.approx(10.0)
    assert gpu.seen == ["copy", "main"] * 2 * clock.runs + ["copy"] * 2 * clock.runs


def test_no_difference_is_less_than_events_tell_apart(gpu):
    """Noise may make the copies alone seem slower than the copies and the launch."""
    clock = GraphClock([kernel("main", 0.0)], restore=lambda b: b.add(kernel("copy", 5.0).kernel))
    assert clock.warm() == RESOLVED / clock.runs


def test_nothing_to_launch(gpu):
    clock = GraphClock([], restore=lambda builder: None)
    assert (clock.warm(), clock.estimate, gpu.seen) == (0.0, 0.0, [])


def test_the_command_line_counts_milliseconds(gpu):
    class Plan:
        launches = (kernel("main", 2000.0),)

    assert device_clock(Plan())() == pytest.approx(2.0)
