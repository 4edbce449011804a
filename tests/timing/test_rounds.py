"""Rounds are interleaved and rewrite the arrays before each run. Slow or late contenders get fewer."""

from __future__ import annotations

import time

from evenly.timing.rounds import FEWEST, ROUNDS, Sample, best, measure, not_slow, runs_for


class Fake:
    """A clock that notes when it is read."""

    def __init__(self, name, estimate, seen, flushes=True):
        self.name, self.estimate, self.seen, self.flushes = name, estimate, seen, flushes

    def warm(self):
        self.seen.append(self.name)
        return self.estimate

    def flushed(self):
        if not self.flushes:
            return None
        self.seen.append(self.name.upper())
        return 2 * self.estimate


def test_interleaved_and_rewritten_before_each_run():
    seen = []
    clocks = {name: Fake(name, 1.0, seen) for name in "abc"}
    found = measure(clocks, lambda turn: seen.append(str(turn % 2)))
    assert "".join(seen).startswith("0a0A0b0B0c0C" + "1b1B1c1C1a1A" + "0c0C0a0A0b0B")
    assert found["a", "warm"] == Sample((1.0,) * ROUNDS)
    assert found["c", "flushed"].median == 2.0


def test_warm_only():
    seen = []
    found = measure({"a": Fake("a", 1.0, seen)}, flushed=False)
    assert "".join(seen) == "a" * ROUNDS
    assert list(found) == [("a", "warm")]


def test_what_is_ten_times_slower_drops_out():
    clocks = {"fast": Fake("f", 1.0, []), "near": Fake("n", 9.9, []), "slow": Fake("s", 11.0, [])}
    found = measure(clocks, lambda turn: None)
    rounds = {name: len(found[name, "warm"].times) for name in clocks}
    assert rounds == {"fast": ROUNDS, "near": ROUNDS, "slow": FEWEST}


def test_calls_are_slow_only_beside_other_calls():
    class Other(Fake):
        """A clock of another kind."""

    clocks = {
        "kernel": Fake("k", 1.0, []),
        "call": Other("c", 50.0, []),
        "slow": Other("s", 501, []),
    }
    assert not_slow(clocks, best(clocks, {}), 10) == ["kernel", "call"]


def test_a_deadline_leaves_the_fewest_rounds():
    found = measure({"a": Fake("a", 1.0, [])}, lambda turn: None, deadline=time.monotonic() - 1)
    assert len(found["a", "warm"].times) == FEWEST


def test_no_flushed_samples_where_they_are_not_measured():
    found = measure({"a": Fake("a", 1.0, [], flushes=False)}, lambda turn: None)
    assert list(found) == [("a", "warm")]


def test_runs():
    assert [runs_for(t, 300, 100) for t in (0.0, 2.0, 30.0, 200.0, 1e6)] == [100, 100, 10, 2, 1]


def test_the_callers_own_bounds():
    clocks = {"fast": Fake("f", 1.0, []), "near": Fake("n", 9.9, []), "slow": Fake("s", 11.0, [])}
    found = measure(clocks, fewest=1)
    rounds = {name: len(found[name, "warm"].times) for name in clocks}
    assert rounds == {"fast": ROUNDS, "near": ROUNDS, "slow": 1}
    found = measure(clocks, deadline=time.monotonic() - 1, fewest=1)
    assert {len(sample.times) for sample in found.values()} == {1}


def test_nobody_left():
    assert measure({}, lambda turn: None) == {}


def test_where_the_median_may_lie():
    assert Sample((3.0,)).spread == (3.0, 3.0)
    assert Sample((3.0, 1.0, 2.0)).spread == (1.0, 3.0)
    assert Sample(tuple(map(float, range(30)))).spread == (9.0, 20.0)
