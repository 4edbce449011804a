"""Tiles that read what tiles store: under every schedule, no thread leaves a tile while others still walk it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernels import ENGINES

import evenly as ev

pytestmark = pytest.mark.simt
LENGTHS = ([8], [1000], [3, 0, 200, 1, 64, 64, 0, 5], [0, 0, 130])
FLAT = [ev.GroupMapped(n, flatten=True) for n in (3, 8, 16, 64)]
SCHEDULES = [*ENGINES, ev.GroupMapped(32), ev.MergePath(32, 1), *FLAT]


@ev.kernel
def in_the_pass(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[k] * y[row] for k in A.atoms(row))


@ev.kernel
def at_the_tile(A, x, y):
    for row in A.tiles():
        weight = y[row]
        y[row] = weight * 2 + sum(x[k] * weight for k in A.atoms(row))


@ev.kernel
def in_an_effect(A, counts, y):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(counts, k, y[row])
        y[row] = 7.0


@ev.kernel
def after_an_effect(A, counts, y):
    for row in A.tiles():
        for _ in A.atoms(row):
            ev.atomic_add(counts, row, 1.0)
        y[row] = counts[row]


@ev.kernel
def beside_an_effect(A, counts, y):
    for row in A.tiles():
        length = 0
        for _ in A.atoms(row):
            ev.atomic_add(counts, row, 1.0)
            length += 1
        y[row] = counts[row] + length


@ev.kernel
def under_a_condition(A, x, y):
    """Whether a tile stores, and how often, depends on its pass."""
    for row in A.tiles():
        total = sum(x[k] * y[row] for k in A.atoms(row))
        while total > 6.0:
            y[row] = total
            total -= 60.0


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
@pytest.mark.parametrize(
    "kernel",
    [
        in_the_pass,
        at_the_tile,
        in_an_effect,
        after_an_effect,
        beside_an_effect,
        under_a_condition,
    ],
)
def test_no_race(kernel: Any, schedule: Any, lengths: list[int]) -> None:
    A = ev.ragged(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    results = []
    for target, options in (("python", {}), ("simt", {"seeds": range(3)})):
        x, y = np.ones(1 + sum(lengths)), np.full(len(lengths), 2.0)
        kernel[schedule].on(target, **options)(A, x, y)
        results.append((x, y))
    for got, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(got, expected)
