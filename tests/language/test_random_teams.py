"""Kernels made at random whose members depend on each other: under every schedule as on target `python`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import evenly as ev
from tests.language.building import made
from tests.language.random_teams import TABLE, kernels_of_teams

SIZES = (3, 0, 70, 1, 33, 0, 9, 2, 2, 130, 5, 0)
SCHEDULES = {
    "thread": ev.ThreadMapped(block=64),
    "group 3": ev.GroupMapped(3, block=32),
    "group 8": ev.GroupMapped(8, block=64, items=1),
    "warp": ev.WarpMapped(block=64),
    "group 48": ev.GroupMapped(48, block=128),
    "block": ev.BlockMapped(block=128),
    "dynamic 8": ev.DynamicChunks(chunk=2, size=8, block=32),
    "dynamic 64": ev.DynamicChunks(chunk=2, size=64, block=64),
    "lrb": ev.Lrb(block=64, lanes=4, thread=2, group=8, warp=32),
}


def arguments() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    offsets = np.concatenate([[0], np.cumsum(SIZES)])
    n, rows = int(offsets[-1]), len(SIZES)
    columns = rng.integers(0, 40, n)
    return {
        "A": ev.csr((np.ones(n), columns, offsets), shape=(rows, 40)),
        "table": rng.integers(-9, 10, TABLE),
        "own": rng.integers(-3, 4, rows),
        "marks": rng.integers(-3, 4, n),
        "y": np.zeros(rows, np.int64),
        "z": np.zeros(rows, np.int64),
    }


def check(text: str, schedule: str, target: str, **options: Any) -> None:
    note(text)
    kernel = ev.kernel(made(text), source=text)
    wanted, got = arguments(), arguments()
    kernel.on("python")(*wanted.values())
    kernel[SCHEDULES[schedule]].on(target, **options)(*got.values())
    for name in ("own", "marks", "y", "z"):
        np.testing.assert_array_equal(got[name], wanted[name], err_msg=f"{schedule}: {name}")


ANY = {"text": kernels_of_teams(), "schedule": st.sampled_from(sorted(SCHEDULES))}


@pytest.mark.simt
@settings(max_examples=int(os.environ.get("EVENLY_EXAMPLES", 8)))
@given(**ANY, seed=st.integers(0, 7))
def test_simt(text: str, schedule: str, seed: int) -> None:
    check(text, schedule, "simt", seed=seed)


@settings(max_examples=int(os.environ.get("EVENLY_EXAMPLES", 4)))
@given(text=kernels_of_teams())
def test_cpu(text: str) -> None:
    check(text, "thread", "cpu")
