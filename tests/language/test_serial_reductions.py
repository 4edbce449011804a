"""Reductions over ranges and lanes, whose results the passes of a tile read, under every schedule."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import evenly as ev
from tests.kernels import SCHEDULES

OFFSETS = np.int32([0, 3, 3, 4, 70, 72, 72, 75])
LISTS = ev.ragged(OFFSETS)
TILE = np.repeat(np.arange(7), np.diff(OFFSETS))
SHARES = {"work": ev.WorkOriented(block=32, items=1), "merge 32": ev.MergePath(block=32, items=1)}
TABLE = np.random.default_rng(1).integers(0, 9, (75, 4))


@ev.kernel
def offset_by_sums(A, table, shifted, sums):
    for tile in A.tiles():
        of_range = sum(table[tile, j] for j in range(4))
        of_lanes = max((table[tile, j] for j in ev.lanes(4)), default=0)
        for k in A.atoms(tile):
            shifted[k] = k + of_range * of_lanes
        sums[tile] = sum(k + of_range for k in A.atoms(tile))


@ev.kernel
def scans_of_sums(A, table, running, odd):
    for tile in A.tiles():
        for k in A.atoms(tile):
            running[k] = ev.scan(sum(table[k, j] for j in ev.lanes(4)))
            odd[k] = ev.rank(any(table[k, j] > 7 for j in range(4)))


def agree(schedule: str, target: str) -> None:
    bound = (SCHEDULES | SHARES)[schedule]
    found = [np.full(n, -1) for n in (75, 7, 75, 75)]
    offset_by_sums[bound].on(target)(LISTS, TABLE, found[0], found[1])
    scans_of_sums[bound].on(target)(LISTS, TABLE, found[2], found[3])
    total, most = TABLE.sum(axis=1), TABLE.max(axis=1)
    before = np.array([np.sum(most[OFFSETS[t] : k] > 7) for k, t in enumerate(TILE)])
    running = np.array([np.sum(total[OFFSETS[t] : k + 1]) for k, t in enumerate(TILE)])
    shift = (total * most)[TILE]
    at = np.arange(75)
    sums = [(at[a:b] + total[t]).sum() for t, (a, b) in enumerate(itertools.pairwise(OFFSETS))]
    for got, wanted in zip(found, (at + shift, sums, running, before), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_the_reference_agrees_with_numpy() -> None:
    agree("thread", "python")


@pytest.mark.parametrize("schedule", [*SCHEDULES, *SHARES])
def test_cpu_agrees_with_numpy(schedule: str) -> None:
    agree(schedule, "cpu")


@pytest.mark.simt
@pytest.mark.parametrize("schedule", [*SCHEDULES, *SHARES])
def test_simt_agrees_with_numpy(schedule: str) -> None:
    agree(schedule, "simt")
