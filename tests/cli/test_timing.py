"""Medians of interleaved runs."""

from __future__ import annotations

from evenly.cli.timing import host_clock, medians


def test_rounds_begin_with_each_name_in_turn():
    seen = []

    def clock(name):
        return lambda: (seen.append(name), float(len(seen)))[1]

    medians({name: clock(name) for name in "abc"}, 4)
    assert "".join(seen) == "abc" + "abc" + "bca" + "cab" + "abc"  # the first warms up


def test_the_median_leaves_out_the_warm_up():
    times = iter([100.0, 3.0, 1.0, 50.0])
    assert medians({"a": lambda: next(times)}, 3) == {"a": 3.0}


def test_milliseconds():
    import time

    assert 20 <= host_clock(lambda: time.sleep(0.02))() < 1000
