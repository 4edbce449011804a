"""The clock around calls."""

from __future__ import annotations

import time

from evenly.timing.calls import CallClock


def test_calls_are_waited_for_one_by_one():
    seen = []
    clock = CallClock(lambda: seen.append("call"), lambda: seen.append("wait"))
    clock.warm()
    assert seen == ["call", "wait"] * (len(seen) // 2)
    assert 0 < clock.estimate < 1000


def test_what_comes_before_each_call_is_not_timed():
    seen = []

    def before():
        seen.append("before")
        time.sleep(0.005)

    clock = CallClock(lambda: seen.append("call"), before=before)
    assert clock.warm() < 2500
    assert seen == ["before", "call"] * (len(seen) // 2)


def test_a_long_call_is_run_three_times_before_it_is_known():
    seen = []

    def call():
        seen.append("call")
        time.sleep(0.003)

    clock = CallClock(call)
    assert (len(seen), clock.runs) == (3, 1)
