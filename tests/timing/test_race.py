"""A race ends when it is clear who is the fastest, and by chance nobody leaves."""

from __future__ import annotations

import time

from evenly.timing import race
from evenly.timing.race import ROUNDS, SURE


class Fake:
    """A clock whose readings are the estimate times these factors, in turn. It notes when it is read."""

    def __init__(self, name, estimate, seen, factors=(1.0,)):
        self.name, self.estimate, self.seen = name, estimate, seen
        self.factors, self.count = factors, 0

    def warm(self):
        self.seen.append(self.name)
        self.count += 1
        return self.estimate * self.factors[(self.count - 1) % len(self.factors)]

    def flushed(self):
        return None


def raced(*entrants, deadline=float("inf"), **bounds):
    """Race clocks of (name, microseconds[, factors]). Returns the readings of each, and their order."""
    seen: list = []
    clocks = {name: Fake(name, us, seen, *factors) for name, us, *factors in entrants}
    found = race.race(clocks, deadline, **bounds)
    return {name: len(sample.times) for name, sample in found.items()}, "".join(seen)


def test_a_clear_race_ends_early() -> None:
    counts, order = raced(("a", 1.0), ("b", 1.1), ("c", 1.6))
    assert counts == {"a": SURE, "b": SURE, "c": 1}
    assert order == "abc" + "ba" + "ab"  # in rounds, each of which begins with another


def test_as_many_readings_as_were_asked_for() -> None:
    counts, _ = raced(("a", 1.0), ("b", 1.1), ("c", 1.6), fewest=10)
    assert counts == {"a": 10, "b": 10, "c": 1}
    counts, _ = raced(("a", 1.0), fewest=10)
    assert counts == {"a": 10}


def test_who_is_as_fast_as_the_fastest_ends_the_race() -> None:
    counts, _ = raced(("a", 1.0), ("b", 1.015), ("c", 1.2))
    assert counts == {"a": SURE, "b": SURE, "c": SURE}


def test_where_readings_vary_nobody_leaves_by_chance() -> None:
    noise = (1.0, 1.3, 0.9, 1.2, 1.1)
    counts, _ = raced(("a", 1.0, noise), ("b", 1.1, noise[::-1]))
    assert counts == {"a": ROUNDS, "b": ROUNDS}


def test_one_disturbed_reading_counts_nobody_out() -> None:
    counts, _ = raced(("a", 1.1), ("b", 1.0, (40.0, 1.0, 1.0)))
    assert counts["b"] >= SURE
    counts, _ = raced(("a", 1.1), ("b", 40.0, (1 / 40,)))  # its estimate was disturbed
    assert counts["b"] >= SURE


def test_one_lucky_reading_of_the_leader_counts_nobody_out() -> None:
    counts, _ = raced(("a", 1.0, (0.5, 1.0, 1.0)), ("b", 1.0))
    assert counts["b"] >= SURE


def test_nothing_is_read_after_the_deadline() -> None:
    assert raced(("a", 1.0), ("b", 1.0), deadline=time.monotonic() - 1) == ({}, "")


def test_nobody_races() -> None:
    assert raced() == ({}, "")
