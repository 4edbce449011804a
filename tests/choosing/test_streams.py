"""What `auto` chooses for kernels that read very many atoms in order: groups for tiles of one length, or equal shares."""

from __future__ import annotations

from dataclasses import replace

import pytest

import evenly as ev
from evenly.choosing.powers import power_from, power_up_to
from evenly.choosing.statistics import Statistics
from evenly.choosing.streams import for_streams, run_of
from evenly.choosing.task import Task
from evenly.gpus.numbers import numbers

SUMS = Task(gathers=False, atom_bytes=4)
MOST = 50_000_000


def chosen(
    length: int, task: Task = SUMS, longest: int = 0, empty: float = 0.0
) -> ev.Schedule | None:
    tiles = MOST // length
    st = Statistics(tiles, MOST, float(length), longest or length, 0.0, empty)
    found = for_streams(st, task, numbers())
    return None if found is None else found[0]


def test_tiles_of_one_length_get_groups_of_lanes_that_load_16_bytes() -> None:
    assert chosen(16) == ev.GroupMapped(2, items=8, run=4)
    assert chosen(100) == ev.GroupMapped(4, items=8, run=4)
    assert chosen(1000) == ev.GroupMapped(32, items=8, run=4)
    assert chosen(4000) == ev.GroupMapped(32, items=8, run=4)
    assert chosen(1000, replace(SUMS, atom_bytes=8, width=8)) == ev.GroupMapped(32, items=8, run=2)
    assert chosen(1000, replace(SUMS, atom_bytes=1, width=8)) == ev.GroupMapped(32, items=8, run=8)


def test_fewer_lanes_combine_what_takes_long_if_tiles_are_many() -> None:
    pairs = replace(SUMS, atom_bytes=8, width=8, value_bytes=16, operations=16)
    assert chosen(16, pairs) == chosen(100, pairs) == ev.GroupMapped(2, items=8, run=2)
    assert chosen(1000, pairs) == ev.GroupMapped(8, items=8, run=2)
    assert chosen(8000, pairs) == ev.GroupMapped(32, items=8, run=2)
    few = Statistics(10_000, 10_000_000, 1000.0, 1000, 0.0, 0.0)
    assert for_streams(few, pairs, numbers())[0] == ev.GroupMapped(32, items=8, run=2)


def test_other_tiles_and_few_long_ones_are_shared() -> None:
    shares = ev.NonzeroSplit(256, 16, run=4)
    assert chosen(16, longest=400) == chosen(1_000_000) == shares
    pairs = replace(SUMS, value_bytes=16)
    assert chosen(16, pairs, longest=400) == ev.NonzeroSplit(128, 16, run=4)
    long = replace(SUMS, width=8, atom_bytes=8)
    assert chosen(16, long, longest=400) == ev.NonzeroSplit(128, 16, run=2)
    wide = replace(pairs, width=8, atom_bytes=8)
    assert chosen(16, wide, longest=400) == ev.NonzeroSplit(128, 16, run=2)
    located = replace(wide, located=True)
    assert chosen(16, located, longest=400) == ev.NonzeroSplit(128, 8, run=2)
    assert chosen(16, located) == ev.GroupMapped(4, items=4, run=2)
    assert chosen(1000, located) == ev.GroupMapped(32, items=8, run=2)


def test_several_passes_share_where_tiles_do_not_fit() -> None:
    passes = Task(again=True, atom_bytes=4, value_bytes=16)
    assert chosen(16, passes) == ev.NonzeroSplit(128, 16, run=4)


def test_the_model_decides_where_atoms_are_few_or_tiles_mostly_empty() -> None:
    assert chosen(16, empty=0.99) is None
    few = Statistics(1000, 16_000, 16.0, 16, 0.0, 0.0)
    assert for_streams(few, SUMS, numbers()) is None


@pytest.mark.parametrize(
    ("size", "run"), [(1, 8), (2, 8), (4, 4), (6, 2), (8, 2), (12, 1), (16, 1), (24, 1)]
)
def test_a_run_has_16_bytes(size: int, run: int) -> None:
    assert run_of(size) == run


def test_powers_of_two() -> None:
    assert [power_up_to(x) for x in (0.1, 1, 2, 3, 4, 7.9)] == [1, 1, 2, 2, 4, 4]
    assert [power_from(x) for x in (0.1, 1, 2, 3, 4, 7.9)] == [1, 1, 2, 4, 4, 8]


def test_many_atoms_that_are_scanned_have_the_widest_shares() -> None:
    held = numbers()["streams"]
    scan = Task(gathers=False, value_bytes=0, atom_bytes=4, stored=4, scans=True, reductions=0)
    few, many = (Statistics(10, n, n / 10, n // 10, 0.0, 0.0) for n in (1_000_000, 100_000_000))
    assert for_streams(few, scan, numbers()) is None
    chosen, _ = for_streams(many, scan, numbers())
    assert chosen == ev.NonzeroSplit(*held["one"])
