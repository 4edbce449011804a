"""Kernels with a dense axis, compiled by NVRTC: registers, spills, and loads of 16 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices
from tests.dense import ALONG, CASES
from tests.emitting import emitted

import evenly as ev
from evenly.targets.cuda import compile as compiling

pytest.importorskip("cuda.core")

# A schedule, the registers of a thread that it may take, and the architecture.
COMPILED = [
    ("spmm", ev.GroupMapped(8, items=2, lanes=8, vector=4), 32, "sm_90"),
    ("spmm", ev.GroupMapped(32, lanes=32, vector=4), 40, "sm_80"),
    ("spmm", ev.GroupMapped(8, lanes=2, vector=4), 40, "sm_90"),
    ("spmm", ev.GroupMapped(16, items=8, lanes=8, vector=4), 64, "sm_100"),
    ("update", ALONG["block"], 128, "sm_80"),
    ("centred", ALONG["group 8"], 168, "sm_90"),
    ("divided", ALONG["dynamic"], 128, "sm_90"),
    ("sddmm", ev.GroupMapped(16, lanes=8, vector=4), 64, "sm_90"),  # four atoms at once
    ("sddmm", ev.GroupMapped(32, items=2, lanes=8, vector=4), 48, "sm_90"),
    ("nearest", ALONG["lrb"], 168, "sm_80"),
    ("columns", ALONG["thread"], 128, "sm_100"),
    ("spmm", ALONG["lrb"], 128, "sm_90"),
    ("spmm", ev.MergePath(items=8, lanes=8, vector=4), 64, "sm_90"),
    ("spmm", ev.NonzeroSplit(items=4, lanes=32, vector=4), 64, "sm_90"),
    ("divided", ALONG["merge"], 168, "sm_80"),
    ("weighed", ev.GroupMapped(8, lanes=8, vector=4), 80, "sm_90"),
    ("chosen", ev.GroupMapped(16, items=2, lanes=16, vector=2), 64, "sm_80"),
    ("columns", ALONG["nonzero"], 128, "sm_100"),
    ("keyed", ev.GroupMapped(8, items=8, lanes=8, vector=4), 80, "sm_90"),  # eight atoms at once
    ("keyed", ev.GroupMapped(8, items=5, lanes=8, vector=4), 64, "sm_90"),
    ("keyed", ev.Lrb(lanes=4, vector=4), 168, "sm_90"),
    ("stored_inside", ev.Lrb(lanes=4, vector=4), 168, "sm_80"),
    ("stored_inside", ev.GroupMapped(8, items=8, lanes=8, vector=4), 80, "sm_90"),
    ("outer", ev.NonzeroSplit(128, 1, lanes=32, vector=16), 80, "sm_90"),
    ("outer", ev.NonzeroSplit(128, 1, lanes=2, vector=4), 64, "sm_90"),
    ("outer", ev.MergePath(128, 2, lanes=16, vector=3), 64, "sm_80"),
    ("masked", ev.NonzeroSplit(128, 1, lanes=8, vector=4), 80, "sm_90"),
    ("sddmm", ev.NonzeroSplit(128, 1, lanes=8, vector=4), 64, "sm_90"),
    ("found_later", ev.GroupMapped(8, items=4, lanes=8, vector=4), 64, "sm_90"),
    ("weighed_some", ev.GroupMapped(8, items=4, lanes=8, vector=4), 80, "sm_90"),
    ("unlike", ev.GroupMapped(16, items=2, lanes=8, vector=2), 64, "sm_90"),
]


@pytest.mark.parametrize(("case", "schedule", "registers", "arch"), COMPILED, ids=str)
def test_nvrtc_compiles_them(case: str, schedule: Any, registers: int, arch: str) -> None:
    matrix = matrices(np.float32)["power law"]
    args = CASES[case].arguments(ev.csr(matrix), matrix, 8, np.float32)
    main = emitted(CASES[case].kernel, args, schedule)[0]
    found = compiling.resources(main.source, main.name, arch)
    assert found["code"] > 0
    assert found["registers"] <= registers
    assert found["spills"] <= 24  # none in a loop
